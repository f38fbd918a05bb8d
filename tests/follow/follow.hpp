// Training beside PyTorch's: models with weights by formula, and what PyTorch made of them.
// pytorch.safetensors comes from scripts/make_pytorch_fixture.py, which says what it holds.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <reprise/nn.hpp>
#include <reprise/ops.hpp>

namespace reprise::follow {

inline constexpr double gradient_tolerance = 3e-5; // of a parameter's largest entry

struct Cnn : nn::Module { // 421,642 parameters
    nn::Conv2d c1{1, 32, {.kernel_size = 3, .padding = 1}}, c2{32, 64, {.kernel_size = 3, .padding = 1}};
    nn::Linear f1{3136, 128}, f2{128, 10};
    Cnn();
    Tensor forward(Tensor x) override;
};

struct Mlp : nn::Module {
    nn::Linear a{784, 512}, b{512, 512}, c{512, 10};
    Mlp();
    Tensor forward(Tensor x) override;
};

struct Gpt : nn::Module { // of two rows of an image
    nn::Embedding tok{16, 32}, pos{60, 32};
    nn::Sequential blocks;
    nn::LayerNorm lnf{32};
    nn::Linear head{32, 10, {.bias = false}};
    Gpt();
    Tensor forward(Tensor x) override;
};

// The largest differences from PyTorch's figures in f32 and in f64; infinite where there is a NaN.
struct Difference {
    double from_f32 = 0, from_f64 = 0;
    double worst() const { return std::max(from_f32, from_f64); }
};

class Fixture {
public:
    Fixture();

    std::size_t steps() const { return batch_sizes_.size(); }
    std::pair<Tensor, Tensor> batch(
        std::size_t step) const; // pixels / 255 f32 [B, 1, 28, 28], labels i32 [B]

    Difference losses(const std::string& model, const std::vector<float>& found) const;
    // Of step 1, in units of each parameter's largest entry.
    Difference gradients(const std::string& model, const nn::Module&) const;

private:
    std::vector<double> numbers(const std::string& name) const;

    std::map<std::string, Tensor> tensors_;
    std::vector<std::int32_t> batch_sizes_;
};

} // namespace reprise::follow
