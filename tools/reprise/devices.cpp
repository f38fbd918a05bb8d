// reprise devices: lists the devices, and says why some were refused.
#include <iostream>
#include <memory>

#include <reprise/reprise.hpp>

#include "command.hpp"
#include "devices_text.hpp"

namespace command {

namespace {

// Empty if the default device can't be opened, for example if REPRISE_DEVICE names one that does not exist.  The error
// goes to stderr, since the list is still useful.
std::string default_name()
{
    try {
        return reprise::default_device().name();
    } catch (const reprise::Error& error) {
        std::cerr << error.what() << "\n";
        return "";
    }
}

// Opens every device that can be used, as some faults are only found then.
std::vector<reprise::DeviceDescription> opened_devices()
{
    std::vector<reprise::Device> open;
    for (const reprise::DeviceDescription& d : reprise::devices()) {
        if (!d.refused.empty()) continue;
        try {
            open.emplace_back(d.name);
        } catch (const reprise::Error& error) {
            std::cerr << error.what() << "\n";
        }
    }
    return reprise::devices();
}

} // namespace

void add_devices(CLI::App& app)
{
    CLI::App* const devices =
        app.add_subcommand("devices", "Lists every device, and says why one was refused");
    const auto json = std::make_shared<bool>(false);
    devices->add_flag("--json", *json, "As JSON");
    devices->callback([json] {
        const auto found = opened_devices();
        std::cout << (*json ? devices_json(found, default_name()) : devices_text(found, default_name()));
    });
}

} // namespace command
