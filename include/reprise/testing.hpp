// Tests of shaders and of devices.  Not part of reprise.hpp.
//
// run_shader() runs one compute shader alone, on any device.  A shader gets one push constant, the 64-bit device
// address of its record:
//
//   { uvec2 address; uint texel; uint spare; }[]  an operand for each buffer, 16 bytes
//   float[]                                       the floats
//   int[]                                         the ints
//
// and no descriptors but the slab's views, which it need not know.  shaders/common/abi.glsl of the sources declares
// all of it in GLSL.  Groups are counted flat and folded into two dimensions: group = y * gl_NumWorkGroups.x + x,
// and a shader passes over the groups beyond the count that it needs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/dtype.hpp>

namespace reprise::testing {

// What a buffer holds.
using Bytes = std::vector<std::byte>;

// Elements as a buffer, and back; a rest of less than an element is left out.
template <class T> Bytes bytes_of(const std::vector<T>& values)
{
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}
// The elements of a buffer.
template <class T> std::vector<T> values_of(const Bytes& bytes)
{
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
}

// One launch of one shader.
struct ShaderRun {
    std::vector<std::uint32_t> spirv{};     // for Vulkan 1.2; empty: the library's own kernel of that name
    std::string name = "shader";            // for errors
    std::vector<std::uint32_t> constants{}; // specialization constants 0, 1, 2, ...
    std::vector<Bytes> buffers{};           // what the operands hold at the start; 256-byte aligned
    std::vector<float> floats{};            // of the record
    std::vector<std::int32_t> ints{};       // of the record
    std::uint64_t groups = 1;               // workgroups
};

// What the buffers hold afterwards.  Throws Error(internal) where the shader has written beside a buffer, and
// Error(unsupported) on a device that runs no shaders.
std::vector<Bytes> run_shader(const Device&, const ShaderRun&);

// ---- does a device compute right? ----

// What came out of a check of one op in one dtype.
enum class Verdict {
    right,     // equal to the reference device's result, within the tolerance of the dtype
    wrong,     // see the message
    zero,      // a derivative that is 0 everywhere
    undefined, // no derivative: of integers, comparisons, random numbers
    no_type,   // the op is not for this type
    lacking,   // the device does not have it in this type
};
// One row of verify().
struct Verified {
    std::string op;                           // its name
    DType dtype = f32;                        // of its floating inputs
    Verdict forward = Verdict::right;         // its values
    Verdict gradient = Verdict::right;        // by each input
    Verdict second_gradient = Verdict::right; // the gradient's gradient
    double worst = 0;    // the largest error in units of 1 + the largest value of its result
    std::string message; // of the first thing that is wrong
    // Whether nothing is wrong; what a device lacks is not.
    bool passed() const
    {
        return forward != Verdict::wrong && gradient != Verdict::wrong && second_gradient != Verdict::wrong;
    }
};
// The ops and functions of ops that the library's own tests have, in their order.
std::vector<std::string> verified_ops();
// Each of them in one dtype after another, or only `op`, against the reference device in double precision: values,
// gradients and their gradients.  `each` is called with the results of an op as they come.  Of dtypes but f32, so many
// samples of arguments are tried.
void verify(const Device&, const std::function<void(const std::vector<Verified>&)>& each,
            const std::string& op = "", std::size_t samples = 2);

} // namespace reprise::testing
