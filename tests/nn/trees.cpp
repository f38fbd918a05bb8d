// What a tree of modules tells: names, children, printing; and what changes all of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace {

using namespace reprise;
using test::floats;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

struct Bare : nn::Module {
    using Module::register_buffer;
    using Module::register_module;
    using Module::register_parameter;
};

std::string printed(const nn::Module& m)
{
    std::ostringstream text;
    text << m;
    return text.str();
}

nn::Sequential net()
{
    return nn::Sequential(nn::Linear(3, 4), nn::BatchNorm1d(4), nn::Sequential(nn::Linear(4, 2), nn::ReLU()));
}

TEST(OrderedDict, IsAListAndADictionary)
{
    nn::Sequential m = net();
    const auto named = m.named_parameters();
    EXPECT_EQ(named.size(), 6u);
    EXPECT_TRUE(named.contains("2.0.bias"));
    EXPECT_EQ(named["2.0.bias"].shape(), (Shape{2}));
    EXPECT_EQ(named[0].key(), "0.weight");
    EXPECT_EQ(named[0].value().cell(), named["0.weight"].cell());
    EXPECT_THAT(named.keys(),
                ElementsAre("0.weight", "0.bias", "1.weight", "1.bias", "2.0.weight", "2.0.bias"));
    std::size_t i = 0;
    for (const auto& [name, value] : named) EXPECT_EQ(name, named.keys()[i++]);
    for (auto& item : m.named_parameters()) item.value().zero_grad();
    const Caught caught = error_of([&] { static_cast<void>(named["x"]); });
    EXPECT_EQ(caught.kind, ErrorKind::argument);
    EXPECT_THAT(caught.text, HasSubstr("There is no parameter (x): there are (0.weight, 0.bias, 1.weight"));
    OrderedDict<int> dict;
    dict.insert("a", 1);
    EXPECT_EQ(error_of([&] { dict.insert("a", 2); }).kind, ErrorKind::argument);
}

TEST(ModuleTree, ListsWhatItHas)
{
    nn::Sequential m = net();
    EXPECT_THAT(m.named_children().keys(), ElementsAre("0", "1", "2"));
    EXPECT_THAT(m.named_modules().keys(), ElementsAre("", "0", "1", "2", "2.0", "2.1"));
    EXPECT_EQ(m.modules().size(), 6u);
    EXPECT_EQ(m.modules()[0], &m);
    EXPECT_EQ(m.num_parameters(), 12u + 4 + 8 + 8 + 2);
    EXPECT_TRUE(m.parameters(false).empty());
    EXPECT_EQ(m.buffers().size(), 3u);
    std::vector<std::string> order;
    m.apply([&](nn::Module& each) {
        order.push_back(each.name());
        if (auto* linear = each.as<nn::Linear>()) nn::init::zeros_(linear->weight);
    });
    EXPECT_THAT(order, ElementsAre("Linear", "BatchNorm1d", "Linear", "ReLU", "Sequential", "Sequential"));
    EXPECT_THAT(floats(m.named_parameters()["2.0.weight"]), Each(0.0f));
    for (Variable& p : m.parameters()) p.zero_grad();
    m.requires_grad_(false);
    for (const Variable& p : m.parameters()) EXPECT_FALSE(p.requires_grad());
    m.requires_grad_();
    EXPECT_TRUE(m.named_parameters()["0.weight"].requires_grad());
}

TEST(ModuleTree, RegistersTensors)
{
    Bare m;
    const Tensor value = full({2}, 3);
    const Variable w = m.register_parameter("w", value);
    EXPECT_TRUE(w.requires_grad());
    EXPECT_FALSE(m.register_parameter("frozen", ones({1}), false).requires_grad());
    EXPECT_FALSE(m.register_buffer("b", zeros({3})).requires_grad());
    const Variable shared(ones({1}));
    EXPECT_EQ(m.register_parameter("shared", shared).cell(), shared.cell());
    EXPECT_FALSE(m.register_parameter("none", {}).defined()); // PyTorch's None
    EXPECT_FALSE(m.register_buffer("no buffer", Tensor()).defined());
    EXPECT_THAT(m.named_parameters().keys(), ElementsAre("w", "frozen", "shared"));
    EXPECT_THAT(m.named_buffers().keys(), ElementsAre("b"));
    EXPECT_EQ(m.state_dict().size(), 4u);
    EXPECT_THAT(error_of([&] { m.register_buffer("none", ones({1})); }).text,
                HasSubstr("(none) is registered already"));
}

TEST(ModuleTree, PrintsAsInPyTorch)
{
    EXPECT_EQ(printed(nn::Sequential(nn::Linear(3, 4), nn::Sequential(nn::Dropout(0.25), nn::ReLU()))),
              "Sequential(\n"
              "  (0): Linear(in_features=3, out_features=4, bias=True)\n"
              "  (1): Sequential(\n"
              "    (0): Dropout(p=0.25)\n"
              "    (1): ReLU()\n"
              "  )\n"
              ")");
    EXPECT_EQ(printed(nn::Conv2d(1, 8, {.kernel_size = {3, 5}, .padding = 1, .groups = 1, .bias = false})),
              "Conv2d(1, 8, kernel_size=(3, 5), stride=(1, 1), padding=(1, 1), bias=False)");
    EXPECT_EQ(printed(nn::Conv1d(2, 4, {.kernel_size = 3, .padding = "same", .groups = 2})),
              "Conv1d(2, 4, kernel_size=(3,), stride=(1,), padding='same', groups=2)");
    EXPECT_EQ(printed(nn::ConvTranspose2d(2, 4, 3, {.stride = 2, .output_padding = 1})),
              "ConvTranspose2d(2, 4, kernel_size=(3, 3), stride=(2, 2), output_padding=(1, 1))");
    EXPECT_EQ(printed(nn::BatchNorm2d(8)),
              "BatchNorm2d(8, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)");
    EXPECT_EQ(printed(nn::LayerNorm(8)), "LayerNorm((8,), eps=1e-05, elementwise_affine=True)");
    EXPECT_EQ(printed(nn::GroupNorm(2, 8)), "GroupNorm(2, 8, eps=1e-05, affine=True)");
    EXPECT_EQ(printed(nn::MaxPool2d(2)),
              "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)");
    EXPECT_EQ(printed(nn::AdaptiveAvgPool2d(1)), "AdaptiveAvgPool2d(output_size=1)");
    EXPECT_EQ(printed(nn::Embedding(10, 3)), "Embedding(10, 3)");
    EXPECT_EQ(printed(nn::LSTM(3, 4, {.num_layers = 2, .batch_first = true, .dropout = 0.5})),
              "LSTM(3, 4, num_layers=2, batch_first=True, dropout=0.5)");
    EXPECT_EQ(printed(nn::GELU()), "GELU(approximate='none')");
    EXPECT_EQ(printed(nn::LeakyReLU(0.2)), "LeakyReLU(negative_slope=0.2)");
    EXPECT_EQ(printed(nn::Flatten()), "Flatten(start_dim=1, end_dim=-1)");
    EXPECT_EQ(printed(nn::ReflectionPad2d(1)), "ReflectionPad2d(padding=(1, 1, 1, 1))");
    EXPECT_EQ(printed(nn::Softmax(1)), "Softmax(dim=1)");
    EXPECT_EQ(printed(Bare()), "Bare()");
    EXPECT_EQ(printed(nn::Linear(nullptr)), "Linear()");
}

TEST(ModuleTree, ChangesItsDType)
{
    nn::Sequential m = net();
    const auto weight = m.named_parameters()["0.weight"];
    const auto before = floats(weight);
    const Tensor x = ones({2, 3});
    sum(m(x)).backward();
    const auto f = record([&](Tensor in) { return m(in); }, {spec({2, 3})});
    m.to(f16);
    EXPECT_EQ(weight.dtype(), f16); // the same handle
    EXPECT_TRUE(weight.requires_grad());
    EXPECT_TRUE(weight.is_leaf());
    EXPECT_FALSE(weight.grad().defined());
    EXPECT_EQ(m.named_buffers()["1.running_mean"].dtype(), f16);
    EXPECT_EQ(m.named_buffers()["1.num_batches_tracked"].dtype(), i32);
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(floats(weight)[i], before[i], 1e-3);
    const Caught stale = error_of([&] { f(x); });
    EXPECT_EQ(stale.kind, ErrorKind::dtype);
    EXPECT_THAT(stale.text, HasSubstr("is now of (f16) but was of (f32) when the program was recorded"));
    m.to(f32);
    sum(m(x)).backward();
    EXPECT_TRUE(weight.grad().defined());
    EXPECT_EQ(error_of([&] { m.to(i32); }).kind, ErrorKind::dtype);
}

TEST(ModuleTree, ChangesItsDevice)
{
    nn::Linear m(3, 2);
    const Tensor weight = m.weight;
    const auto before = floats(weight);
    const Device there("reference");
    m.to(there);
    EXPECT_EQ(m.weight.device(), there);
    EXPECT_EQ(weight.device(), there);
    EXPECT_EQ(floats(m.weight), before);
    EXPECT_EQ(m(ones({1, 3}, {.device = there})).device(), there);
    m.to(default_device(), f16);
    EXPECT_EQ(m.weight.device(), default_device());
    EXPECT_EQ(m.weight.dtype(), f16);
}

// ---- state dicts ----

TEST(StateDict, TellsWhatItLeftOut)
{
    nn::Linear m(3, 2);
    const auto before = floats(m.bias);
    const nn::LoadResult left = m.load_state_dict({{"weight", zeros({2, 3})}, {"more", ones({1})}}, false);
    EXPECT_THAT(left.missing_keys, ElementsAre("bias"));
    EXPECT_THAT(left.unexpected_keys, ElementsAre("more"));
    EXPECT_THAT(floats(m.weight), Each(0.0f));
    EXPECT_EQ(floats(m.bias), before);
    const nn::LoadResult all = m.load_state_dict(m.state_dict());
    EXPECT_TRUE(all.missing_keys.empty() && all.unexpected_keys.empty());
}

TEST(StateDict, TakesAPrefixAndCastsWhereAsked)
{
    nn::Linear m(1, 2), other(1, 2);
    nn::StateDict state = other.state_dict("encoder.fc.");
    state.emplace("decoder.weight", ones({7}));
    EXPECT_EQ(error_of([&] { m.load_state_dict(state); }).kind, ErrorKind::argument);
    m.load_state_dict(state, {.prefix = "encoder.fc."});
    EXPECT_EQ(floats(m.weight), floats(other.weight));
    EXPECT_THAT(error_of([&] { m.load_state_dict(state, {.prefix = "encoder."}); }).text,
                HasSubstr("missing: (weight), (bias); unexpected: (encoder.fc.bias), (encoder.fc.weight)"));
    nn::StateDict halves{{"weight", full({2, 1}, 0.5, {.dtype = f16})}, {"bias", zeros({2}, {.dtype = f16})}};
    EXPECT_EQ(error_of([&] { m.load_state_dict(halves); }).kind, ErrorKind::dtype);
    m.load_state_dict(halves, {.cast = true});
    EXPECT_EQ(m.weight.dtype(), f32);
    EXPECT_THAT(floats(m.weight), Each(0.5f));
    halves.at("bias") = zeros({2}, {.dtype = i32});
    EXPECT_EQ(error_of([&] { m.load_state_dict(halves, {.cast = true}); }).kind, ErrorKind::dtype);
}

} // namespace
