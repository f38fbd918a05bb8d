// Parts of networks that several tests are made of.
#pragma once
#include <cstdint>

#include <reprise/nn.hpp>

namespace reprise::test {

// [N, in, H, W] -> [N, out, H / stride, W / stride]: two convolutions with batch norm beside a shortcut.
class Residual : public nn::Module {
public:
    Residual(std::int64_t in, std::int64_t out, std::int64_t stride);
    Tensor forward(Tensor x) override;

private:
    nn::Sequential path_, shortcut_;
};

// [N, T, features] -> the same: causal attention and a multilayer perceptron, each with a norm before it and added to its
// input; with a probability of dropout in both where it is not 0.
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

// A convolution without bias that keeps the size but for the stride.
std::shared_ptr<nn::Conv2d> convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                                        std::int64_t stride);

} // namespace reprise::test
