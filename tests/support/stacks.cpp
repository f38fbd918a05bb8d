#include "support/stacks.hpp"

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
             std::vector<std::shared_ptr<nn::Module>> blocks;
             for (const std::int64_t in : {6, 7, 7, 7})
                 blocks.push_back(sequence({make<nn::Linear>(in, 7), make<nn::Tanh>()}));
             return blocks;
         }},
        {"cnn_with_dropout",
         {2, 6, 6},
         [] {
             const auto convolution = [](std::int64_t in) {
                 return make<nn::Conv2d>(in, 3, nn::Conv2dOptions{.kernel_size = 3, .padding = 1});
             };
             return std::vector<std::shared_ptr<nn::Module>>{
                 sequence({convolution(2), make<nn::ReLU>(), make<nn::Dropout>(0.3)}),
                 sequence(
                     {convolution(3), make<nn::ReLU>(), make<nn::Dropout2d>(0.3), make<nn::MaxPool2d>(2)}),
                 sequence({make<nn::Flatten>(), make<nn::Linear>(27, 5)})};
         }},
        {"resnet_with_batch_norm",
         {4, 5, 5},
         [] {
             return std::vector<std::shared_ptr<nn::Module>>{make<Residual>(4, 4, 1), make<Residual>(4, 6, 2),
                                                             make<Residual>(6, 6, 1)};
         }},
        {"gpt",
         {5, 8},
         [] {
             std::vector<std::shared_ptr<nn::Module>> blocks;
             for (int i = 0; i < 8; ++i) blocks.push_back(make<TransformerBlock>(8, 2, 0.15));
             return blocks;
         }},
    };
    return all;
}

Tensor plain(const std::vector<std::shared_ptr<nn::Module>>& blocks, Tensor x)
{
    for (const auto& b : blocks) x = (*b)(x);
    return x;
}

} // namespace reprise::test
