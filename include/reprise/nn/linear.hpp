// Linear maps.
#pragma once
#include <cstdint>
#include <string>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

struct LinearOptions {
    bool bias = true;
};
// x [..., in] -> x W^T + b [..., out].  Weight [out, in] and bias from U(-1, 1) / sqrt(in).
class Linear : public Module {
public:
    using Options = LinearOptions;
    using Module::Module;
    Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& = {});
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;
    Variable weight, bias; // bias undefined without one
};

} // namespace reprise::nn
