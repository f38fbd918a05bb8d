// The registers of a workgroup, and the steps that compute on them.
//
// A register holds one scalar of every lane (invocation), lane after lane: 4 bytes each, or 8 for scalars of 64 bits
// and addresses.  Booleans are 0 or 1, and integers of 16 bits are extended with zeros.  A step is one operation on
// scalars, done for all active lanes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace reprise::simulator {

// The types of scalars; offsets are those of pointers to memory of the workgroup or of one lane.
enum class Scalar : std::uint8_t { boolean, i16, i32, i64, f16, f32, f64, address };
constexpr std::size_t scalar_types = 8;

constexpr bool is_wide(Scalar s) { return s == Scalar::i64 || s == Scalar::f64 || s == Scalar::address; }
constexpr std::uint32_t register_bytes(Scalar s) { return is_wide(s) ? 8 : 4; } // of one lane
// Bytes in memory.
constexpr std::uint32_t bytes_of(Scalar s)
{
    return is_wide(s) ? 8 : s == Scalar::i16 || s == Scalar::f16 ? 2 : 4;
}

// The first byte of a register in the file of registers.
using Slot = std::uint32_t;

class Group;

// The lanes for which steps run.
struct Lanes {
    std::byte* registers = nullptr;
    std::uint32_t size = 0;              // of the workgroup
    const std::uint16_t* list = nullptr; // the active lanes, ascending
    std::uint32_t count = 0;             // of active lanes
    Group* group = nullptr;              // null while constants are computed

    template <class T> T* at(Slot slot) const { return reinterpret_cast<T*>(registers + slot); }
    // Calls f(lane) for each active lane.
    template <class F> void each(const F& f) const
    {
        if (count == size)
            for (std::uint32_t lane = 0; lane < size; ++lane) f(lane);
        else
            for (std::uint32_t i = 0; i < count; ++i) f(static_cast<std::uint32_t>(list[i]));
    }
    // Throws an error that names the kernel and the lane.
    [[noreturn]] void fail(std::uint32_t lane, const std::string& what) const;
};

struct Step {
    using Function = void (*)(const Lanes&, const Step&);
    Function run = nullptr;
    Slot out = 0;
    Slot in[4] = {};
    std::uint32_t extra = 0; // an index or a number, depending on the function
    std::uint32_t id = 0;    // of the instruction's result in the module, for errors; 0: it has none
};

// How a scalar of type T is held in a register.
template <class T> using Held = std::conditional_t<(sizeof(T) < 4), std::uint32_t, T>;
template <class T> constexpr Held<T> held(T value)
{
    if constexpr (std::is_same_v<T, bool>) return value ? 1 : 0;
    else if constexpr (sizeof(T) < 4)
        return static_cast<std::make_unsigned_t<T>>(value); // extends with zeros
    else return value;
}

// Runs a function without state, of type F, on scalars of the types In, with a result of type Out.
template <class F, class Out, class A> void apply_1(const Lanes& lanes, const Step& s)
{
    Held<Out>* const out = lanes.at<Held<Out>>(s.out);
    const Held<A>* const a = lanes.at<const Held<A>>(s.in[0]);
    lanes.each(
        [=](std::uint32_t lane) { out[lane] = held<Out>(static_cast<Out>(F()(static_cast<A>(a[lane])))); });
}
template <class F, class Out, class A, class B> void apply_2(const Lanes& lanes, const Step& s)
{
    Held<Out>* const out = lanes.at<Held<Out>>(s.out);
    const Held<A>* const a = lanes.at<const Held<A>>(s.in[0]);
    const Held<B>* const b = lanes.at<const Held<B>>(s.in[1]);
    lanes.each([=](std::uint32_t lane) {
        out[lane] = held<Out>(static_cast<Out>(F()(static_cast<A>(a[lane]), static_cast<B>(b[lane]))));
    });
}
template <class F, class T> void apply_3(const Lanes& lanes, const Step& s)
{
    Held<T>* const out = lanes.at<Held<T>>(s.out);
    const Held<T>*const a = lanes.at<const Held<T>>(s.in[0]), *const b = lanes.at<const Held<T>>(s.in[1]),
                        *const c = lanes.at<const Held<T>>(s.in[2]);
    lanes.each([=](std::uint32_t lane) {
        out[lane] = held<T>(
            static_cast<T>(F()(static_cast<T>(a[lane]), static_cast<T>(b[lane]), static_cast<T>(c[lane]))));
    });
}

} // namespace reprise::simulator
