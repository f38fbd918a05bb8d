// Tables of networks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;

struct Block : nn::Module {
    nn::Linear used = register_module("used", nn::Linear(8, 8)),
               unused = register_module("unused", nn::Linear(8, 2));
    Tensor forward(Tensor x) override { return relu(used(x)); }
};
struct Net : nn::Module {
    nn::Conv2d conv = register_module("conv", nn::Conv2d(1, 8, 3, {.padding = 1}));
    nn::BatchNorm2d norm = register_module("norm", nn::BatchNorm2d(8));
    nn::Dropout dropout = register_module("dropout", nn::Dropout(0.5));
    Block block = register_module("block", Block());
    Variable scale = register_parameter("scale", ones({8}));
    Tensor forward(Tensor x) override { return block(dropout(mean(norm(conv(x)), {2, 3})) * scale); }
};

TEST(Summary, HasShapesAndCountsOfAllModules)
{
    Net net;
    net.conv.requires_grad_(false);
    const nn::Summary s = nn::summary(net, zeros({2, 1, 4, 4}));
    std::vector<std::string> names, outputs;
    std::vector<std::int64_t> counts;
    for (const nn::SummaryRow& r : s.rows) {
        names.push_back(r.name + ":" + r.type);
        outputs.push_back(r.outputs.empty() ? "" : to_string(r.outputs[0]));
        counts.push_back(r.parameters);
    }
    EXPECT_THAT(names, ElementsAre(":Net", "conv:Conv2d", "norm:BatchNorm2d", "dropout:Dropout",
                                   "block:Block", "block.used:Linear", "block.unused:Linear"));
    EXPECT_THAT(outputs,
                ElementsAre("[2, 8]", "[2, 8, 4, 4]", "[2, 8, 4, 4]", "[2, 8]", "[2, 8]", "[2, 8]", ""));
    EXPECT_THAT(counts, ElementsAre(8, 80, 16, 0, 0, 72, 18));
    EXPECT_EQ(s.parameters, net.num_parameters());
    EXPECT_EQ(s.trainable, s.parameters - 80);
    EXPECT_EQ(s.rows[1].trainable, 0);
    EXPECT_EQ(s.parameter_bytes, 4 * static_cast<std::uint64_t>(s.parameters));
}

TEST(Summary, IsATable)
{
    nn::Sequential net(nn::Linear(100, 1000), nn::ReLU());
    std::ostringstream text;
    text << nn::summary(net, zeros({1, 100}));
    EXPECT_EQ(text.str(), "layer         output     parameters  trainable\n"
                          "Sequential    [1, 1000]\n"
                          "  0 (Linear)  [1, 1000]     101,000    101,000\n"
                          "  1 (ReLU)    [1, 1000]\n"
                          "all                         101,000    101,000\n"
                          "The parameters take 404,000 bytes.\n");
}

TEST(Summary, ChangesNothing)
{
    Net net;
    net.block.eval();
    const auto running = net.norm.running_mean.to_vector<float>();
    int calls = 0;
    net.register_forward_hook([&](nn::Module&, const Tensor&, const Tensor&) { ++calls; });
    const Tensor x = randn({2, 1, 4, 4});
    x.eval();
    const std::uint64_t before = generator_state().ordinal;
    nn::summary(net, x);
    EXPECT_TRUE(net.is_training());
    EXPECT_TRUE(net.norm.is_training());
    EXPECT_FALSE(net.block.is_training());
    EXPECT_FALSE(net.block.used.is_training());
    EXPECT_EQ(net.norm.running_mean.to_vector<float>(), running);
    EXPECT_EQ(generator_state().ordinal, before);
    net(x);
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(error_of([&] { nn::summary(net, zeros({2, 3, 4, 4})); }).kind, ErrorKind::shape);
    EXPECT_TRUE(net.is_training());
    EXPECT_FALSE(net.block.is_training());
}

TEST(Summary, KeepsTheModesOfModulesThatOthersShare)
{
    const auto shared = std::make_shared<nn::Dropout>(0.5);
    const auto first = std::make_shared<nn::Sequential>(nn::Linear(4, 4)),
               second = std::make_shared<nn::Sequential>(nn::Linear(4, 4));
    nn::Sequential net;
    for (const auto& each : {first, second}) {
        each->push_back(shared);
        net->push_back(each);
    }
    shared->eval();
    nn::summary(net, zeros({1, 4}));
    EXPECT_FALSE(shared->is_training());
    EXPECT_TRUE(second->is_training());
}

TEST(Summary, CountsTheBytesOfQuantisedWeights)
{
    nn::Sequential net{nn::Linear(64, 8)};
    nn::quantize(net, {.format = QuantizedFormat::q8_0});
    const nn::Summary s = nn::summary(net, zeros({1, 64}));
    EXPECT_EQ(s.parameters, 8); // the bias
    EXPECT_EQ(s.buffer_bytes, 8u * 2 * 34);
    EXPECT_THAT(to_string(s), HasSubstr("The parameters take 32 bytes, the buffers 544.\n"));
}

TEST(Summary, CountsSharedParametersOnce)
{
    struct Tied : nn::Module {
        nn::Linear a = register_module("a", nn::Linear(4, 4));
        Variable again = register_parameter("again", a.weight);
        Tensor forward(Tensor x) override { return matmul(a(x), again); }
    };
    Tied net;
    const nn::Summary s = nn::summary(net, zeros({1, 4}));
    EXPECT_EQ(s.parameters, net.num_parameters());
    EXPECT_EQ(s.parameters, 16 + 4);
}

} // namespace
