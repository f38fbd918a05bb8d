// Dropout.
#pragma once
#include <reprise/nn/module.hpp>

namespace reprise::nn {

// In training, drops elements with probability p and scales the rest by 1 / (1 - p); else passes x on.
class Dropout : public Module {
public:
    explicit Dropout(double p = 0.5);
    Tensor forward(Tensor x) override;

private:
    double p_;
};

} // namespace reprise::nn
