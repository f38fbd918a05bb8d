// The key of an evaluation in the graph cache: its structure, which decides its plan.  With it are the dynamic values,
// which may differ between evaluations of one structure.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "eager/evaluation.hpp"
#include "graph/attributes.hpp"

namespace reprise::eager {

// The attributes of random ops that determine their random numbers.
inline constexpr std::array draws = {"seed_low", "seed_high", "ordinal"};

// The values of one evaluation that are not part of its structure.
struct DynamicValues {
    std::vector<std::int64_t> sizes;    // sizes in attributes, node by node; then of externals, slot by slot
    std::size_t attribute_sizes = 0;    // number of sizes in attributes
    std::vector<std::uint64_t> numbers; // bits of the floating splat constants
    // Seed and ordinal of the first random op, by index in `draws`.  The structure has the offsets of the others.
    std::array<std::int64_t, draws.size()> drawn{};
};

struct GraphKey {
    std::vector<std::uint64_t> structure;
    bool plain = true; // false: the evaluation can't be cached
    DynamicValues values;
};

void make_key(const Evaluation&, GraphKey&); // reuses the memory of the key

// Whether the node is a floating splat constant, whose value may differ between evaluations.
bool is_dynamic_number(const graph::Node&);

// Visits the parts of an attribute, in the same order for the key and for the compiled graph.  The visitor has word(n),
// size(Dim&), number(double&), source(std::shared_ptr<const HostScalar>&), kernel(std::shared_ptr<const UserKernel>&),
// host_call(std::shared_ptr<const HostCall>&), and drawn(index in `draws`, Dim&) for a random op's seed and ordinal.
template <class Attribute, class Visitor>
void visit_attribute(const char* name, Attribute& attribute, bool dynamic_number, Visitor& visitor)
{
    const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
    visitor.word(attribute.index());
    std::visit(
        [&](auto& v) {
            using T = std::remove_cvref_t<decltype(v)>;
            if constexpr (std::is_same_v<T, Dim>) {
                const auto draw = std::find_if(draws.begin(), draws.end(), is);
                if (draw != draws.end()) visitor.drawn(static_cast<std::size_t>(draw - draws.begin()), v);
                else visitor.size(v);
            } else if constexpr (std::is_same_v<T, Shape>) {
                visitor.word(v.size());
                for (auto& d : v) visitor.size(d);
            } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
                visitor.word(v.size());
                for (const std::int64_t i : v) visitor.word(static_cast<std::uint64_t>(i));
            } else if constexpr (std::is_same_v<T, double>) {
                if (dynamic_number && is("value")) visitor.number(v);
                else visitor.word(std::bit_cast<std::uint64_t>(v));
            } else if constexpr (std::is_same_v<T, std::shared_ptr<const graph::HostScalar>>) {
                visitor.source(v);
            } else if constexpr (std::is_same_v<T, std::shared_ptr<const graph::UserKernel>>) {
                visitor.kernel(v);
            } else if constexpr (std::is_same_v<T, std::shared_ptr<const graph::HostCall>>) {
                visitor.host_call(v);
            } else visitor.word(static_cast<std::uint64_t>(v));
        },
        attribute);
}

} // namespace reprise::eager
