// Modules that are moved, and that are members of others meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace {

using namespace reprise;
using test::floats;
using testing::ElementsAre;
using testing::HasSubstr;

struct Net : nn::Module {
    nn::Linear fc{3, 2};
    nn::BatchNorm1d norm{2};
    Net()
    {
        register_module("fc", fc);
        register_module("norm", norm);
    }
    Tensor forward(Tensor x) override { return norm(fc(x)); }
};

// As libtorch's first example has it.
struct Assigned : nn::Module {
    nn::Linear first{nullptr}, second{nullptr};
    nn::Conv2d conv{nullptr};
    nn::LSTM lstm{nullptr};
    Assigned()
    {
        first = register_module("first", nn::Linear(3, 4));
        second = register_module("second", nn::Linear(4, 2));
        conv = register_module("conv", nn::Conv2d(1, 2, 3));
        lstm = register_module("lstm", nn::LSTM(2, 2));
    }
    Tensor forward(Tensor x) override { return second(relu(first(x))); }
};

struct Initialised : nn::Module {
    nn::Linear first = register_module("first", nn::Linear(3, 4));
    std::shared_ptr<nn::Linear> second = register_module("second", nn::make<nn::Linear>(4, 2));
    Tensor forward(Tensor x) override { return (*second)(first(x)); }
};

struct Stack : nn::Module {
    std::vector<nn::Linear> layers;
    explicit Stack(int count)
    {
        for (int i = 0; i < count; ++i) layers.emplace_back(2, 2); // which moves those that are there
        for (std::size_t i = 0; i < layers.size(); ++i)
            register_module("layer" + std::to_string(i), layers[i]);
    }
    using Module::register_module;
};

// Every registered parameter is that of the members, which are trained then.
template <class M> void expect_trains(M& net, const Tensor& x)
{
    optim::SGD sgd(net.parameters(), {.lr = 0.1});
    net.zero_grad();
    sum(net(x)).backward();
    for (const auto& [name, p] : net.named_parameters())
        EXPECT_EQ(p.grad().defined(), !name.starts_with("conv") && !name.starts_with("lstm")) << name;
}

Net make_net() { return Net(); }

TEST(ModuleMove, KeepsWhatIsRegistered)
{
    Net net = make_net();
    const std::vector<std::string> names{"fc.weight", "fc.bias", "norm.weight", "norm.bias"};
    EXPECT_EQ(net.named_parameters().keys(), names);
    const Net* where = &net;
    Net moved = std::move(net);
    EXPECT_NE(where, &moved);
    EXPECT_EQ(moved.named_parameters().keys(), names);
    EXPECT_EQ(moved.named_parameters()["fc.weight"].cell(), moved.fc.weight.cell());
    moved.eval();
    EXPECT_FALSE(moved.norm.is_training());
    EXPECT_FALSE(moved.fc.is_training());
    expect_trains(moved, ones({4, 3}));
    EXPECT_TRUE(net.named_parameters().empty());
    EXPECT_EQ(error_of([&] { net(ones({1, 3})); }).kind, ErrorKind::state);
    net = std::move(moved);
    EXPECT_EQ(net.named_parameters()["fc.weight"].cell(), net.fc.weight.cell());
    expect_trains(net, ones({4, 3}));
    const auto children = net.children();
    EXPECT_EQ((std::vector<nn::Module*>(children.begin(), children.end())),
              (std::vector<nn::Module*>{&net.fc, &net.norm}));
}

TEST(ModuleMove, WritesAsInLibtorch)
{
    Assigned net;
    EXPECT_EQ(net.named_children().keys(), (std::vector<std::string>{"first", "second", "conv", "lstm"}));
    EXPECT_EQ(net.named_children()["first"], &net.first);
    expect_trains(net, ones({1, 3}));
    Assigned other = std::move(net);
    EXPECT_EQ(other.named_children()["lstm"], &other.lstm);
    Initialised initialised;
    EXPECT_EQ(initialised.named_children()["first"], &initialised.first);
    EXPECT_EQ(initialised.named_children()["second"], initialised.second.get());
    expect_trains(initialised, ones({1, 3}));
}

TEST(ModuleMove, OneThatIsEmptySaysSo)
{
    nn::Linear fc{nullptr};
    const Caught caught = error_of([&] { fc(ones({1})); });
    EXPECT_EQ(caught.kind, ErrorKind::state);
    EXPECT_THAT(caught.text, HasSubstr("empty: it was made of nullptr or moved from"));
    fc = nn::Linear(2, 1);
    EXPECT_EQ(fc(ones({1, 2})).shape(), (Shape{1, 1}));
}

TEST(ModuleMove, AnotherModuleTakesThePlaceOfAMember)
{
    Net net;
    net.fc = nn::Linear(5, 2, {.bias = false});
    EXPECT_EQ(net.named_parameters().keys(),
              (std::vector<std::string>{"fc.weight", "norm.weight", "norm.bias"}));
    EXPECT_EQ(net(ones({4, 5})).shape(), (Shape{4, 2}));
    EXPECT_EQ(net.named_children()["fc"], &net.fc);
}

TEST(ModuleMove, InAVector)
{
    Stack stack(5);
    EXPECT_EQ(stack.parameters().size(), 10u);
    stack.layers.reserve(100);
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_EQ(stack.named_children()["layer" + std::to_string(i)], &stack.layers[i]);
    const auto weight = stack.layers[2].weight.cell();
    stack.layers.erase(stack.layers.begin());
    EXPECT_EQ(stack.children().size(), 4u);
    EXPECT_EQ(stack.named_parameters()["layer1.weight"].cell(), weight);
    std::swap(stack.layers[0], stack.layers[1]);
    EXPECT_EQ(stack.layers[0].weight.cell(), weight);
    EXPECT_EQ(stack.named_parameters()["layer1.weight"].cell(), weight); // names go with what was registered
    EXPECT_EQ(stack.parameters().size(), 8u);
}

TEST(ModuleMove, AMemberThatIsGoneLeavesItsParents)
{
    Stack outer(1), other(0);
    {
        nn::Linear local(2, 2);
        outer.register_module("local", local);
        outer.register_module("again", local);
        other.register_module("local", local);
        EXPECT_EQ(outer.named_children().size(), 2u); // once, though it has two names
    }
    EXPECT_EQ(outer.named_children().keys(), std::vector<std::string>{"layer0"});
    EXPECT_TRUE(other.children().empty());
    auto parent = std::make_unique<Stack>(0);
    parent->register_module("first", outer.layers[0]);
    parent.reset(); // and a child forgets a parent that is gone
    outer.layers.reserve(10);
    EXPECT_EQ(outer.children().size(), 1u);
}

TEST(ModuleMove, HooksAndCheckpointsGoWithTheModule)
{
    nn::Linear a(2, 2);
    int calls = 0;
    a.register_forward_hook(
        [&](nn::Module&, const Tensor&, const Tensor&) { calls += is_checkpointing() ? 1 : 10; });
    a.set_checkpoint(CheckpointOptions{});
    nn::Linear b = std::move(a);
    b(ones({1, 2}));
    EXPECT_EQ(calls, 1);
    a = nn::Linear(2, 2);
    a(ones({1, 2}));
    EXPECT_EQ(calls, 1);
}

TEST(Containers, TakeModulesByValue)
{
    nn::Sequential net(nn::Linear(3, 4), nn::ReLU(), nn::make<nn::Linear>(4, 2), nn::Dropout(0.5));
    net.push_back(nn::Sequential(nn::Linear(2, 2)));
    EXPECT_EQ(net.size(), 5u);
    EXPECT_EQ(net.named_parameters().keys().back(), "4.0.bias");
    EXPECT_EQ(net(ones({1, 3})).shape(), (Shape{1, 2}));
    EXPECT_EQ(net.at<nn::Linear>(0).weight.shape(), (Shape{4, 3}));
    nn::Sequential moved = std::move(net);
    EXPECT_EQ(moved.size(), 5u);
    EXPECT_EQ(moved.parameters().size(), 6u);

    nn::ModuleList list(nn::Linear(1, 1), nn::make<nn::ReLU>());
    list.push_back(nn::Linear(2, 2));
    list.append(nn::Tanh()).append(nn::make<nn::Tanh>());
    EXPECT_EQ(list.size(), 5u);
    EXPECT_EQ(list.at<nn::Linear>(2).weight.shape(), (Shape{2, 2}));
    nn::ModuleDict dict;
    dict.insert("fc", nn::Linear(2, 3));
    EXPECT_EQ(dict.at<nn::Linear>("fc").weight.shape(), (Shape{3, 2}));

    std::vector<nn::Linear> layers;
    for (int i = 0; i < 10; ++i) layers.push_back(nn::Linear(1, 1));
    EXPECT_EQ(layers[0](ones({1, 1})).shape(), (Shape{1, 1}));
}

TEST(Containers, AreMadeWithOptionsInBraces)
{
    EXPECT_EQ(nn::make<nn::Conv2d>(1, 8, {.kernel_size = 3})->weight.shape(), (Shape{8, 1, 3, 3}));
    EXPECT_EQ(nn::make<nn::Conv2d>(1, 8, 3)->weight.shape(), (Shape{8, 1, 3, 3}));
    EXPECT_FALSE(nn::make<nn::Linear>(2, 3, {.bias = false})->bias.defined());
    EXPECT_EQ((*nn::make<nn::MaxPool2d>(2, {.stride = 1}))(ones({1, 1, 4, 4})).shape(), (Shape{1, 1, 3, 3}));
    EXPECT_EQ(nn::Conv2d(1, 8, 3, {.padding = 1})(ones({1, 1, 4, 4})).shape(), (Shape{1, 8, 4, 4}));
    EXPECT_EQ(nn::Conv2d(1, 8, {.kernel_size = {3, 1}}).weight.shape(), (Shape{8, 1, 3, 1}));
    EXPECT_EQ(nn::ConvTranspose1d(2, 3, 4).weight.shape(), (Shape{2, 3, 4}));
    EXPECT_THAT(error_of([] { nn::Conv2d(1, 8, {.padding = 1}); }).text, HasSubstr("kernel_size (0)"));
}

} // namespace
