#include <reprise/nn/convolution.hpp>
#include <reprise/ops/convolution.hpp>

#include "nn/checks.hpp"
#include "nn/init.hpp"

namespace reprise::nn {

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, const Conv2dOptions& options)
    : stride_(options.stride), padding_(options.padding)
{
    const Size2d kernel = options.kernel_size;
    check_at_least("Conv2d", "number of input channels", in_channels, 1);
    check_at_least("Conv2d", "number of output channels", out_channels, 1);
    check_at_least("Conv2d", "kernel_size", kernel, 1);
    check_at_least("Conv2d", "stride", stride_, 1);
    check_at_least("Conv2d", "padding", padding_, 0);
    const std::int64_t fan_in = in_channels * kernel.height * kernel.width;
    weight = register_parameter(
        "weight", uniform_by_fan_in({out_channels, in_channels, kernel.height, kernel.width}, fan_in));
    if (options.bias) bias = register_parameter("bias", uniform_by_fan_in({out_channels}, fan_in));
}

Tensor Conv2d::forward(Tensor x)
{
    return conv2d(x, weight, bias, {.stride = stride_.array(), .padding = padding_.array()});
}

} // namespace reprise::nn
