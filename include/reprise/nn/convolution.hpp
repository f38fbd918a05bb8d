// Convolutions.
#pragma once
#include <cstdint>

#include <reprise/nn/module.hpp>
#include <reprise/nn/size.hpp>

namespace reprise::nn {

struct Conv2dOptions {
    Size2d kernel_size;
    Size2d stride = 1;
    Size2d padding = 0;
    bool bias = true;
};
// x [N, in, H, W] -> [N, out, H', W'].  Weight [out, in, kh, kw] and bias from U(-1, 1) / sqrt(in kh kw).
class Conv2d : public Module {
public:
    Conv2d(std::int64_t in_channels, std::int64_t out_channels, const Conv2dOptions&);
    Tensor forward(Tensor x) override;
    Variable weight, bias;

private:
    Size2d stride_, padding_;
};

} // namespace reprise::nn
