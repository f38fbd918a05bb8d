// Pooling.
#pragma once
#include <cstdint>

#include <reprise/nn/module.hpp>
#include <reprise/nn/size.hpp>

namespace reprise::nn {

struct MaxPool2dOptions {
    Size2d stride = 0; // 0: the kernel's size
    Size2d padding = 0;
};
class MaxPool2d : public Module {
public:
    explicit MaxPool2d(Size2d kernel_size, const MaxPool2dOptions& = {});
    Tensor forward(Tensor x) override;

private:
    Size2d kernel_size_, stride_, padding_;
};

} // namespace reprise::nn
