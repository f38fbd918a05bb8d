#include <reprise/nn/pooling.hpp>
#include <reprise/ops/pooling.hpp>

#include "nn/checks.hpp"

namespace reprise::nn {

MaxPool2d::MaxPool2d(Size2d kernel_size, const MaxPool2dOptions& options)
    : kernel_size_(kernel_size), stride_(options.stride), padding_(options.padding)
{
    check_at_least("MaxPool2d", "kernel_size", kernel_size, 1);
    check_at_least("MaxPool2d", "stride", stride_, 0);
    check_at_least("MaxPool2d", "padding", padding_, 0);
}

Tensor MaxPool2d::forward(Tensor x)
{
    return max_pool2d(
        x, {.kernel_size = kernel_size_.array(), .stride = stride_.array(), .padding = padding_.array()});
}

} // namespace reprise::nn
