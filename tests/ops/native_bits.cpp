// Elementwise kernels give the bits of the native reader: on software drivers of all numbers, on other devices of those
// in each function's domain; the reference device comes close to it.  The simulated GPU's own quotients and square
// roots are inexact, as those of real ones.
#include <gtest/gtest.h>

#include <reprise/ops.hpp>

#include <bit>
#include <cmath>
#include <limits>

#if defined(__SSE__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

#include "graph/cell.hpp"
#include "ops/readers.hpp"
#include "ops/registry.hpp"
#include "support/devices.hpp"
#include "testing/op_suite.hpp"

namespace reprise::test {
namespace {

using ops::NativeRow;

// While it lives, this thread's floats lose their subnormals as the device's do.
class FlushSubnormals {
public:
#if defined(__SSE__) || defined(_M_X64)
    explicit FlushSubnormals(bool on) : before_(_mm_getcsr())
    {
        if (on) _mm_setcsr(before_ | 0x8040u); // flush results to zero, read subnormals as zero
    }
    ~FlushSubnormals() { _mm_setcsr(before_); }

private:
    unsigned before_;
#else
    explicit FlushSubnormals(bool) {}
#endif
};

constexpr float specials[] = {0.0f,
                              -0.0f,
                              1.0f,
                              -1.0f,
                              0.5f,
                              -2.0f,
                              3.0f,
                              1e-38f,
                              -3e-39f,
                              1e-45f,
                              3.4028235e38f,
                              -3.4028235e38f,
                              20.0f,
                              88.7f,
                              -104.0f,
                              8388609.0f,
                              std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN()};

// Each pair of special values, numbers of the domain, and any bits.
std::vector<std::vector<float>> numbers_for(const NativeRow& row, std::size_t slots)
{
    const auto arity = static_cast<std::size_t>(row.arity());
    std::vector<std::vector<float>> out(slots);
    Numbers numbers(3);
    constexpr std::size_t count = std::size(specials);
    for (std::size_t i = 0; i < count * count * 2; ++i)
        for (std::size_t k = 0; k < slots; ++k)
            out[k].push_back(k == 0   ? specials[i % count]
                             : k == 1 ? specials[i / count % count]
                                      : specials[numbers.word() % count]);
    for (int i = 0; i < 1500; ++i)
        for (std::size_t k = 0; k < slots; ++k)
            out[k].push_back(
                static_cast<float>(k < arity ? numbers.uniform(row.domain[2 * k], row.domain[2 * k + 1])
                                             : numbers.uniform(-2, 2)));
    for (int i = 0; i < 1500; ++i)
        for (std::size_t k = 0; k < slots; ++k)
            out[k].push_back(std::bit_cast<float>(static_cast<std::uint32_t>(numbers.word())));
    for (std::size_t k = 0; k < arity; ++k)
        if (row.types[k] == 'B')
            for (float& v : out[k]) v = std::bit_cast<std::uint32_t>(v) % 3 == 0 ? 1.0f : 0.0f;
    return out;
}

std::vector<float> native(const NativeRow& row, int part, const std::vector<std::vector<float>>& in)
{
    const auto arity = static_cast<std::size_t>(row.arity());
    std::vector<float> out;
    for (std::size_t i = 0; i < in[0].size(); ++i) {
        float v[ops::max_arity + 2] = {};
        for (std::size_t k = 0; k < in.size(); ++k) v[k] = in[k][i];
        out.push_back(part == 0
                          ? row.forward(v)
                          : row.derivative[static_cast<std::size_t>(part - 1)](v, v[arity], v[arity + 1]));
    }
    return out;
}

std::vector<float> on_device(const NativeRow& row, int part, const std::vector<std::vector<float>>& in)
{
    std::vector<Tensor> inputs;
    for (std::size_t k = 0; k < in.size(); ++k) {
        if (part && !(row.reads[static_cast<std::size_t>(part)] >> k & 1)) continue;
        Tensor t = from_vector(in[k]);
        if (k < static_cast<std::size_t>(row.arity()) && row.types[k] == 'B') t = cast(t, boolean);
        inputs.push_back(t);
    }
    graph::Attributes attributes;
    if (std::string_view(row.name) == "cast" && part == 0) attributes = {{"dtype", f32}};
    const Tensor out = graph::apply1(ops::row_op(row.name, part), inputs, attributes);
    return out.dtype() == f32 ? out.to_vector<float>() : cast(out, f32).to_vector<float>();
}

// The host negates by bits, which flushes nothing.
bool flushed(float subnormal, float zero)
{
    return std::fpclassify(subnormal) == FP_SUBNORMAL && zero == 0 &&
           std::signbit(zero) == std::signbit(subnormal);
}

// A device that flushes may also read subnormal inputs as zeros, even where a formula takes their bits.
std::vector<std::vector<float>> without_subnormals(std::vector<std::vector<float>> in)
{
    for (auto& values : in)
        for (float& v : values)
            if (std::fpclassify(v) == FP_SUBNORMAL) v = std::copysign(0.0f, v);
    return in;
}

bool same_bits(float a, float b)
{
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

struct NativeBits : testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Rows, NativeBits, testing::ValuesIn([] {
                             std::vector<std::string> names;
                             for (const NativeRow& row : ops::native_rows())
                                 if (row.takes_floats()) names.emplace_back(row.name);
                             return names;
                         }()),
                         [](const auto& test) { return test.param; });

// dy as it is: there is no kernel of it.
bool passes_on(const NativeRow& row, int part)
{
    return std::string(ops::find_row(row.name)->text[static_cast<std::size_t>(part)]) == "dy";
}

TEST_P(NativeBits, OfEachPart)
{
    const NativeRow& row = *ops::find_native_row(GetParam());
    const device::Capabilities& caps = inner(default_device()).capabilities();
    const bool of_all_numbers = caps.shader_class == "lavapipe" || caps.shader_class == "swiftshader";
    for (int part = 0; part <= row.arity(); ++part) {
        if (part && (!row.differentiable(part - 1) || passes_on(row, part))) continue;
        const auto in = numbers_for(row, static_cast<std::size_t>(row.arity() + (part ? 2 : 0)));
        const std::vector<float> got = on_device(row, part, in);
        const auto zeros = without_subnormals(in); // before the comparisons in it read subnormals as zero
        std::vector<float> want, of_zeros;
        {
            const FlushSubnormals flush(caps.flushes_subnormals);
            want = native(row, part, in);
            of_zeros = caps.flushes_subnormals ? native(row, part, zeros) : want;
        }
        ASSERT_EQ(got.size(), want.size());
        // Elsewhere: only the numbers of the domain, as overflow, subnormals and quotients of very large and small
        // numbers are the device's own.
        const std::size_t from = of_all_numbers ? 0 : std::size(specials) * std::size(specials) * 2,
                          to = of_all_numbers ? got.size() : from + 1500;
        for (std::size_t i = from; i < to; ++i) {
            const bool equal = same_bits(got[i], want[i]) || same_bits(got[i], of_zeros[i]) ||
                               (caps.flushes_subnormals && flushed(want[i], got[i]));
            const bool close = caps.host_kernels && // they compute in double
                               std::fabs(got[i] - want[i]) <= 4e-6f * (1 + std::fabs(want[i]));
            if (std::isnan(want[i]) && std::isnan(got[i])) continue;
            std::string at;
            for (const auto& values : in) at += " " + std::to_string(values[i]);
            ASSERT_TRUE(equal || close)
                << "part " << part << " at" << at << ": " << got[i] << ", not " << want[i];
        }
    }
}

} // namespace
} // namespace reprise::test
