// What an evaluation asks for, taken apart: its structure, which decides what a plan of it looks like, and what may differ
// between two of one structure.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "graph/attributes.hpp"
#include "program/evaluation.hpp"

namespace reprise::program {

// What differs.
struct Figures {
    std::vector<std::int64_t> sizes; // of attributes, node by node; then of externals, slot by slot
    std::size_t attribute_sizes = 0; // how many of them are of attributes
    std::vector<double> numbers;     // of nodes that are one floating number everywhere
    // Where random ops draw: each as far behind the first as the structure says.
    std::int64_t seed_low = 0, seed_high = 0, ordinal = 0;
};

struct Form {
    std::vector<std::uint64_t> structure;
    std::size_t hash = 0;
    bool plain = true; // false: not to be compared with others
    Figures figures;
};

void make_form(const Evaluation&, Form&); // whose memory is used again

// Whether `take_apart` sees a number that may differ between evaluations.
bool is_open_number(const graph::Node&);

// An attribute's parts, in one order for who takes a form apart and who makes a graph of one.  The taker has word(n),
// size(Dim&), number(double&), source(std::shared_ptr<const HostScalar>&), kernel(std::shared_ptr<const UserKernel>&), and
// of a random op's state seed_low(Dim&), seed_high(Dim&) and ordinal(Dim&).
template <class Attribute, class Taker>
void take_apart(const char* name, Attribute& attribute, bool open_number, Taker& taker)
{
    const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
    taker.word(attribute.index());
    std::visit(
        [&](auto& v) {
            using T = std::remove_cvref_t<decltype(v)>;
            if constexpr (std::is_same_v<T, Dim>) {
                if (is("ordinal")) taker.ordinal(v);
                else if (is("seed_low")) taker.seed_low(v);
                else if (is("seed_high")) taker.seed_high(v);
                else taker.size(v);
            } else if constexpr (std::is_same_v<T, graph::Sizes>) {
                taker.word(v.size());
                for (auto& d : v) taker.size(d);
            } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
                taker.word(v.size());
                for (const std::int64_t i : v) taker.word(static_cast<std::uint64_t>(i));
            } else if constexpr (std::is_same_v<T, double>) {
                if (open_number && is("value")) taker.number(v);
                else taker.word(std::bit_cast<std::uint64_t>(v));
            } else if constexpr (std::is_same_v<T, std::shared_ptr<const graph::HostScalar>>) {
                taker.source(v);
            } else if constexpr (std::is_same_v<T, std::shared_ptr<const graph::UserKernel>>) {
                taker.kernel(v);
            } else taker.word(static_cast<std::uint64_t>(v));
        },
        attribute);
}

} // namespace reprise::program
