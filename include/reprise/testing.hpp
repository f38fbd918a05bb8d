// Tests of shaders and devices.  Not part of reprise.hpp.
//
// run_shader() runs a single compute shader on any device.  A shader gets one push constant, the 64-bit
// device address of its record:
//
//   { uvec2 address; uint texel; uint spare; }[]  an operand for each buffer, 16 bytes
//   float[]                                       the floats
//   int[]                                         the ints
//
// and no descriptors except the views of the device's memory, which it need not use.  shaders/common/abi.glsl
// of the sources declares all of it in GLSL.  Workgroups are launched in two dimensions; the number of a
// group is y * gl_NumWorkGroups.x + x, and a shader must ignore groups beyond the count that it needs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/dim.hpp>
#include <reprise/dtype.hpp>
#include <reprise/error.hpp>

namespace reprise::testing {

// The contents of a buffer.
using Bytes = std::vector<std::byte>;

// The bytes of a vector of elements.
template <class T> Bytes bytes_of(const std::vector<T>& values)
{
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}
// The elements of a buffer; trailing bytes that do not fill an element are ignored.
template <class T> std::vector<T> values_of(const Bytes& bytes)
{
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
}

// One launch of one shader. The members groups, ints and floats are in the order of KernelLaunch.
struct ShaderRun {
    std::vector<std::uint32_t> spirv{};     // SPIR-V for Vulkan 1.2; empty: the library's own kernel `name`
    std::string name = "shader";            // the shader's name in errors
    std::vector<std::uint32_t> constants{}; // the values of specialization constants 0, 1, 2, ...
    std::vector<Bytes> buffers{};           // initial contents of the operands; each is aligned to 256 bytes
    Dim groups = 1;                         // the number of workgroups; must be constant
    std::vector<std::int32_t> ints{};       // the ints of the record
    std::vector<float> floats{};            // the floats of the record
};

// Runs the shader and returns the contents of the buffers afterwards. Errors: internal if the shader wrote into the
// guard regions of 256 bytes around a buffer; argument if the words are not SPIR-V, if there are none and the library
// has no kernel of this name, and for groups that are not constant or below 0; unsupported on a device that runs no
// shaders.
std::vector<Bytes> run_shader(const Device&, const ShaderRun&);

// ---- checking a device's results ----

// The result of checking one op in one dtype.
enum class Verdict {
    right,     // equal to the reference device's result, within the tolerance
    wrong,     // different: see the message
    zero,      // the derivative is 0 everywhere
    undefined, // there is no derivative, as for integers, comparisons and random numbers
    no_type,   // the op does not take this dtype
    lacking,   // the device does not support the op in this dtype
};
// The results of one op in one dtype.
struct Verified {
    std::string op;                           // the op's name
    DType dtype = f32;                        // the dtype of its floating inputs
    Verdict forward = Verdict::right;         // result for its values
    Verdict gradient = Verdict::right;        // result for the gradients of its inputs
    Verdict second_gradient = Verdict::right; // result for the gradients of the gradients
    double worst = 0;                         // the largest error, divided by 1 + the result's largest value
    std::string message;                      // describes the first wrong result
    // Whether nothing is wrong; ops that the device does not support count as passed.
    bool passed() const
    {
        return forward != Verdict::wrong && gradient != Verdict::wrong && second_gradient != Verdict::wrong;
    }
};
// The names of the ops that verify() checks, in their order.
std::vector<std::string> verified_ops();
// Checks the values, gradients and second gradients of all verified_ops(), or only of `op`, in each dtype,
// against the reference device in double precision.  Calls `each` with the results of each op.  For dtypes
// other than f32, `samples` samples of arguments are tried.
void verify(const Device&, const std::function<void(const std::vector<Verified>&)>& each,
            const std::string& op = "", std::size_t samples = 2);

} // namespace reprise::testing
