#include "support/training.hpp"

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/random.hpp>

#include "support/blocks.hpp"

namespace reprise::test {

using nn::make;

const char* name_of(Net n)
{
    switch (n) {
    case Net::mlp: return "mlp";
    case Net::cnn: return "cnn";
    case Net::normalised: return "normalised";
    case Net::residual: return "residual";
    }
    return "?";
}

Training::Training(Net kind, std::uint64_t seed)
{
    const GeneratorState before = generator_state();
    manual_seed(seed);
    switch (kind) {
    case Net::mlp:
        example_ = {20};
        net.push_back(make<nn::Linear>(20, 16));
        net.push_back(make<nn::ReLU>());
        net.push_back(make<nn::Linear>(16, classes));
        break;
    case Net::cnn:
        example_ = {1, 8, 8};
        net.push_back(make<nn::Conv2d>(1, 4, nn::Conv2d::Options{.kernel_size = 3, .padding = 1}));
        net.push_back(make<nn::ReLU>());
        net.push_back(make<nn::MaxPool2d>(2));
        net.push_back(make<nn::Conv2d>(4, 6, nn::Conv2d::Options{.kernel_size = 3, .padding = 1}));
        net.push_back(make<nn::ReLU>());
        net.push_back(make<nn::MaxPool2d>(2));
        net.push_back(make<nn::Flatten>());
        net.push_back(make<nn::Linear>(24, classes));
        break;
    case Net::normalised:
        example_ = {2, 5, 6};
        net.push_back(make<nn::Conv2d>(2, 3, nn::Conv2d::Options{.kernel_size = 3}));
        net.push_back(make<nn::BatchNorm2d>(3));
        net.push_back(make<nn::ReLU>());
        net.push_back(make<nn::Dropout>(0.25));
        net.push_back(make<nn::Flatten>());
        net.push_back(make<nn::Linear>(36, classes));
        break;
    case Net::residual:
        example_ = {3, 8, 8};
        net.push_back(convolution(3, 4, 3, 1));
        net.push_back(make<nn::BatchNorm2d>(4));
        net.push_back(make<nn::ReLU>());
        net.push_back(make<Residual>(4, 4, 1));
        net.push_back(make<Residual>(4, 6, 2));
        net.push_back(make<Residual>(6, 8, 2));
        net.push_back(make<nn::Flatten>());
        net.push_back(make<nn::Linear>(32, classes));
        break;
    }
    net.state_dict(); // creates the initial values, from this seed
    for (const Variable& p : net.parameters()) p.eval();
    set_generator_state(before);
    if (kind == Net::cnn)
        optimizer = std::make_unique<optim::Adam>(net.parameters(), optim::Adam::Options{.lr = 0.01});
    else
        optimizer = std::make_unique<optim::SGD>(
            net.parameters(), optim::SGD::Options{.lr = 0.1,
                                                  .momentum = 0.9,
                                                  .weight_decay = kind == Net::normalised ? 0.01 : 0});
}

Tensor Training::loss(const Tensor& x, const Tensor& target) { return cross_entropy(net(x), target); }

Tensor Training::step(const Tensor& x, const Tensor& target)
{
    const Tensor value = loss(x, target);
    optimizer->zero_grad();
    value.backward();
    optimizer->step();
    return value;
}

std::vector<Spec> Training::specs(const Dim& batch) const
{
    Shape shape{batch};
    shape.insert(shape.end(), example_.begin(), example_.end());
    return {spec(shape), spec({batch}, i32)};
}

Program Training::recorded(const Dim& batch, const RecordOptions& options)
{
    return record([this](Tensor x, Tensor target) { return step(x, target); }, specs(batch), options);
}

std::pair<Tensor, Tensor> Training::batch(std::int64_t size, std::uint64_t seed) const
{
    Shape shape = specs(Dim(size))[0].shape;
    return {random_tensor(shape, seed),
            from_vector(integers(static_cast<std::size_t>(size), seed + 1000, 0, classes - 1), {size})};
}

std::vector<Bits> Training::state() const
{
    std::vector<Bits> out;
    for (const auto& [name, tensor] : net.state_dict()) out.push_back(bits(tensor));
    for (const auto& [name, tensor] : optimizer->state_dict())
        if (tensor.numel().value() > 0) out.push_back(bits(tensor));
    return out;
}

} // namespace reprise::test
