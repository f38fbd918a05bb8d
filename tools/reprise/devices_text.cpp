#include "devices_text.hpp"

#include <array>
#include <cstdio>

#include <nlohmann/json.hpp>

namespace command {

namespace {

std::string joined(const std::vector<std::string>& parts)
{
    std::string out;
    for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
    return out;
}

void add_line(std::string& out, const char* title, const std::string& value)
{
    if (value.empty()) return;
    std::string line = std::string("    ") + title;
    line.resize(20, ' ');
    out += line + value + "\n";
}

} // namespace

std::string memory_text(std::uint64_t bytes)
{
    constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
    char text[32];
    std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

std::string devices_text(const std::vector<reprise::DeviceDescription>& devices,
                         const std::string& default_name)
{
    std::string out;
    for (const reprise::DeviceDescription& d : devices) {
        const bool usable = d.refused.empty();
        out += (usable ? d.name : "(refused)") + "  " + d.description;
        out += usable && d.name == default_name ? "  [default]\n" : "\n";
        add_line(out, "refused", d.refused);
        if (!usable && d.driver.empty()) continue; // nothing else is known
        add_line(out, "kind", d.kind);
        add_line(out, "driver", d.driver);
        if (d.memory_bytes > 0) add_line(out, "memory", memory_text(d.memory_bytes));
        if (d.subgroup_size > 0) add_line(out, "subgroup size", std::to_string(d.subgroup_size));
        add_line(out, "capabilities", joined(d.capabilities));
        for (const std::string& warning : d.warnings) add_line(out, "warning", warning);
    }
    return out;
}

std::string devices_json(const std::vector<reprise::DeviceDescription>& devices,
                         const std::string& default_name)
{
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    for (const reprise::DeviceDescription& d : devices)
        list.push_back({{"name", d.refused.empty() ? Json(d.name) : Json(nullptr)},
                        {"description", d.description},
                        {"default", d.refused.empty() && d.name == default_name},
                        {"kind", d.kind.empty() ? Json(nullptr) : Json(d.kind)},
                        {"driver", d.driver},
                        {"memory_bytes", d.memory_bytes},
                        {"subgroup_size", d.subgroup_size},
                        {"capabilities", d.capabilities},
                        {"warnings", d.warnings},
                        {"refused", d.refused.empty() ? Json(nullptr) : Json(d.refused)}});
    return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace command
