// Gradients against central differences.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

struct GradCheck {
    bool passed = false;
    double error = 0; // worst relative error seen
    // Of the worst: input, direction, both figures, and the entry of the input whose slope differs most.
    std::string message;
};
struct GradCheckOptions {
    int directions = 3; // random ones, for each input
    double step = 1e-6;
    double tolerance = 1e-6; // of |found - wanted| / (1 + |wanted|)
    std::uint64_t seed = 0;
    bool find_entry = true; // on failure name the worst entry: two evaluations of f for each entry
};
// Along random directions, in f64 on the reference device, at the values of the inputs; those of integers
// are given as they are.  f must be smooth within a step of there.  It gives one tensor: add up what should
// be checked together.
GradCheck gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                    const std::vector<Tensor>& inputs, const GradCheckOptions& = {});
// The same for the gradient of f: its derivatives by the inputs, and by the cotangent it starts from (the
// last "input" of a message).
GradCheck gradgradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                        const std::vector<Tensor>& inputs, const GradCheckOptions& = {});

} // namespace reprise
