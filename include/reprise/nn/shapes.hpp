// Changes of shape.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

class Flatten : public Module {
public:
    explicit Flatten(std::int64_t from = 1, std::int64_t to = -1) : from_(from), to_(to) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t from_, to_;
};

// One dimension as several; one size may be -1.
class Unflatten : public Module {
public:
    Unflatten(std::int64_t dim, Shape unflattened_size) : dim_(dim), sizes_(std::move(unflattened_size)) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t dim_;
    Shape sizes_;
};

} // namespace reprise::nn
