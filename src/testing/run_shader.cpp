#include <reprise/testing.hpp>

#include <algorithm>
#include <memory>

#include <reprise/error.hpp>

#include "device/embedded_kernels.hpp"
#include "eager/context.hpp"
#include "shape/hash.hpp"

namespace reprise::testing {

namespace {

constexpr std::size_t guard = 256; // bytes before and after a buffer; a multiple of its alignment
constexpr std::byte canary{0xA5};

// Names the kernel by a hash of its code, so that the device reuses the pipeline for the same code.
std::string kernel_name(const ShaderRun& run)
{
    return "testing/" + run.name + "/" + std::to_string(shape::HashOfWords()(run.spirv));
}

bool is_kernel_of_the_library(const std::string& name)
{
    const auto all = device::embedded_kernels();
    return std::any_of(all.begin(), all.end(), [&](const auto& k) { return k.name == name; });
}

void check(const ShaderRun& run, const device::Capabilities& caps)
{
    if (run.spirv.empty() && !caps.is_cuda() && !is_kernel_of_the_library(run.name))
        detail::fail(ErrorKind::argument, "run_shader",
                     "spirv is empty, and no kernel of the library is named (", run.name,
                     "): give the shader's SPIR-V, and check that its file was found.");
    if (!run.groups.is_constant() || run.groups.value() < 0)
        detail::fail(ErrorKind::argument, "run_shader", "groups is (", run.groups,
                     "): give a number of at least 0.");
}

struct Guarded {
    std::unique_ptr<device::Memory> memory;
    std::size_t bytes;

    Guarded(device::Device& d, const Bytes& contents) : bytes(contents.size())
    {
        Bytes all(guard, canary);
        all.insert(all.end(), contents.begin(), contents.end());
        all.insert(all.end(), padding() + guard, canary);
        memory = d.allocate(all.size());
        d.upload(memory->address, all);
    }
    std::size_t padding() const
    {
        return (16 - bytes % 16) % 16;
    } // part of the buffer, as shaders write whole words
    device::Operand operand() const { return {memory->address + guard, bytes + padding()}; }

    Bytes read(device::Device& d, const std::string& name, std::size_t index) const
    {
        Bytes all(bytes + padding() + 2 * guard);
        d.download(memory->address, all);
        const auto end = all.end() - static_cast<std::ptrdiff_t>(guard);
        const auto written = [](std::byte b) { return b != canary; };
        if (std::any_of(all.begin(), all.begin() + guard, written) || std::any_of(end, all.end(), written))
            detail::fail(ErrorKind::internal, "run_shader", "The shader (", name,
                         ") has written outside of buffer (", index, ") of (", bytes, ") bytes.");
        return {all.begin() + guard, all.begin() + static_cast<std::ptrdiff_t>(guard + bytes)};
    }
};

} // namespace

std::vector<Bytes> run_shader(const Device& on, const ShaderRun& run)
{
    device::Device& d = *on.context()->device();
    if (d.capabilities().host_kernels || !d.capabilities().computes)
        detail::fail(ErrorKind::unsupported, "run_shader", "The device (", on.name(),
                     ") runs no shaders: choose a Vulkan device.");
    check(run, d.capabilities());
    device::LaunchDeclaration launch{.kernel = {.name = run.name, .constants = run.constants},
                                     .operands = std::vector(run.buffers.size(), device::Access::read_write),
                                     .floats = static_cast<std::uint32_t>(run.floats.size()),
                                     .ints = static_cast<std::uint32_t>(run.ints.size())};
    if (!run.spirv.empty()) {
        launch.kernel.name = kernel_name(run);
        d.register_kernel(launch.kernel.name, run.spirv);
    }
    std::vector<Guarded> buffers;
    std::vector<device::Operand> operands;
    for (const Bytes& contents : run.buffers) {
        buffers.emplace_back(d, contents);
        operands.push_back(buffers.back().operand());
    }
    const auto recording = d.record({&launch, 1}, {.slots = 1, .warm_up = false, .one_shot = true});
    const std::vector<double> floats(run.floats.begin(), run.floats.end());
    recording->begin();
    recording->set(0, {operands, floats, run.ints, static_cast<std::uint64_t>(run.groups.value())});
    d.wait(recording->submit());
    std::vector<Bytes> out;
    for (std::size_t i = 0; i < buffers.size(); ++i) out.push_back(buffers[i].read(d, run.name, i));
    return out;
}

} // namespace reprise::testing
