// The arguments of a launch by name.  cmake/RepriseRecords.cmake generates a structure of these types for each kernel
// (ops/records.hpp).  No member has a default, so that none can be left out.
#pragma once
#include <algorithm>
#include <array>
#include <initializer_list>
#include <ranges>
#include <utility>

#include "ops/lowering.hpp"

namespace reprise::ops::records {

// An operand that this variant of the kernel does not access; the view is arbitrary.
struct Absent {
    View view;
};

template <Use use> struct OperandOf {
    OperandOf(const View& v) : operand(v, use) {} // NOLINT(google-explicit-constructor)
    OperandOf(LaunchOperand o)
        : operand(std::move(o)) {} // NOLINT(google-explicit-constructor): with another use
    OperandOf(const Absent& a) : operand(a.view, use, true) {} // NOLINT(google-explicit-constructor)
    LaunchOperand operand;
};
using Input = OperandOf<Use::read>;
using Output = OperandOf<Use::write>;
using Update = OperandOf<Use::update>;

struct Float {
    Float(Scalar s) : value(std::move(s)) {} // NOLINT(google-explicit-constructor)
    Float(double v) : value(v) {}            // NOLINT(google-explicit-constructor)
    Scalar value;
};

struct Int {
    template <class T>
    requires std::convertible_to<T, Dim> Int(T v)
        : value(std::move(v)) {} // NOLINT(google-explicit-constructor)
    Dim value;
};

// A list of exactly N ints.
template <std::size_t N> struct Ints {
    template <std::ranges::sized_range R> Ints(const R& list) // NOLINT(google-explicit-constructor)
    {
        if (std::ranges::size(list) != N)
            detail::fail(ErrorKind::internal, "launch", "(", std::ranges::size(list), ") values for (", N,
                         ").");
        std::ranges::copy(list, values.begin());
    }
    const Dim& operator[](std::size_t i) const { return values[i]; }
    std::array<Dim, N> values;
};

struct List {
    List(DimVector v) : values(std::move(v)) {} // NOLINT(google-explicit-constructor)
    DimVector values;
};

// Returns the launch with these arguments; its kernel is `kernel` unless the spec names another variant.
LaunchSpec filled(LaunchSpec, const char* kernel, std::vector<LaunchOperand>, std::vector<Scalar> floats,
                  DimVector ints, std::initializer_list<const DimVector*> lists);

} // namespace reprise::ops::records
