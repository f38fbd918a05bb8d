// Descriptions of devices, as text for people and as JSON for programs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <reprise/device.hpp>

namespace command {

std::string devices_text(const std::vector<reprise::DeviceDescription>&, const std::string& default_name);
std::string devices_json(const std::vector<reprise::DeviceDescription>&, const std::string& default_name);
std::string memory_text(std::uint64_t bytes); // "2.0 GiB"

} // namespace command
