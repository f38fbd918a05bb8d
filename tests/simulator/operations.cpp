#include "operations.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace reprise::simulator {

namespace {

using spv::Op;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

// Functions that are applied to values of type T, which have results of type T, or truth values.
enum class Result : std::uint8_t { same, truth };

template <class F, class T, int operands, Result result> constexpr Step::Function applied()
{
    using Out = std::conditional_t<result == Result::truth, bool, T>;
    if constexpr (operands == 1) return apply_1<F, Out, T>;
    else return apply_2<F, Out, T, T>;
}

// Rows of the table: for booleans, integers, and floats.
template <int operands, Result result = Result::same, class F> Operation truths(Op op, const char* name, F)
{
    return {op, name, operands, {applied<F, bool, operands, result>()}};
}
template <int operands, Result result, class F, class... T> Operation integers(Op op, const char* name)
{
    return {op, name, operands, {nullptr, applied<F, T, operands, result>()...}};
}
template <int operands, Result result = Result::same, class F> Operation unsigned_(Op op, const char* name, F)
{
    return integers<operands, result, F, u16, u32, u64>(op, name);
}
template <int operands, Result result = Result::same, class F> Operation signed_(Op op, const char* name, F)
{
    return integers<operands, result, F, i16, i32, i64>(op, name);
}
template <int operands, Result result = Result::same, class F> Operation floats(Op op, const char* name, F)
{
    return {op,
            name,
            operands,
            {nullptr, nullptr, nullptr, nullptr, nullptr, applied<F, float, operands, result>(),
             applied<F, double, operands, result>()}};
}

// Divisions, which are undefined for a divisor of 0, and for the smallest number divided by -1.
template <class F, class T> void divide(const Lanes& lanes, const Step& s)
{
    const auto* a = lanes.at<const Held<T>>(s.in[0]);
    const auto* b = lanes.at<const Held<T>>(s.in[1]);
    lanes.each([&](u32 lane) {
        if (static_cast<T>(b[lane]) == 0) lanes.fail(lane, "divides an integer by 0");
        if constexpr (std::is_signed_v<T>)
            if (static_cast<T>(b[lane]) == -1 && static_cast<T>(a[lane]) == std::numeric_limits<T>::min())
                lanes.fail(lane, "divides the smallest integer by -1");
    });
    apply_2<F, T, T, T>(lanes, s);
}
template <class F> Operation unsigned_division(Op op, const char* name, F)
{
    return {op, name, 2, {nullptr, divide<F, u16>, divide<F, u32>, divide<F, u64>}};
}
template <class F> Operation signed_division(Op op, const char* name, F)
{
    return {op, name, 2, {nullptr, divide<F, i16>, divide<F, i32>, divide<F, i64>}};
}

// Shifts by a number of 32 bits, which are undefined from the width of the type on.
template <class F, class T> void shift(const Lanes& lanes, const Step& s)
{
    const u32* by = lanes.at<const u32>(s.in[1]);
    lanes.each([&](u32 lane) {
        if (by[lane] >= 8 * sizeof(T))
            lanes.fail(lane,
                       "shifts " + std::to_string(8 * sizeof(T)) + " bits by " + std::to_string(by[lane]));
    });
    apply_2<F, T, T, u32>(lanes, s);
}
template <bool is_signed, class F> Operation shifts(Op op, const char* name, F)
{
    if constexpr (is_signed) return {op, name, 2, {nullptr, shift<F, i16>, shift<F, i32>, shift<F, i64>}};
    else return {op, name, 2, {nullptr, shift<F, u16>, shift<F, u32>, shift<F, u64>}};
}

constexpr auto floor_modulo = [](auto a, auto b) {
    const auto r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
};
// As on GPUs, which multiply by a rounded reciprocal: wrong by an ulp or two, unless that leaves the normal numbers.
constexpr auto gpu_divide = [](auto a, auto b) {
    const auto quotient = a / b;
    if (sizeof a != 4 || !std::isnormal(quotient) || !std::isnormal(1 / b)) return quotient;
    return a * (1 / b);
};
constexpr auto float_modulo = [](auto a, auto b) { return a - b * std::floor(a / b); };
// Ordered comparisons are false for NaN, unordered ones true.
constexpr auto unordered = [](auto a, auto b) { return std::isnan(a) || std::isnan(b); };

// Bits of a number, from `first` on: undefined if there are not so many.
struct ExtractBits {
    u32 operator()(u32 v, u32 first, u32 count) const
    {
        return count == 0 ? 0 : v << (32 - first - count) >> (32 - count);
    }
};
struct ExtractSignedBits {
    u32 operator()(u32 v, u32 first, u32 count) const
    {
        return count == 0 ? 0 : static_cast<u32>(static_cast<i32>(v << (32 - first - count)) >> (32 - count));
    }
};
template <class F> void extract_bits(const Lanes& lanes, const Step& s)
{
    const u32 *first = lanes.at<const u32>(s.in[1]), *count = lanes.at<const u32>(s.in[2]);
    lanes.each([&](u32 lane) {
        if (first[lane] > 32 || count[lane] > 32 - first[lane])
            lanes.fail(lane, "takes bits beyond the last one");
    });
    apply_3<F, u32>(lanes, s);
}

#define NAMED(op) Op::op, #op // an opcode, and its name for errors
const std::array operation_table{
    unsigned_<2>(NAMED(OpIAdd), [](auto a, auto b) { return a + b; }),
    unsigned_<2>(NAMED(OpISub), [](auto a, auto b) { return a - b; }),
    unsigned_<2>(NAMED(OpIMul), [](auto a, auto b) { return u64{a} * b; }),
    unsigned_<1>(NAMED(OpSNegate), [](auto a) { return u64{0} - a; }),
    unsigned_division(NAMED(OpUDiv), [](auto a, auto b) { return a / b; }),
    unsigned_division(NAMED(OpUMod), [](auto a, auto b) { return a % b; }),
    signed_division(NAMED(OpSDiv), [](auto a, auto b) { return a / b; }),
    signed_division(NAMED(OpSRem), [](auto a, auto b) { return a % b; }),
    signed_division(NAMED(OpSMod), floor_modulo),
    shifts<false>(NAMED(OpShiftLeftLogical), [](auto a, u32 b) { return u64{a} << b; }),
    shifts<false>(NAMED(OpShiftRightLogical), [](auto a, u32 b) { return a >> b; }),
    shifts<true>(NAMED(OpShiftRightArithmetic), [](auto a, u32 b) { return a >> b; }),
    unsigned_<2>(NAMED(OpBitwiseAnd), [](auto a, auto b) { return a & b; }),
    unsigned_<2>(NAMED(OpBitwiseOr), [](auto a, auto b) { return a | b; }),
    unsigned_<2>(NAMED(OpBitwiseXor), [](auto a, auto b) { return a ^ b; }),
    unsigned_<1>(NAMED(OpNot), [](auto a) { return ~a; }),
    unsigned_<1>(NAMED(OpBitCount), [](auto a) { return std::popcount(a); }),
    Operation{NAMED(OpBitFieldUExtract), 3, {nullptr, nullptr, extract_bits<ExtractBits>}},
    Operation{NAMED(OpBitFieldSExtract), 3, {nullptr, nullptr, extract_bits<ExtractSignedBits>}},
    unsigned_<2, Result::truth>(NAMED(OpIEqual), [](auto a, auto b) { return a == b; }),
    unsigned_<2, Result::truth>(NAMED(OpINotEqual), [](auto a, auto b) { return a != b; }),
    unsigned_<2, Result::truth>(NAMED(OpULessThan), [](auto a, auto b) { return a < b; }),
    unsigned_<2, Result::truth>(NAMED(OpULessThanEqual), [](auto a, auto b) { return a <= b; }),
    unsigned_<2, Result::truth>(NAMED(OpUGreaterThan), [](auto a, auto b) { return a > b; }),
    unsigned_<2, Result::truth>(NAMED(OpUGreaterThanEqual), [](auto a, auto b) { return a >= b; }),
    signed_<2, Result::truth>(NAMED(OpSLessThan), [](auto a, auto b) { return a < b; }),
    signed_<2, Result::truth>(NAMED(OpSLessThanEqual), [](auto a, auto b) { return a <= b; }),
    signed_<2, Result::truth>(NAMED(OpSGreaterThan), [](auto a, auto b) { return a > b; }),
    signed_<2, Result::truth>(NAMED(OpSGreaterThanEqual), [](auto a, auto b) { return a >= b; }),
    truths<2>(NAMED(OpLogicalAnd), [](bool a, bool b) { return a && b; }),
    truths<2>(NAMED(OpLogicalOr), [](bool a, bool b) { return a || b; }),
    truths<1>(NAMED(OpLogicalNot), [](bool a) { return !a; }),
    truths<2>(NAMED(OpLogicalEqual), [](bool a, bool b) { return a == b; }),
    truths<2>(NAMED(OpLogicalNotEqual), [](bool a, bool b) { return a != b; }),
    floats<1>(NAMED(OpFNegate), [](auto a) { return -a; }),
    floats<2>(NAMED(OpFAdd), [](auto a, auto b) { return a + b; }),
    floats<2>(NAMED(OpFSub), [](auto a, auto b) { return a - b; }),
    floats<2>(NAMED(OpFMul), [](auto a, auto b) { return a * b; }),
    floats<2>(NAMED(OpFDiv), gpu_divide),
    floats<2>(NAMED(OpFRem), [](auto a, auto b) { return std::fmod(a, b); }),
    floats<2>(NAMED(OpFMod), float_modulo),
    floats<1, Result::truth>(NAMED(OpIsNan), [](auto a) { return std::isnan(a); }),
    floats<1, Result::truth>(NAMED(OpIsInf), [](auto a) { return std::isinf(a); }),
    floats<2, Result::truth>(NAMED(OpFOrdEqual), [](auto a, auto b) { return a == b; }),
    floats<2, Result::truth>(NAMED(OpFOrdNotEqual), [](auto a, auto b) { return a < b || a > b; }),
    floats<2, Result::truth>(NAMED(OpFOrdLessThan), [](auto a, auto b) { return a < b; }),
    floats<2, Result::truth>(NAMED(OpFOrdLessThanEqual), [](auto a, auto b) { return a <= b; }),
    floats<2, Result::truth>(NAMED(OpFOrdGreaterThan), [](auto a, auto b) { return a > b; }),
    floats<2, Result::truth>(NAMED(OpFOrdGreaterThanEqual), [](auto a, auto b) { return a >= b; }),
    floats<2, Result::truth>(NAMED(OpFUnordEqual), [](auto a, auto b) { return a == b || unordered(a, b); }),
    floats<2, Result::truth>(NAMED(OpFUnordNotEqual), [](auto a, auto b) { return a != b; }),
    floats<2, Result::truth>(NAMED(OpFUnordLessThan), [](auto a, auto b) { return !(a >= b); }),
    floats<2, Result::truth>(NAMED(OpFUnordLessThanEqual), [](auto a, auto b) { return !(a > b); }),
    floats<2, Result::truth>(NAMED(OpFUnordGreaterThan), [](auto a, auto b) { return !(a <= b); }),
    floats<2, Result::truth>(NAMED(OpFUnordGreaterThanEqual), [](auto a, auto b) { return !(a < b); }),
};
#undef NAMED

template <class Low, class High> Pair pair(Op op, Low, High)
{
    return {op, apply_2<Low, u32, u32, u32>, apply_2<High, u32, u32, u32>};
}
const std::array pair_table{
    pair(
        Op::OpUMulExtended, [](u32 a, u32 b) { return a * b; },
        [](u32 a, u32 b) { return u64{a} * b >> 32; }),
    pair(
        Op::OpSMulExtended, [](u32 a, u32 b) { return a * b; },
        [](u32 a, u32 b) { return static_cast<u64>(i64{static_cast<i32>(a)} * static_cast<i32>(b)) >> 32; }),
    pair(
        Op::OpIAddCarry, [](u32 a, u32 b) { return a + b; }, [](u32 a, u32 b) { return (u64{a} + b) >> 32; }),
    pair(
        Op::OpISubBorrow, [](u32 a, u32 b) { return a - b; }, [](u32 a, u32 b) { return a < b ? 1 : 0; }),
};

template <class T> void select(const Lanes& lanes, const Step& s)
{
    const u32* condition = lanes.at<const u32>(s.in[0]);
    const T *a = lanes.at<const T>(s.in[1]), *b = lanes.at<const T>(s.in[2]);
    T* out = lanes.at<T>(s.out);
    lanes.each([&](u32 lane) { out[lane] = condition[lane] != 0 ? a[lane] : b[lane]; });
}

struct Join {
    u64 operator()(u32 low, u32 high) const { return u64{high} << 32 | low; }
};
struct HighWord {
    u64 operator()(u64 v) const { return v >> 32; }
};

// Takes a value from another lane of the subgroup, which must be active.
template <class T> void shuffle(const Lanes& lanes, const Step& s)
{
    std::array<bool, 1024> active{};
    lanes.each([&](u32 lane) { active[lane] = true; });
    const T* from = lanes.at<const T>(s.in[0]);
    const u32* index = lanes.at<const u32>(s.in[1]);
    T* out = lanes.at<T>(s.out);
    lanes.each([&](u32 lane) {
        const u32 source = lane / s.extra * s.extra + index[lane];
        if (index[lane] >= s.extra || source >= lanes.size || !active[source])
            lanes.fail(lane, "takes a value from lane " + std::to_string(index[lane]) +
                                 " of its subgroup, which is not active");
        out[lane] = from[source];
    });
}

} // namespace

const Operation* find_operation(spv::Op op)
{
    const auto found = std::ranges::find(operation_table, op, &Operation::opcode);
    return found == operation_table.end() ? nullptr : &*found;
}

const Pair* find_pair(spv::Op op)
{
    const auto found = std::ranges::find(pair_table, op, &Pair::opcode);
    return found == pair_table.end() ? nullptr : &*found;
}

void copy_4(const Lanes& lanes, const Step& s) { apply_1<std::identity, u32, u32>(lanes, s); }
void copy_8(const Lanes& lanes, const Step& s) { apply_1<std::identity, u64, u64>(lanes, s); }
void select_4(const Lanes& lanes, const Step& s) { select<u32>(lanes, s); }
void select_8(const Lanes& lanes, const Step& s) { select<u64>(lanes, s); }
void join_words(const Lanes& lanes, const Step& s) { apply_2<Join, u64, u32, u32>(lanes, s); }
void low_word(const Lanes& lanes, const Step& s) { apply_1<std::identity, u32, u64>(lanes, s); }
void high_word(const Lanes& lanes, const Step& s) { apply_1<HighWord, u32, u64>(lanes, s); }
void logical_and(const Lanes& lanes, const Step& s) { apply_2<std::bit_and<>, u32, u32, u32>(lanes, s); }
void logical_or(const Lanes& lanes, const Step& s) { apply_2<std::bit_or<>, u32, u32, u32>(lanes, s); }
void subgroup_shuffle_4(const Lanes& lanes, const Step& s) { shuffle<u32>(lanes, s); }
void subgroup_shuffle_8(const Lanes& lanes, const Step& s) { shuffle<u64>(lanes, s); }

} // namespace reprise::simulator
