// Parts of networks that several tests share.
#pragma once
#include <cstdint>

#include <reprise/nn.hpp>

namespace reprise::test {

// Residual block, [N, in, H, W] -> [N, out, H / stride, W / stride]: two convolutions with batch norm and a shortcut.
class Residual : public nn::Module {
public:
    Residual(std::int64_t in, std::int64_t out, std::int64_t stride);
    Tensor forward(Tensor x) override;

private:
    nn::Sequential path_, shortcut_;
};

// A pre-norm transformer block, [N, T, features] -> the same: causal attention and a multilayer perceptron, each with a
// layer norm before it and a residual connection.  `dropout` applies to the attention's weights and output.
class TransformerBlock : public nn::Module {
public:
    TransformerBlock(std::int64_t features, std::int64_t heads, double dropout = 0);
    Tensor forward(Tensor x) override;

private:
    std::int64_t features_, heads_;
    double dropout_;
    nn::LayerNorm ln1_, ln2_;
    nn::Linear qkv_, proj_, up_, down_;
};

// A convolution without bias, padded so that only the stride changes the size.
std::shared_ptr<nn::Conv2d> convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                                        std::int64_t stride);

} // namespace reprise::test
