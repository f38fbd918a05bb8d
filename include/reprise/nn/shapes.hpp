// Changes of shape.
#pragma once
#include <cstdint>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

class Flatten : public Module {
public:
    explicit Flatten(std::int64_t from = 1, std::int64_t to = -1) : from_(from), to_(to) {}
    Tensor forward(Tensor x) override;

private:
    std::int64_t from_, to_;
};

} // namespace reprise::nn
