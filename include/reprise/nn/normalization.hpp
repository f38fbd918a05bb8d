// Normalisations.
#pragma once
#include <cstdint>
#include <vector>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

struct BatchNorm2dOptions {
    double eps = 1e-5;
    double momentum = 0.1;
    bool affine = true; // a weight (ones) and a bias (zeros) to train
};
// x [N, C, H, W], each channel normalised: over the batch in training, by the running statistics in
// evaluation.
class BatchNorm2d : public Module {
public:
    explicit BatchNorm2d(std::int64_t channels, const BatchNorm2dOptions& = {});
    Tensor forward(Tensor x) override;
    Variable weight, bias; // ones and zeros, not registered, where `affine` is false
    Variable running_mean, running_var;

private:
    double eps_, momentum_;
};

struct LayerNormOptions {
    double eps = 1e-5;
    bool elementwise_affine = true; // a weight (ones) and a bias (zeros) to train
    bool bias = true;               // beside the weight
};
// Normalises over the last dimensions, whose sizes are normalized_shape.
class LayerNorm : public Module {
public:
    explicit LayerNorm(std::vector<std::int64_t> normalized_shape, const LayerNormOptions& = {});
    explicit LayerNorm(std::int64_t size, const LayerNormOptions& options = {})
        : LayerNorm(std::vector<std::int64_t>{size}, options)
    {}
    Tensor forward(Tensor x) override;
    Variable weight, bias; // undefined without them

private:
    Shape normalized_shape_;
    double eps_;
};

} // namespace reprise::nn
