// Names, state and modes of modules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

static_assert(!std::is_copy_constructible_v<nn::Linear> && !std::is_copy_assignable_v<nn::Module>);
static_assert(std::is_nothrow_move_constructible_v<nn::Linear> && std::is_nothrow_move_constructible_v<Mode>);
static_assert(std::is_move_assignable_v<nn::TransformerEncoderLayer>);

// Opens the protected members, and has nothing of its own.
struct OpenModule : nn::Module {
    using Module::register_buffer;
    using Module::register_module;
    using Module::register_parameter;
    using Module::unregister;
};

struct Block : nn::Module {
    nn::Linear fc{3, 2};
    nn::BatchNorm2d norm{4};
    Variable scale{ones({1})};
    Block()
    {
        register_module("fc", fc);
        register_parameter("scale", scale);
        register_module("norm", norm);
    }
    Tensor forward(Tensor x) override { return fc(x) * scale; }
};

std::vector<std::string> names(const OrderedDict<Variable>& named) { return named.keys(); }

std::vector<std::string> names(const nn::StateDict& values)
{
    std::vector<std::string> out;
    for (const auto& entry : values) out.push_back(entry.first);
    return out;
}

TEST(Module, NamesComeInOrderOfRegistrationOwnFirst)
{
    Block block;
    EXPECT_THAT(names(block.named_parameters()),
                ElementsAre("scale", "fc.weight", "fc.bias", "norm.weight", "norm.bias"));
    EXPECT_THAT(names(block.named_buffers()),
                ElementsAre("norm.running_mean", "norm.running_var", "norm.num_batches_tracked"));
    EXPECT_EQ(block.parameters().size(), 5u);
    EXPECT_THAT(names(block.state_dict()),
                ElementsAre("fc.bias", "fc.weight", "norm.bias", "norm.num_batches_tracked",
                            "norm.running_mean", "norm.running_var", "norm.weight", "scale"));
}

TEST(Module, ASharedParameterComesOnceButHasBothNamesInTheState)
{
    OpenModule outer;
    const Variable shared(ones({2}));
    outer.register_parameter("a", shared);
    OpenModule inner;
    inner.register_parameter("b", shared);
    outer.register_module("inner", inner);
    outer.register_module("again", inner);
    EXPECT_THAT(names(outer.named_parameters()), ElementsAre("a"));
    EXPECT_THAT(names(outer.state_dict()), ElementsAre("a", "again.b", "inner.b"));
}

TEST(Module, RefusesBadNamesAndNullPointers)
{
    OpenModule m, child;
    m.register_parameter("w", Variable(ones({1})));
    const auto refused = [](const auto& call) {
        const Caught caught = error_of(call);
        EXPECT_EQ(caught.kind, ErrorKind::argument) << caught.text;
        return caught.text;
    };
    EXPECT_THAT(refused([&] { m.register_parameter("w", Variable(ones({1}))); }),
                HasSubstr("(w) is registered already"));
    EXPECT_THAT(refused([&] { m.register_buffer("w", Variable(ones({1}), false)); }), HasSubstr("already"));
    EXPECT_THAT(refused([&] { m.register_module("w", child); }), HasSubstr("already"));
    EXPECT_THAT(refused([&] { m.register_module("a.b", child); }), HasSubstr("no dot"));
    EXPECT_THAT(refused([&] { m.register_parameter("", Variable(ones({1}))); }), HasSubstr("at least one"));
    EXPECT_THAT(refused([&] { m.register_module("x", std::shared_ptr<nn::Module>()); }), HasSubstr("null"));
    EXPECT_THAT(refused([&] { m.register_module("x", m); }), HasSubstr("contains"));
    child.register_module("m", m);
    EXPECT_THAT(refused([&] { m.register_module("x", child); }), HasSubstr("contains"));
    EXPECT_THAT(names(m.state_dict()), ElementsAre("w"));
}

TEST(Module, TheModeReachesEveryChild)
{
    Block block;
    EXPECT_TRUE(block.is_training());
    EXPECT_TRUE(block.norm.is_training());
    block.eval();
    EXPECT_FALSE(block.is_training());
    EXPECT_FALSE(block.norm.is_training());
    block.train();
    EXPECT_TRUE(block.norm.is_training());
}

TEST(Module, ZeroGradForgetsEveryGradient)
{
    Block block;
    block(ones({1, 3})).sum().backward();
    EXPECT_TRUE(block.fc.weight.grad().defined());
    EXPECT_TRUE(block.scale.grad().defined());
    block.zero_grad();
    for (const Variable& p : block.parameters()) EXPECT_FALSE(p.grad().defined());
}

TEST(Module, WithoutForwardItSaysSo)
{
    OpenModule m;
    EXPECT_EQ(error_of([&] { return m(ones({1})); }).kind, ErrorKind::state);
}

TEST(Module, AMemberAndItsRegistrationAreOneVariable)
{
    Block block;
    block.scale.assign(full({1}, 3));
    EXPECT_EQ(block.state_dict().at("scale").item<float>(), 3);
    block.parameters()[0].assign(full({1}, 4));
    EXPECT_EQ(block.scale.item<float>(), 4);
}

TEST(Module, AnUnregisteredNameCanBeRegisteredAgain)
{
    OpenModule parent;
    auto child = std::make_unique<OpenModule>();
    parent.register_parameter("w", ones({1}));
    parent.register_buffer("steps", ones({1}));
    parent.register_module("child", *child);
    parent.register_module("again", *child);
    parent.register_module("shared", std::make_shared<nn::Linear>(1, 1));
    for (const char* name : {"w", "steps", "child", "shared"}) parent.unregister(name);
    EXPECT_THAT(names(parent.state_dict()), ElementsAre());
    EXPECT_EQ(parent.named_children().keys(), std::vector<std::string>{"again"});
    parent.register_parameter("child", ones({1}));
    child.reset(); // leaves the parent, in which it has one name left
    EXPECT_EQ(parent.children().size(), 0u);
    EXPECT_EQ(error_of([&] { parent.unregister("again"); }).kind, ErrorKind::argument);
}

// ---- state_dict and load_state_dict ----

TEST(StateDict, IsASnapshot)
{
    Block block;
    const auto before = block.fc.weight.to_vector<float>();
    const nn::StateDict state = block.state_dict();
    block.fc.weight.assign(zeros({2, 3}));
    EXPECT_EQ(state.at("fc.weight").to_vector<float>(), before);
    EXPECT_FALSE(state.at("fc.weight").requires_grad());
    block.load_state_dict(state);
    EXPECT_EQ(block.fc.weight.to_vector<float>(), before);
    EXPECT_TRUE(block.fc.weight.requires_grad());
    EXPECT_TRUE(block.fc.weight.is_leaf());
}

TEST(StateDict, ASnapshotSurvivesARecordedTraining)
{
    nn::Linear net(3, 1);
    optim::SGD sgd(net.parameters(), {.lr = 0.1});
    const Dim batch = symbol("batch");
    const Program step = record(
        [&](Tensor x) {
            const Tensor loss = net(x).sum();
            sgd.zero_grad();
            loss.backward();
            sgd.step();
            return loss;
        },
        {spec({batch, 3})});
    const auto before = net.weight.to_vector<float>();
    const nn::StateDict first = net.state_dict();
    step(ones({2, 3}));
    const auto after = net.weight.to_vector<float>();
    const nn::StateDict second = net.state_dict();
    step(ones({2, 3}));
    EXPECT_NE(after, before);
    EXPECT_NE(net.weight.to_vector<float>(), after);
    EXPECT_EQ(first.at("weight").to_vector<float>(), before);
    EXPECT_EQ(second.at("weight").to_vector<float>(), after);
    // What is loaded is what the program goes on from.
    net.load_state_dict(first);
    EXPECT_EQ(net.weight.to_vector<float>(), before);
    step(ones({2, 3}));
    EXPECT_EQ(net.weight.to_vector<float>(), after);
    EXPECT_EQ(first.at("weight").to_vector<float>(), before);
}

TEST(StateDict, TwoModulesWithOneStateStaySeparate)
{
    nn::Linear a(3, 1), b(3, 1);
    a.load_state_dict(b.state_dict());
    const auto start = b.weight.to_vector<float>();
    EXPECT_EQ(a.weight.to_vector<float>(), start);
    optim::SGD sgd(a.parameters(), {.lr = 1});
    const Program step = record(
        [&](Tensor x) {
            sgd.zero_grad();
            a(x).sum().backward();
            sgd.step();
        },
        {spec({1, 3})});
    step.call({ones({1, 3})});
    EXPECT_NE(a.weight.to_vector<float>(), start);
    EXPECT_EQ(b.weight.to_vector<float>(), start);
}

TEST(StateDict, OneErrorTellsAllThatDoesNotFitAndNothingChanges)
{
    Block block;
    const auto before = block.fc.weight.to_vector<float>();
    nn::StateDict state = block.state_dict();
    state.at("fc.weight") = zeros({2, 3});
    state.erase("fc.bias");
    state.emplace("fc.gain", ones({1}));
    state.at("norm.weight") = ones({5});
    state.at("norm.bias") = zeros({4}, {.dtype = i32});
    state.at("scale") = Tensor();
    const Caught caught = error_of([&] { block.load_state_dict(state); });
    EXPECT_EQ(caught.kind, ErrorKind::shape);
    for (const char* part :
         {"missing: (fc.bias)", "unexpected: (fc.gain)", "(norm.weight) has the shape [5] where [4]",
          "(norm.bias) has the dtype i32 where f32", "(scale) is undefined"})
        EXPECT_THAT(caught.text, HasSubstr(part));
    EXPECT_EQ(block.fc.weight.to_vector<float>(), before);
}

TEST(StateDict, TheKindIsThatOfTheFault)
{
    nn::Linear net(2, 2);
    nn::StateDict wrong = net.state_dict();
    wrong.at("bias") = zeros({2}, {.dtype = i32});
    EXPECT_EQ(error_of([&] { net.load_state_dict(wrong); }).kind, ErrorKind::dtype);
    EXPECT_EQ(error_of([&] { net.load_state_dict({}); }).kind, ErrorKind::argument);
}

TEST(StateDict, ALongListIsCut)
{
    nn::Sequential net;
    for (int i = 0; i < 10; ++i) net.push_back(nn::make<nn::Linear>(1, 1));
    EXPECT_THAT(error_of([&] { net.load_state_dict({}); }).text, HasSubstr(" and 12 more"));
}

TEST(StateDict, NotStrictPassesOverNamesButNotShapes)
{
    Block block;
    nn::StateDict some;
    some.emplace("fc.weight", zeros({2, 3}));
    some.emplace("other", ones({1}));
    block.load_state_dict(some, false);
    EXPECT_THAT(block.fc.weight.to_vector<float>(), testing::Each(0.0f));
    some.at("fc.weight") = zeros({3, 2});
    EXPECT_EQ(error_of([&] { block.load_state_dict(some, false); }).kind, ErrorKind::shape);
}

TEST(StateDict, ComesFromAnyDevice)
{
    nn::Linear net(3, 2);
    nn::StateDict host;
    for (const auto& [name, value] : net.state_dict())
        host.emplace(name,
                     from_vector(value.to_vector<float>(), value.shape(), {.device = Device("reference")}) +
                         1.0);
    const auto before = net.weight.to_vector<float>();
    net.load_state_dict(host);
    const auto after = net.weight.to_vector<float>();
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_FLOAT_EQ(after[i], before[i] + 1);
    EXPECT_EQ(net.weight.device(), default_device());
}

TEST(StateDict, IsNotLoadedWhileRecording)
{
    nn::Linear net(3, 2);
    const nn::StateDict state = net.state_dict();
    const Caught caught = error_of([&] {
        record(
            [&](Tensor x) {
                net.load_state_dict(state);
                return net(x);
            },
            {spec({symbol("batch"), 3})});
    });
    EXPECT_EQ(caught.kind, ErrorKind::state);
    EXPECT_THAT(caught.text, HasSubstr("recorded"));
}

} // namespace
