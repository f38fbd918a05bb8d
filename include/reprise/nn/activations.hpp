// Activations.
#pragma once
#include <reprise/nn/module.hpp>
#include <reprise/ops/elementwise.hpp>

namespace reprise::nn {

class ReLU : public Module {
public:
    Tensor forward(Tensor x) override;
};

class GELU : public Module {
public:
    explicit GELU(GeluApproximation approximate = GeluApproximation::none) : approximate_(approximate) {}
    Tensor forward(Tensor x) override;

private:
    GeluApproximation approximate_;
};

} // namespace reprise::nn
