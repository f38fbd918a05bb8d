// Kernels that users write in GLSL, for custom functions.
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

// The type of one output of a kernel.
struct KernelOutput {
    DType dtype = f32; // its element type
    Shape shape{};     // its sizes, which may be symbols
};

// The arguments of a kernel on the reference device: all values in double, in row-major order.
struct HostLaunch {
    std::span<const std::vector<double>> inputs; // the elements of each input
    std::span<std::vector<double>> outputs;      // each has the right size and is filled with zeros
    std::span<const std::int64_t> ints;          // KernelLaunch::ints
    std::span<const double> floats;              // KernelLaunch::floats
};

// The code and the constants of a kernel.
struct KernelOptions {
    std::string name = "kernel"; // its name in errors, profiles and plans
    // The GLSL text, compiled when the kernel is first called; on Vulkan this needs reprise::fuser to be linked.
    // The text begins with declarations or main(): the library puts the launch interface
    // (shaders/common/abi.glsl), OPERANDS, FLOATS and local_size_x before it.  Operand i is
    // record.operand[i]: first the inputs, then the outputs, row-major without gaps, aligned to 16 bytes.
    // Floats(record.operand[0].address).v[i] is an element; record.f and record.n are the floats and ints;
    // flat_group() is the number of the workgroup, and a kernel must ignore groups beyond those that it
    // needs.
    std::string glsl = {};
    // In place of `glsl`: such a text compiled to SPIR-V for Vulkan 1.2.  Error(unsupported) on CUDA devices.
    std::vector<std::uint32_t> spirv = {};
    std::uint32_t local_size_x = 64; // invocations of a workgroup
    // The values of specialization constants 0, 1, ...; those from 2000 on are the library's.
    std::vector<std::uint32_t> constants = {};
    // The same computation in C++ for the reference device, which runs no shaders; without it a call there
    // throws Error(unsupported).
    std::function<void(const HostLaunch&)> host = nullptr;
};

// The arguments of one launch of a kernel.
struct KernelLaunch {
    std::vector<KernelOutput> outputs{}; // the kernel writes all elements of each, and nothing else
    Dim groups = 1;                      // the number of workgroups, which may depend on symbols
    // The ints of the record, below 2^31, which may depend on symbols; at least as many as the kernel reads.
    // Error(argument) where its GLSL reads one by a greater constant index; other indices are not checked.
    DimVector ints = {};
    std::vector<double> floats = {}; // the floats of the record, as many as the kernel reads
};

// A kernel that a user wrote, as an op without a gradient: its outputs are as if detached, so that no gradient
// flows to the inputs; wrap it in a CustomFunction to define one.  The kernel must only read its inputs and
// write its outputs.  It works in eager code and in programs, at all sizes.  Copies share the kernel.
class Kernel {
public:
    // Creates a kernel.  Error(argument) unless exactly one of GLSL and SPIR-V is given, where the SPIR-V is no
    // module, and where local_size_x is 0.
    explicit Kernel(KernelOptions);
    // Launches the kernel and returns its outputs.  Takes at least one input and one output, else
    // Error(argument).  Errors: argument where the text does not compile, with the compiler's message;
    // unsupported where the device or this build of the library cannot run the kernel.
    std::vector<Tensor> call(const std::vector<Tensor>& inputs, const KernelLaunch&) const;
    // Launches the kernel and returns its first output.
    Tensor operator()(const std::vector<Tensor>& inputs, const KernelLaunch& launch) const
    {
        return call(inputs, launch).at(0);
    }

private:
    std::shared_ptr<const KernelOptions> options_;
};

} // namespace reprise
