// Modules that change the shape: views where strides allow, else copies.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

// Joins the dimensions `from` to `to` into one: x [N, C, H, W] -> [N, C H W] by default.
class Flatten : public Module {
public:
    REPRISE_LAYER(Flatten)
    using Module::Module;
    // For make() and options in braces.
    struct Options {
        std::int64_t start_dim = 1; // the first dimension to merge
        std::int64_t end_dim = -1;  // the last dimension to merge
    };
    explicit Flatten(const Options& o) : Flatten(o.start_dim, o.end_dim) {} // with these options
    // The first and the last of the dimensions, start_dim and end_dim in PyTorch; negative numbers count from
    // the end.
    explicit Flatten(std::int64_t from = 1, std::int64_t to = -1) : from_(from), to_(to) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t from_ = 1, to_ = -1;
};

// Splits dimension `dim` into several, of the sizes unflattened_size.  One size may be -1: it is computed
// from the others.
class Unflatten : public Module {
public:
    REPRISE_LAYER(Unflatten)
    using Module::Module;
    // A negative dim counts from the end.  Calls throw Error(argument) where there are no sizes, and
    // Error(shape) where their product is not the dimension's size.
    Unflatten(std::int64_t dim, Shape unflattened_size) : dim_(dim), sizes_(std::move(unflattened_size)) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t dim_ = 0;
    Shape sizes_;
};

} // namespace reprise::nn
