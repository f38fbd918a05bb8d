#include "device/vulkan/probe.hpp"
#include "device/device.hpp"
#include "device/vulkan/workarounds.hpp"
#include <array>
#include <cstring>

namespace reprise::device::vulkan {

namespace {

// Rounds -8.5, -8, ..., 7 by shaders/probe_select.comp.
bool selects_are_right(Device& device)
{
    constexpr std::array<float, 32> expected{-8,  -8, -8, -7, -6, -6, -6, -5, -4, -4, -4, -3, -2, -2, -2, -1,
                                             -0., 0,  0,  1,  2,  2,  2,  3,  4,  4,  4,  5,  6,  6,  6,  7};
    std::array<float, 32> numbers{}, rounded{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<float>(i) / 2 - 8.5F;
    }
    const auto x = device.allocate(sizeof(numbers)), y = device.allocate(sizeof(rounded));
    device.upload(x->address, std::as_bytes(std::span(numbers)));
    LaunchDeclaration launch;
    launch.kernel.name = "probe_select";
    launch.operands = {Access::read, Access::write};
    const auto recording = device.record({&launch, 1}, {.one_shot = true});
    const std::array<Operand, 2> operands{{{x->address, x->bytes}, {y->address, y->bytes}}};
    recording->begin();
    recording->set(0, {.operands = operands, .floats = {}, .ints = {}, .groups = 1});
    device.wait(recording->submit());
    device.download(y->address, std::as_writable_bytes(std::span(rounded)));
    return std::memcmp(rounded.data(), expected.data(), sizeof(expected)) == 0; // also the sign of 0
}

} // namespace

std::vector<std::string> probe(Device& device, const PhysicalDevice& physical)
{
    if (!has_quirk(physical, Quirk::miscompiles_signed_selects)) {
        return {};
    }
    std::vector<std::string> found;
    if (!selects_are_right(device)) {
        found.push_back(
            "It computes where(c, copysign(y, x), x) and the like wrongly on this CPU, which has AVX-512: "
            "set the environment variable GALLIUM_OVERRIDE_CPU_CAPS=avx.");
    }
    device.reset_peak();
    return found;
}

} // namespace reprise::device::vulkan
