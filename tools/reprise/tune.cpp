// reprise tune: measures which variants of kernels are fastest on this machine's devices, for all programs of the user.
#include <cstdio>
#include <memory>
#include <string>

#include <reprise/tuning.hpp>

#include "command.hpp"
#include "progress.hpp"

namespace command {

namespace {

void tune(const std::string& name)
{
    const reprise::Device device = name.empty() ? reprise::default_device() : reprise::Device(name);
    std::printf("%s: %s\n", device.name().c_str(), device.description().c_str());
    const reprise::TuningReport report = reprise::tune(device, show_progress);
    if (!report.rows.empty()) std::printf("%-36s %10s %10s\n", "ms", "64 x 64", "128 x 128");
    for (const reprise::TuningReport::Row& r : report.rows)
        std::printf("%-36s %10.3f %10.3f%s\n", r.problem.c_str(), r.small_ms, r.large_ms,
                    r.equal ? "" : "  (other bits)");
    std::printf("%s\n", report.chosen.c_str());
}

} // namespace

void add_tune(CLI::App& app)
{
    CLI::App* const sub =
        app.add_subcommand("tune", "Measures which kernels are fastest on a device; changes no result");
    const auto device = std::make_shared<std::string>();
    sub->add_option("--device", *device, "\"vulkan:1\"; the default device if left out");
    sub->callback([device] { tune(*device); });
}

} // namespace command
