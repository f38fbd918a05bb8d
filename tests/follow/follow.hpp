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
#include <reprise/program.hpp>

#include "../../samples/common/bert.hpp"

namespace reprise::follow {

inline constexpr double gradient_tolerance = 3e-5; // of a parameter's largest entry
inline constexpr std::uint64_t draws = 2024;       // the seed of what a training draws

class Fixture;

// A model with what it is trained on: classes of images, unless it says otherwise.
struct Model : nn::Module {
    virtual std::vector<Spec> specs(const Dim& batch) const; // of a step's inputs
    virtual std::vector<Tensor> batch(const Fixture&, std::size_t step) const;
    virtual Tensor loss(const std::vector<Tensor>& batch);
};

// U(-1, 1) in the bits of the script: 24 bits make an exact f32.
std::vector<float> numbers(std::uint32_t stream, std::size_t count);
// By these numbers, over the root of the fan-in.
void set_weights(const nn::Module&);

struct Cnn : Model { // 421,642 parameters
    nn::Conv2d c1{1, 32, {.kernel_size = 3, .padding = 1}}, c2{32, 64, {.kernel_size = 3, .padding = 1}};
    nn::Linear f1{3136, 128}, f2{128, 10};
    Cnn();
    Tensor forward(Tensor x) override;
};

struct Mlp : Model {
    nn::Linear a{784, 512}, b{512, 512}, c{512, 10};
    Mlp();
    Tensor forward(Tensor x) override;
};

struct Gpt : Model { // of two rows of an image, 4 layers
    nn::Embedding tok{16, 32}, pos{60, 32};
    nn::Sequential blocks;
    nn::LayerNorm lnf{32};
    nn::Linear head{32, 10, {.bias = false}};
    Gpt();
    Tensor forward(Tensor x) override;
};

struct Bert : Model { // of two rows of an image, as texts of 20 to 50 tokens
    bert::Classifier net;
    Bert();
    Tensor forward(Tensor x) override;
};

struct ResNet8 : Model {
    nn::Conv2d stem{1, 8, {.kernel_size = 3, .stride = 2, .padding = 1, .bias = false}};
    nn::BatchNorm2d norm{8};
    nn::Sequential blocks;
    nn::Linear head{32, 10};
    ResNet8();
    Tensor forward(Tensor x) override;
};

struct Lstm : Model { // made of ops; 14 rows of an image, one a step
    nn::Linear input{28, 64}, state{16, 64, {.bias = false}}, head{16, 10};
    Lstm();
    Tensor forward(Tensor x) override;
};

struct VideoNet : Model { // of clips [B, 1, 5, 20, 20]: a camera that moves across an image
    nn::Conv3d c1{1, 8, {.kernel_size = 3, .stride = {1, 2, 2}, .padding = 1, .bias = false}};
    nn::BatchNorm3d n1{8};
    nn::Conv3d c2{8, 16, {.kernel_size = 3, .stride = 2, .padding = 1}},
        c3{16, 16, {.kernel_size = {3, 1, 1}}};
    nn::Linear head{16, 10};
    VideoNet();
    Tensor forward(Tensor x) override;
};

// Predicts the noise in latents [B, 4, size, size].
struct Diffusion : Model {
    std::int64_t size;
    explicit Diffusion(std::int64_t size_of_latents) : size(size_of_latents) {}
    std::vector<Spec> specs(const Dim& batch) const override;
    std::vector<Tensor> batch(const Fixture&, std::size_t step) const override;
};

struct Denoiser : Diffusion {
    nn::Sequential layers;
    explicit Denoiser(const std::vector<std::int64_t>& channels = {4, 64, 128, 64, 4},
                      std::int64_t size_of_latents = 32);
    Tensor forward(Tensor x) override;
    Tensor loss(const std::vector<Tensor>& batch) override;
};
struct PlainDenoiser : Denoiser {
    PlainDenoiser() : Denoiser({4, 64, 128, 4}, 16) {}
};

struct TimedDenoiser : Diffusion { // and is told how noisy each is, which is drawn
    nn::Embedding time{50, 32};
    nn::Conv2d a{4, 32, {.kernel_size = 3, .padding = 1}}, b{32, 4, {.kernel_size = 3, .padding = 1}};
    TimedDenoiser();
    Tensor forward(Tensor x) override; // without noise
    Tensor at(const Tensor& x, const Tensor& time);
    Tensor loss(const std::vector<Tensor>& batch) override;
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
    std::int64_t batch_size(std::size_t step) const { return batch_sizes_.at(step); }
    std::pair<Tensor, Tensor> batch(
        std::size_t step) const; // pixels / 255 f32 [B, 1, 28, 28], labels i32 [B]

    Difference losses(const std::string& run, const std::vector<float>& found) const; // as many as were found
    double relative_error(const std::string& run, const std::vector<float>& losses) const; // from its f64
    double own_error(const std::string& run) const; // of PyTorch's f32 losses from its f64
    // Of step 1, in units of each parameter's largest entry.
    Difference gradients(const std::string& model, const nn::Module&) const;

    // The largest differences from PyTorch's figures with autocast, from its f32, and between these two.
    struct FromAutocast {
        double found = 0, from_f32 = 0, own = 0;
    };
    FromAutocast losses_from_autocast(const std::string& run, const std::vector<float>&) const; // relative
    FromAutocast gradients_from_autocast(const std::string& model, const nn::Module&) const; // as gradients()

private:
    std::vector<double> numbers(const std::string& name) const;

    std::map<std::string, Tensor> tensors_;
    std::vector<std::int32_t> batch_sizes_;
};

} // namespace reprise::follow
