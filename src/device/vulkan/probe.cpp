#include "device/vulkan/probe.hpp"
#include "device/device.hpp"
#include "device/vulkan/physical_device.hpp"
#include "device/vulkan/workarounds.hpp"
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace reprise::device::vulkan {

namespace {

using Numbers = std::array<float, 32>;

struct Inputs {
    Numbers x{}, tiny{}, factors{};
    std::array<std::uint32_t, 32> halves{}; // two f16 in each
};
struct Outputs {
    Numbers rounded{}, scaled{}, residual{}, unpacked{}, quotients{}, roots{};
};

Outputs outputs_of(Device& device, const Inputs& in)
{
    const auto memory = device.allocate(sizeof(Inputs) + sizeof(Outputs));
    const Address to = memory->address + sizeof(Inputs);
    const auto part = [&](std::size_t i) {
        return Operand{memory->address + i * sizeof(Numbers), sizeof(Numbers)};
    };
    std::array<Operand, 10> operands; // 4 inputs, 6 outputs
    for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = part(i);
    device.upload(memory->address, std::as_bytes(std::span(&in, 1)));
    LaunchDeclaration launch;
    launch.kernel.name = "probe";
    launch.operands.assign(4, Access::read);
    launch.operands.insert(launch.operands.end(), 6, Access::write);
    launch.floats = 1;
    const auto recording = device.record({&launch, 1}, {.one_shot = true});
    const double one = 1;
    recording->begin();
    recording->set(0, {.operands = operands, .floats = {&one, 1}, .ints = {}, .groups = 1});
    device.wait(recording->submit());
    Outputs out;
    device.download(to, std::as_writable_bytes(std::span(&out, 1)));
    return out;
}

bool same_bits(const Numbers& a, const Numbers& b)
{
    return std::memcmp(a.data(), b.data(), sizeof(Numbers)) == 0;
}

} // namespace

ProbeResults probe(Device& device, const PhysicalDevice& physical)
{
    constexpr Numbers expected{-8,  -8, -8, -7, -6, -6, -6, -5, -4, -4, -4, -3, -2, -2, -2, -1,
                               -0., 0,  0,  1,  2,  2,  2,  3,  4,  4,  4,  5,  6,  6,  6,  7};
    Inputs in;
    Numbers wide; // the numbers of in.halves
    for (std::uint32_t i = 0; i < in.x.size(); ++i) {
        in.x[i] = static_cast<float>(i) / 2 - 8.5F;
        in.tiny[i] = std::bit_cast<float>(i + 1); // the smallest subnormal numbers
        in.factors[i] =
            1 + static_cast<float>(2 * i + 1) / (1 << 13); // squares have 26 bits behind the point
        const std::uint32_t half = i * 0x41;               // from 16 on they are normal numbers
        in.halves[i] = half << 16 | half | 0x8000;         // the low one is negative
        wide[i] = std::ldexp(static_cast<float>(i < 16 ? half : 0x400 + half % 0x400), -24);
        if (i % 2 == 0) wide[i] = -wide[i];
    }
    const Outputs out = outputs_of(device, in);
    device.reset_peak();
    ProbeResults results;
    results.flushes_subnormals = !same_bits(out.scaled, in.tiny);
    results.fuses_fma =
        std::none_of(out.residual.begin(), out.residual.end(), [](float r) { return r == 0; });
    Numbers quotients, roots;
    for (std::size_t i = 0; i < in.x.size(); ++i) {
        quotients[i] = in.x[i] / in.factors[i];
        roots[i] = std::sqrt(in.factors[i]);
    }
    results.rounds_division = same_bits(out.quotients, quotients) && same_bits(out.roots, roots);
    const bool computes = !same_bits(out.rounded, Numbers{}); // a driver that imitates a chip does not
    if (computes && !results.rounds_division && !results.fuses_fma) {
        results.warnings.push_back(
            "It does not round quotients and square roots correctly, and has no fused fma to "
            "correct them: results may differ from those of other devices.");
    }
    // Of one that computes nothing its promise counts.
    results.unpacks_subnormals =
        !computes ? physical.v12.shaderDenormPreserveFloat16 == VK_TRUE : same_bits(out.unpacked, wide);
    if (!same_bits(out.rounded, expected)) {
        results.warnings.push_back(
            std::string("It computes where(c, copysign(y, x), x) and the like wrongly.") +
            (has_quirk(physical, Quirk::miscompiles_signed_selects)
                 ? " Set the environment variable GALLIUM_OVERRIDE_CPU_CAPS=avx, as this CPU has AVX-512."
                 : ""));
    }
    return results;
}

} // namespace reprise::device::vulkan
