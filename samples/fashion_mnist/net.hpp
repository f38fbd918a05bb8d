// The network: two convolutions and two linear layers, 421,642 parameters.
#pragma once
#include <reprise/reprise.hpp>

namespace rp = reprise;
namespace nn = reprise::nn;

struct Net : nn::Module {
    nn::Conv2d conv1{1, 32, {.kernel_size = 3, .padding = 1}};
    nn::Conv2d conv2{32, 64, {.kernel_size = 3, .padding = 1}};
    nn::Linear fc1{64 * 7 * 7, 128};
    nn::Linear fc2{128, 10};

    Net()
    {
        register_module("conv1", conv1);
        register_module("conv2", conv2);
        register_module("fc1", fc1);
        register_module("fc2", fc2);
    }

    rp::Tensor forward(rp::Tensor x) override // [N, 1, 28, 28] -> logits [N, 10]
    {
        x = rp::max_pool2d(rp::relu(conv1(x)), 2);
        x = rp::max_pool2d(rp::relu(conv2(x)), 2);
        return fc2(rp::relu(fc1(rp::flatten(x, 1))));
    }
};
