// Kernels in GLSL, for custom functions.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <reprise/dim.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

struct KernelOutput {
    DType dtype = f32;
    Shape shape{};
};

// A launch as the reference device gets it: row-major values in double.
struct HostLaunch {
    std::span<const std::vector<double>> inputs;
    std::span<std::vector<double>> outputs; // of the right sizes, zeros
    std::span<const std::int64_t> ints;
    std::span<const double> floats;
};

struct KernelOptions {
    std::string name = "kernel"; // for errors, profiles and plans
    // GLSL of the kernel, compiled when it is first called; needs a library that was built with shaderc.
    // The text begins with declarations or main(): before it stand the launch interface
    // (shaders/common/abi.glsl), OPERANDS, FLOATS and local_size_x.  An operand is record.operand[i]: the
    // inputs, then the outputs, row-major without gaps, 16-byte aligned.
    // Floats(record.operand[0].address).v[i] is an element; record.f and record.n are the floats and ints;
    // flat_group() counts workgroups, and a kernel passes over those beyond the groups it needs.
    std::string glsl = {};
    // Or SPIR-V for Vulkan 1.2 of such a text, compiled beforehand.
    std::vector<std::uint32_t> spirv = {};
    std::uint32_t local_size_x = 64;
    std::vector<std::uint32_t> constants = {}; // specialization constants 0, 1, ...
    // The same in plain C++ for the reference device, which runs no shaders: without it a call there is
    // Error(unsupported).
    std::function<void(const HostLaunch&)> host = nullptr;
};

// What is given with each launch.
struct KernelLaunch {
    std::vector<KernelOutput> outputs{}; // the kernel writes all of each; it writes nothing else
    Dim groups = 1;                      // workgroups; sizes of the inputs may be symbols
    DimVector ints = {};                 // below 2^31
    std::vector<double> floats = {};
};

// A kernel that a user wrote, as an op without a gradient: give it one with a CustomFunction.  It reads its
// inputs and writes its outputs and touches nothing else, which is all that planning needs to know of it,
// so it works in eager code and in programs at every size.  Copies share it.
class Kernel {
public:
    explicit Kernel(KernelOptions);
    // Errors: argument where the text does not compile, with the compiler's words; unsupported where the
    // device or this build can't run it.
    std::vector<Tensor> call(const std::vector<Tensor>& inputs, const KernelLaunch&) const;
    Tensor operator()(const std::vector<Tensor>& inputs, const KernelLaunch& launch) const // the first output
    {
        return call(inputs, launch).at(0);
    }

private:
    std::shared_ptr<const KernelOptions> options_;
};

} // namespace reprise
