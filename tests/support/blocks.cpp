#include "support/blocks.hpp"

#include <reprise/ops.hpp>

namespace reprise::test {

using nn::make;

std::shared_ptr<nn::Conv2d> convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                                        std::int64_t stride)
{
    return make<nn::Conv2d>(
        in, out,
        nn::Conv2d::Options{.kernel_size = kernel, .stride = stride, .padding = kernel / 2, .bias = false});
}

Residual::Residual(std::int64_t in, std::int64_t out, std::int64_t stride)
    : path_(convolution(in, out, 3, stride), make<nn::BatchNorm2d>(out), make<nn::ReLU>(),
            convolution(out, out, 3, 1), make<nn::BatchNorm2d>(out))
{
    register_module("path", path_);
    if (in == out && stride == 1) return;
    shortcut_.push_back(convolution(in, out, 1, stride));
    shortcut_.push_back(make<nn::BatchNorm2d>(out));
    register_module("shortcut", shortcut_);
}

Tensor Residual::forward(Tensor x) { return relu(path_(x) + shortcut_(x)); }

TransformerBlock::TransformerBlock(std::int64_t features, std::int64_t heads, double dropout)
    : features_(features), heads_(heads), dropout_(dropout), ln1_(features), ln2_(features),
      qkv_(features, 3 * features), proj_(features, features), up_(features, 4 * features),
      down_(4 * features, features)
{
    register_module("ln1", ln1_);
    register_module("qkv", qkv_);
    register_module("proj", proj_);
    register_module("ln2", ln2_);
    register_module("up", up_);
    register_module("down", down_);
}

Tensor TransformerBlock::forward(Tensor x)
{
    const Dim rows = x.size(0), length = x.size(1);
    const auto in =
        unbind(qkv_(ln1_(x)).view({rows, length, 3, heads_, features_ / heads_}).permute({2, 0, 3, 1, 4}));
    const Tensor a =
        scaled_dot_product_attention(in[0], in[1], in[2], {.dropout_p = dropout_, .is_causal = true});
    const Tensor mixed = proj_(a.transpose(1, 2).reshape({rows, length, features_}));
    x = x + (dropout_ > 0 ? dropout(mixed, dropout_) : mixed);
    return x + down_(gelu(up_(ln2_(x)), GeluApproximation::tanh));
}

} // namespace reprise::test
