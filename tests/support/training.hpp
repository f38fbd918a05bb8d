// Small networks with an optimizer and data.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <reprise/nn.hpp>
#include <reprise/optim.hpp>
#include <reprise/program.hpp>

#include "testing/values.hpp"

namespace reprise::test {

enum class Net {
    mlp,        // linear, relu, linear; SGD with momentum
    cnn,        // twice convolution, relu, pooling; linear; Adam
    normalised, // convolution, batch norm, relu, dropout, linear; SGD with momentum and weight decay
    residual,   // ResNet-8 with few channels; SGD with momentum
};
inline const std::vector<Net> all_nets = {Net::mlp, Net::cnn, Net::normalised};
inline const std::vector<Net> nets_with_residual = {Net::mlp, Net::cnn, Net::normalised, Net::residual};
const char* name_of(Net);

class Training {
public:
    // Creates the network on the default device.  Equal seeds give equal initial values.
    explicit Training(Net, std::uint64_t seed = 1);

    Tensor loss(const Tensor& x, const Tensor& target);
    Tensor step(const Tensor& x, const Tensor& target); // returns the loss
    Program recorded(const Dim& batch, const RecordOptions& = {});
    std::vector<Spec> specs(const Dim& batch) const;

    std::pair<Tensor, Tensor> batch(std::int64_t size, std::uint64_t seed) const;

    // Returns the bits of parameters, running statistics and moments.
    std::vector<Bits> state() const;

    nn::Sequential net;
    std::unique_ptr<optim::Optimizer> optimizer;

private:
    Shape example_;
};

inline constexpr std::int64_t classes = 5;

} // namespace reprise::test
