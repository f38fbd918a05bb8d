// Modules that networks are built of, with PyTorch's names, defaults and initialisations.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/ops/elementwise.hpp>

namespace reprise::nn {

using StateDict = std::map<std::string, Tensor>;

// A tree of modules with their parameters and buffers.  Children that are members are held by address, so a
// module can't be copied or moved.
class Module {
public:
    Module() = default;
    virtual ~Module() = default;
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    Tensor operator()(Tensor x) { return forward(std::move(x)); }
    virtual Tensor forward(Tensor x); // Error(state) where it is not overridden

    // In order of registration, a module's own before its children's; one that has two names comes once.
    std::vector<Variable> parameters() const;
    std::vector<std::pair<std::string, Variable>> named_parameters() const; // "block.0.weight"
    std::vector<std::pair<std::string, Variable>> named_buffers() const;

    // The values that parameters and buffers have now; later training does not change them.
    StateDict state_dict() const;
    // Takes values over, from any device.  One Error tells all names and shapes that do not fit; nothing has
    // changed then.  Not strict: names that are missing or unexpected are passed over.
    void load_state_dict(const StateDict&, bool strict = true);

    // A program keeps the mode that it was recorded in.
    void train(bool on = true);
    void eval() { train(false); }
    bool is_training() const noexcept { return training_; }
    void zero_grad();

protected:
    Variable register_parameter(const std::string& name, Variable);
    Variable register_buffer(const std::string& name, Variable);
    void register_module(const std::string& name, Module&); // must live as long as this
    void register_module(const std::string& name, std::shared_ptr<Module>);

private:
    struct Child {
        std::string name;
        Module* module;
        std::shared_ptr<Module> owned; // null for members
    };
    using Named = std::vector<std::pair<std::string, Variable>>;
    void check_name(const char* op, const std::string& name) const;
    bool contains(const Module*) const;
    void collect(const std::string& prefix, Named Module::*list, Named& to) const;
    Named state() const;

    Named parameters_, buffers_;
    std::vector<Child> children_;
    bool training_ = true;
};

// Height and width: 3 or {3, 5}.
struct Size2d {
    Size2d(std::int64_t both) : height(both), width(both) {}
    Size2d(std::int64_t h, std::int64_t w) : height(h), width(w) {}
    std::array<std::int64_t, 2> array() const { return {height, width}; }
    std::int64_t height, width;
};

struct LinearOptions {
    bool bias = true;
};
// x [..., in] -> x W^T + b [..., out].  Weight [out, in] and bias from U(-1, 1) / sqrt(in).
class Linear : public Module {
public:
    Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& = {});
    Tensor forward(Tensor x) override;
    Variable weight, bias; // bias undefined without one
};

struct Conv2dOptions {
    Size2d kernel_size;
    Size2d stride = 1;
    Size2d padding = 0;
    bool bias = true;
};
// x [N, in, H, W] -> [N, out, H', W'].  Weight [out, in, kh, kw] and bias from U(-1, 1) / sqrt(in kh kw).
class Conv2d : public Module {
public:
    Conv2d(std::int64_t in_channels, std::int64_t out_channels, const Conv2dOptions&);
    Tensor forward(Tensor x) override;
    Variable weight, bias;

private:
    Size2d stride_, padding_;
};

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

struct EmbeddingOptions {
    std::optional<std::int64_t> padding_idx = std::nullopt; // of a row of zeros that is not trained
};
// indices (i32) [...] -> [..., embedding_dim].  Weight [num_embeddings, embedding_dim] from N(0, 1).
class Embedding : public Module {
public:
    Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingOptions& = {});
    Tensor forward(Tensor indices) override;
    Variable weight;

private:
    std::optional<std::int64_t> padding_idx_;
};

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

class ReLU : public Module {
public:
    Tensor forward(Tensor x) override;
};

class GELU : public Module {
public:
    explicit GELU(GeluApproximation approximate = GeluApproximation::none) : approximate_(approximate) {}
    Tensor forward(Tensor x) override;

private:
    GeluApproximation approximate_;
};

// In training, drops elements with probability p and scales the rest by 1 / (1 - p); else passes x on.
class Dropout : public Module {
public:
    explicit Dropout(double p = 0.5);
    Tensor forward(Tensor x) override;

private:
    double p_;
};

class Flatten : public Module {
public:
    explicit Flatten(std::int64_t from = 1, std::int64_t to = -1) : from_(from), to_(to) {}
    Tensor forward(Tensor x) override;

private:
    std::int64_t from_, to_;
};

template <class M, class... Arguments> std::shared_ptr<M> make(Arguments&&... arguments)
{
    return std::make_shared<M>(std::forward<Arguments>(arguments)...);
}

// One after the other: nn::Sequential net(nn::make<nn::Linear>(784, 128), nn::make<nn::ReLU>(), ...).
// The children are named "0", "1", ...
class Sequential : public Module {
public:
    template <class... Modules> explicit Sequential(std::shared_ptr<Modules>... children)
    {
        (push_back(std::move(children)), ...);
    }
    Tensor forward(Tensor x) override;
    void push_back(std::shared_ptr<Module>);
    std::size_t size() const noexcept { return modules_.size(); }
    Module& at(std::size_t index) const;

private:
    std::vector<std::shared_ptr<Module>> modules_;
};

} // namespace reprise::nn
