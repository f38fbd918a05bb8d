// The key of an evaluation in the cache of compiled graphs: its structure, which decides what its plan looks like.  Beside it
// stand the dynamic values, which may differ between two evaluations of one structure.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "eager/evaluation.hpp"
#include "graph/attributes.hpp"

namespace reprise::eager {

// What differs.
struct DynamicValues {
    std::vector<std::int64_t> sizes; // of attributes, node by node; then of externals, slot by slot
    std::size_t attribute_sizes = 0; // how many of them are of attributes
    std::vector<double> numbers;     // of nodes that are one floating number everywhere
    // Where random ops draw: each as far behind the first as the structure says.
    std::int64_t seed_low = 0, seed_high = 0, ordinal = 0;
};

struct GraphKey {
    std::vector<std::uint64_t> structure;
    std::size_t hash = 0;
    bool plain = true; // false: not to be compared with others
    DynamicValues values;
};

void make_key(const Evaluation&, GraphKey&); // whose memory is used again

// Whether `visit_attribute` sees a number that may differ between evaluations.
bool is_open_number(const graph::Node&);

// Visits the parts of an attribute, in the same order for the key and for the graph that is built of one.  The visitor has word(n),
// size(Dim&), number(double&), source(std::shared_ptr<const HostScalar>&), kernel(std::shared_ptr<const UserKernel>&), and
// of a random op's state seed_low(Dim&), seed_high(Dim&) and ordinal(Dim&).
template <class Attribute, class Visitor>
void visit_attribute(const char* name, Attribute& attribute, bool open_number, Visitor& visitor)
{
    const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
    visitor.word(attribute.index());
    std::visit(
        [&](auto& v) {
            using T = std::remove_cvref_t<decltype(v)>;
            if constexpr (std::is_same_v<T, Dim>) {
                if (is("ordinal")) visitor.ordinal(v);
                else if (is("seed_low")) visitor.seed_low(v);
                else if (is("seed_high")) visitor.seed_high(v);
                else visitor.size(v);
            } else if constexpr (std::is_same_v<T, Shape>) {
                visitor.word(v.size());
                for (auto& d : v) visitor.size(d);
            } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
                visitor.word(v.size());
                for (const std::int64_t i : v) visitor.word(static_cast<std::uint64_t>(i));
            } else if constexpr (std::is_same_v<T, double>) {
                if (open_number && is("value")) visitor.number(v);
                else visitor.word(std::bit_cast<std::uint64_t>(v));
            } else if constexpr (std::is_same_v<T, std::shared_ptr<const graph::HostScalar>>) {
                visitor.source(v);
            } else if constexpr (std::is_same_v<T, std::shared_ptr<const graph::UserKernel>>) {
                visitor.kernel(v);
            } else visitor.word(static_cast<std::uint64_t>(v));
        },
        attribute);
}

} // namespace reprise::eager
