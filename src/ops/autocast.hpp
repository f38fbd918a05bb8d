// The lists of reprise::autocast.  A function is in a list if it begins with one of these lines, which call it again
// with other arguments:
//
//     if (const Autocast to = Autocast::low({&x, &weight}); to) return matmul(to(x), to(weight));
//     if (const Autocast to = Autocast::f32({&x}); to) return exp(to(x));
//     if (const Autocast to = Autocast::widest({&a, &b}); to) return dot(to(a), to(b));
//
// Autocast is off while the object exists, so ops that the function calls are in no list then.  A function that is in
// no list, but calls one that is, has a graph::NoAutocast.
#pragma once
#include <initializer_list>
#include <optional>
#include <span>

#include <reprise/tensor.hpp>

#include "graph/ambient.hpp"

namespace reprise::ops {

class Autocast {
public:
    using Arguments =
        std::initializer_list<const Tensor*>; // those that are cast; undefined ones have no effect
    static Autocast low(Arguments);           // casts f32, f16 and bf16 to the dtype of the guard
    static Autocast f32(Arguments);           // casts f16 and bf16 to f32
    // Casts to the widest of the arguments' dtypes and that of the guard.
    static Autocast widest(std::span<const Tensor* const>);
    static Autocast widest(Arguments all) { return widest(std::span(all.begin(), all.end())); }

    explicit operator bool() const
    {
        return to_.has_value();
    } // whether autocast is on, and casts such dtypes
    // Casts f32, f16 and bf16; returns other tensors, and undefined ones, as they are.
    Tensor operator()(const Tensor&) const;

private:
    explicit Autocast(std::optional<DType> to) : to_(to) {}
    std::optional<DType> to_;
    graph::NoAutocast off_;
};

} // namespace reprise::ops
