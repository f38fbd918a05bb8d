// Linear maps.
#pragma once
#include <cstdint>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

struct LinearOptions {
    bool bias = true;
};
// x [..., in] -> x W^T + b [..., out].  Weight [out, in] and bias from U(-1, 1) / sqrt(in).
class Linear : public Module {
public:
    Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& = {});
    Tensor forward(Tensor x) override;
    Variable weight, bias; // bias undefined without one
};

} // namespace reprise::nn
