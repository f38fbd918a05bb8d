// Checks of gradients by central differences.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// The result of a check.
struct GradCheck {
    bool passed = false; // whether no error is above the tolerance
    double error = 0;    // the largest error |found - wanted| / (1 + |wanted|)
    // Describes the largest error: input, direction, both slopes and, on failure, the entry that differs
    // most.
    std::string message;
};
// Options of gradcheck() and gradgradcheck().
struct GradCheckOptions {
    int directions = 3;      // the number of random directions for each input
    double step = 1e-6;      // the step h of the differences (f(x + h d) - f(x - h d)) / (2 h)
    double tolerance = 1e-6; // the largest allowed |found - wanted| / (1 + |wanted|)
    std::uint64_t seed = 0;  // of the directions
    // On failure, searches the first 4096 entries of the input for the largest error, with two evaluations of
    // f for each.
    bool find_entry = true;
};
// Compares the gradient of f with central differences along random directions, in f64 on the reference
// device, at the values of the inputs; inputs of integers are not differentiated.  f returns one tensor, of
// any shape, and must be smooth within a step of the inputs.
GradCheck gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                    const std::vector<Tensor>& inputs, const GradCheckOptions& = {});
// Checks second derivatives: the derivatives of f's gradient with respect to the inputs and to
// the gradient of f's result (the last "input" of a message).
GradCheck gradgradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                        const std::vector<Tensor>& inputs, const GradCheckOptions& = {});

} // namespace reprise
