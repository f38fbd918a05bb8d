// The recordings of RecomputationEngine, and the matching of their sizes with those of a call.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/dim.hpp>
#include <reprise/program.hpp>
#include <reprise/tensor.hpp>

namespace reprise::checkpointing {

using Defined = std::vector<bool>; // whether each tensor of a list is defined

Defined defined_of(const std::vector<Tensor>&);
std::vector<Tensor> without_undefined(const std::vector<Tensor>&);
std::vector<Tensor> with_undefined(const std::vector<Tensor>&, const Defined&); // reinserts undefined tensors

// The inputs of one recomputation. Programs take and return defined tensors only.
struct Call {
    explicit Call(const std::vector<Tensor>& all);

    std::vector<Tensor> inputs;
    Defined defined; // by input, including undefined ones
    Device device;
    std::vector<Spec> specs{};
};

struct Recording {
    Device device;
    Defined defined;
    std::vector<Spec> specs;
    Defined outputs_defined{}; // by output, including undefined ones
    Program program{};

    std::vector<Tensor> operator()(const Call&) const;
};

bool same_kind(const Recording&, const Call&); // whether they differ at most in sizes

// Pairs of a recorded size and the call's size where they differ; without duplicates.
using Differences = std::vector<std::pair<Dim, Dim>>;
Differences differences(const std::vector<Spec>& recorded, const std::vector<Spec>& given);
// Returns whether each recorded size that differs is a symbol with one value.
bool fits(const Recording&, const Call&);

// Replaces each difference by a symbol; sizes that are equal both in the recording and in the call share one symbol.
enum class Ones { symbols, numbers }; // how a size of 1 is recorded; a number if it broadcasts
std::vector<Spec> generalised(const std::vector<Spec>& recorded, const std::vector<Spec>& given, Ones);
std::size_t count_symbols(const std::vector<Spec>&); // counts repeated symbols repeatedly

} // namespace reprise::checkpointing
