// Linear layers.
#pragma once
#include <cstdint>
#include <string>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

// Options of Linear.
struct LinearOptions {
    bool bias = true; // whether there is a bias
};
// x weight^T + bias: x [..., in] -> [..., out].  Throws Error(shape) where x's last size is not `in`, and
// Error(dtype) where x's dtype is not the weight's.
class Linear : public Module {
public:
    using Options = LinearOptions; // for make()
    using Module::Module;
    // Weight and bias are initialised uniformly from -b to b, b = 1 / sqrt(in_features).  Throws
    // Error(argument) for a size below 1.
    Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& = {});
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;
    Variable weight, // [out, in]
        bias;        // [out]; undefined without a bias
};

} // namespace reprise::nn
