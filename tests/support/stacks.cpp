#include "support/stacks.hpp"

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "support/blocks.hpp"

namespace reprise::test {

using nn::make;

namespace {

std::shared_ptr<nn::Module> sequence(std::vector<std::shared_ptr<nn::Module>> modules)
{
    const auto s = make<nn::Sequential>();
    for (auto& m : modules) s->push_back(std::move(m));
    return s;
}

} // namespace

const std::vector<Stack>& stacks()
{
    static const std::vector<Stack> all = {
        {"mlp",
         {6},
         [] {
             Blocks blocks;
             for (const std::int64_t in : {6, 7, 7, 7})
                 blocks.push_back(sequence({make<nn::Linear>(in, 7), make<nn::Tanh>()}));
             return blocks;
         }},
        {"cnn_with_dropout",
         {2, 6, 6},
         [] {
             const auto convolution = [](std::int64_t in) {
                 return make<nn::Conv2d>(in, 3, nn::Conv2d::Options{.kernel_size = 3, .padding = 1});
             };
             return Blocks{sequence({convolution(2), make<nn::ReLU>(), make<nn::Dropout>(0.3)}),
                           sequence({convolution(3), make<nn::ReLU>(), make<nn::Dropout2d>(0.3),
                                     make<nn::MaxPool2d>(2)}),
                           sequence({make<nn::Flatten>(), make<nn::Linear>(27, 5)})};
         }},
        {"resnet_with_batch_norm",
         {4, 5, 5},
         [] {
             return Blocks{make<Residual>(4, 4, 1), make<Residual>(4, 6, 2), make<Residual>(6, 6, 1)};
         }},
        {"gpt",
         {5, 8},
         [] {
             Blocks blocks;
             for (int i = 0; i < 8; ++i) blocks.push_back(make<TransformerBlock>(8, 2, 0.15));
             return blocks;
         }},
    };
    return all;
}

Tensor plain(const Blocks& blocks, Tensor x)
{
    for (const auto& b : blocks) x = (*b)(x);
    return x;
}

std::vector<Bits> train(const Stack& net, const Forward& forward, How how)
{
    manual_seed(5);
    const Blocks blocks = net.blocks();
    std::vector<Variable> parameters;
    for (const auto& b : blocks)
        for (const Variable& p : b->parameters()) parameters.push_back(p);
    const auto step = [&](Tensor in) {
        Tensor x = in.detach();
        x.requires_grad_();
        const Tensor y = forward(blocks, x);
        const Tensor loss = sum(y * y * 0.5);
        if (how == How::eager_in_steps) loss.eval();
        std::vector<Tensor> wanted(parameters.begin(), parameters.end());
        wanted.push_back(x);
        std::vector<Tensor> out = grad({loss}, wanted);
        out.push_back(loss);
        return out;
    };
    Shape shape = net.example;
    shape.insert(shape.begin(), symbol("batch"));
    Program program;
    if (how == How::recorded || how == How::recorded_unfused)
        program = record_function([&](const std::vector<Tensor>& in) { return step(in[0]); }, {spec(shape)},
                                  {.fuse = how == How::recorded});
    std::vector<Bits> found;
    for (const std::int64_t batch : {3, 1}) {
        shape[0] = batch;
        const Tensor x = random_tensor(shape, static_cast<std::uint64_t>(batch));
        const std::vector<Tensor> out = program.defined() ? program.call({x}) : step(x);
        for (const Tensor& t : out) found.push_back(bits(t));
        for (const auto& b : blocks)
            for (const auto& [name, buffer] : b->named_buffers()) found.push_back(bits(buffer));
    }
    return found;
}

} // namespace reprise::test
