// Gradients beyond Tensor::backward().
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// d(sum of outputs . cotangents)/d(inputs).  An input that no output depends on gives an undefined tensor
// where `allow_unused`, else Error(argument).  Without cotangents each output must have one element.
struct GradOptions {
    bool create_graph = false;
    bool retain_graph = false; // create_graph implies it
    bool allow_unused = false;
    std::vector<Tensor> cotangents;
};
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& = {});
Tensor grad(const Tensor& output, const Tensor& input, const GradOptions& = {});

bool grad_enabled();
// While it lives, ops on this thread record no gradients.
class no_grad {
public:
    no_grad();
    ~no_grad();
    no_grad(const no_grad&) = delete;
    no_grad& operator=(const no_grad&) = delete;

private:
    bool before_;
};

// Compares gradients with central differences along random directions, in f64 on the reference device.
struct GradCheck {
    bool passed = false;
    double error = 0;    // worst relative error seen
    std::string message; // input, direction and figures of the worst
};
struct GradCheckOptions {
    int directions = 3;
    double step = 1e-6;
    double tolerance = 1e-6;
    std::uint64_t seed = 0;
};
GradCheck gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                    const std::vector<Tensor>& inputs, const GradCheckOptions& = {});

} // namespace reprise
