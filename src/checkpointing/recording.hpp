// What RecomputationEngine records, and for which sizes.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/dim.hpp>
#include <reprise/program.hpp>
#include <reprise/tensor.hpp>

namespace reprise::checkpointing {

using Defined = std::vector<bool>; // of a list of tensors

Defined defined_of(const std::vector<Tensor>&);
std::vector<Tensor> without_undefined(const std::vector<Tensor>&);
std::vector<Tensor> with_undefined(const std::vector<Tensor>&, const Defined&); // back where they were

// Programs take and give tensors that are defined.
struct Call {
    explicit Call(const std::vector<Tensor>& all);

    std::vector<Tensor> inputs;
    Defined defined; // of all inputs
    Device device;
    std::vector<Spec> specs{};
};

struct Recording {
    Device device;
    Defined defined;
    std::vector<Spec> specs;
    Defined gives{}; // of all outputs
    Program program{};

    std::vector<Tensor> operator()(const Call&) const;
};

bool same_kind(const Recording&, const Call&); // whether they differ in sizes only

// What the recorded sizes are at a call, where they differ from it; each once.
using Differences = std::vector<std::pair<Dim, Dim>>;
Differences differences(const std::vector<Spec>& recorded, const std::vector<Spec>& given);
bool fits(const Recording&, const Call&); // all differences are symbols, each with one size

// A symbol for each difference: sizes that were equal and are equal now stay one.
enum class Ones { symbols, numbers }; // what a given 1 becomes: what broadcasts is a number
std::vector<Spec> generalised(const std::vector<Spec>& recorded, const std::vector<Spec>& given, Ones);
std::size_t count_symbols(const std::vector<Spec>&); // each as often as it stands there

} // namespace reprise::checkpointing
