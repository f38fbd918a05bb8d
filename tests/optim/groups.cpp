// Parameter groups: numbers of their own, in one launch; what may be set while programs run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/reprise.hpp>

#include "optim/reference.hpp"
#include "program/program.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::HasSubstr;

constexpr std::size_t count = 5;
constexpr long long length = 5;

Variable parameter() { return Variable(from_vector(initial(count))); }
Tensor gradient_of(int step) { return from_vector(gradient(count, step)); }

void expect_updates(const Program& program, int launches)
{
    if (default_device().name() == Device("reference").name()) return; // a launch for each op there
    int updates = 0;
    for (const plan::PlanLaunch& l : program.impl()->executable().compiled().plan.launches)
        updates += l.batches && l.fallback_of == plan::no_launch;
    EXPECT_EQ(updates, launches);
}

template <class Optimizer> Program training(Optimizer& optimizer, const std::vector<Variable>& all)
{
    return record(
        [&](Tensor g) {
            optimizer.zero_grad();
            for (const Variable& p : all) sum(p * g).backward();
            optimizer.step();
        },
        {spec({length})});
}

TEST(ParameterGroups, HaveNumbersOfTheirOwnInOneLaunch)
{
    Variable a = parameter(), b = parameter(), alone = parameter();
    const optim::Adam::Options first{.lr = 0.1},
        second{.lr = 0.02, .betas = {0.5, 0.8}, .eps = 1e-4, .weight_decay = 0.3};
    optim::Adam both({a}, first), other({alone}, second);
    both.add_param_group({b}, second);
    EXPECT_EQ(both.groups(), 2u);
    EXPECT_EQ(both.parameters().size(), 2u);
    EXPECT_EQ(both.parameters(1).size(), 1u);
    const Program program = training(both, {a, b});
    for (int step = 0; step < 4; ++step) {
        program.call({gradient_of(step)});
        alone.set_grad(gradient_of(step));
        other.step();
    }
    EXPECT_EQ(b.to_vector<float>(), alone.to_vector<float>());
    EXPECT_NE(a.to_vector<float>(), b.to_vector<float>());
    expect_updates(program, 1);
}

TEST(ParameterGroups, OfTwoKindsAreTwoLaunches)
{
    Variable a = parameter(), b = parameter(), c = parameter();
    optim::SGD optimizer({a}, {.lr = 0.1, .momentum = 0.9});
    optimizer.add_param_group({b}, {.lr = 0.1});
    optimizer.add_param_group({c}, {.lr = 0.2, .momentum = 0.5, .weight_decay = 0.1});
    const Program program = training(optimizer, {a, b, c});
    expect_updates(program, 2);
    program.call({gradient_of(0)});
    Variable plain = parameter();
    plain.set_grad(gradient_of(0));
    optim::SGD({plain}, {.lr = 0.1}).step();
    EXPECT_EQ(b.to_vector<float>(), plain.to_vector<float>());
}

TEST(ParameterGroups, ProgramsFollowEveryNumber)
{
    Variable a = parameter(), b = parameter(), x = parameter(), y = parameter();
    const auto make = [](Variable p, Variable q) {
        auto o = std::make_unique<optim::AdamW>(std::vector{p}, optim::AdamW::Options{.lr = 0.1});
        o->add_param_group({q}, {.lr = 0.2});
        return o;
    };
    const auto recorded = make(a, b), eager = make(x, y);
    const Program program = training(*recorded, {a, b});
    const std::vector<std::pair<const char*, double>> changes{
        {"lr", 0.05}, {"beta1", 0.3}, {"beta2", 0.7}, {"eps", 0.1}, {"weight_decay", 0.5}};
    std::vector<float> before;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        for (optim::Optimizer* o :
             {static_cast<optim::Optimizer*>(recorded.get()), static_cast<optim::Optimizer*>(eager.get())})
            o->set_option(changes[i].first, changes[i].second, 1);
        const int step = static_cast<int>(i);
        program.call({gradient_of(step)});
        for (Variable p : {x, y}) p.set_grad(gradient_of(step));
        eager->step();
        EXPECT_EQ(a.to_vector<float>(), x.to_vector<float>()) << changes[i].first;
        EXPECT_EQ(b.to_vector<float>(), y.to_vector<float>()) << changes[i].first;
        EXPECT_EQ(recorded->option(changes[i].first, 1), changes[i].second);
        EXPECT_NE(recorded->option(changes[i].first, 0), changes[i].second);
    }
}

// A number may change between two calls for the same step: what was computed of it is not kept.
TEST(ParameterGroups, AStepMadeAgainTakesTheNewRate)
{
    Variable a = parameter(), b = parameter();
    optim::Adam again({a}, {.lr = 0.1}), once({b}, {.lr = 0.4});
    const optim::StateDict fresh = again.state_dict();
    const Program program = training(again, {a});
    program.call({gradient_of(0)});
    again.load_state_dict(fresh);
    a.assign(from_vector(initial(count)));
    again.set_learning_rate(0.4);
    program.call({gradient_of(0)});
    b.set_grad(gradient_of(0));
    once.step();
    EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
}

TEST(ParameterGroups, AreGivenTogether)
{
    const Variable a = parameter(), b = parameter(), c = parameter();
    const std::vector<Variable> body{a, b}, head{c};
    optim::Adam adam({{body, {.lr = 0.5}}, {head}}, {.lr = 0.25, .eps = 1e-3});
    EXPECT_EQ(adam.groups(), 2u);
    EXPECT_EQ(adam.parameters(0).size(), 2u);
    EXPECT_EQ(adam.get_lr(0), 0.5);
    EXPECT_EQ(adam.option("eps", 0), 1e-8); // options of their own are all of them
    EXPECT_EQ(adam.get_lr(1), 0.25);
    EXPECT_EQ(adam.option("eps", 1), 1e-3);
    const auto two = [&](const optim::Optimizer& o) { return o.groups() == 2 && o.parameters().size() == 3; };
    EXPECT_TRUE(two(optim::SGD({{body, {.lr = 1, .momentum = 0.9}}, {head}}, {.lr = 0.1})));
    EXPECT_TRUE(two(optim::AdamW({{body, {.weight_decay = 0}}, {head}})));
    EXPECT_TRUE(two(optim::RMSprop({{body}, {head, {.alpha = 0.5}}})));
    EXPECT_TRUE(two(optim::Adagrad({{body}, {head}})));
    EXPECT_TRUE(two(optim::Lion({{body}, {head}}, {.lr = 0.1})));
    EXPECT_THAT(error_of([&] { optim::SGD({{body}, {body}}, {.lr = 0.1}); }).text, HasSubstr("comes twice"));
}

TEST(ParameterGroups, AreSeenAsInPyTorch)
{
    const Variable a = parameter(), b = parameter();
    optim::SGD sgd({{{a}, {.lr = 0.5}}, {{b}, {.lr = 0.25}}});
    for (auto& group : sgd.param_groups()) group.lr *= 0.1;
    EXPECT_EQ(sgd.param_groups()[0].lr, 0.05);
    auto& rate = sgd.param_groups()[0].lr;
    rate /= 2;
    EXPECT_DOUBLE_EQ(rate, 0.025);
    rate += 0.5;
    EXPECT_DOUBLE_EQ(rate, 0.525);
    rate -= 0.475;
    EXPECT_NEAR(sgd.get_lr(), 0.05, 1e-12);
    EXPECT_EQ(sgd.get_lr(1), 0.025);
    sgd.param_groups()[1].lr = 3;
    EXPECT_EQ(sgd.get_lr(1), 3);
    EXPECT_EQ(sgd.param_groups()[1].params[0].cell(), b.cell());
    sgd.param_groups()[1].set_option("weight_decay", 0.5);
    EXPECT_EQ(sgd.param_groups()[1].option("weight_decay"), 0.5);
    sgd.set_lr(2);
    EXPECT_EQ(sgd.get_lr(0), 2);
    EXPECT_THAT(error_of([&] { sgd.param_groups()[0].lr = -1; }).text, HasSubstr("[SGD] The lr (-1)"));
    auto& first = sgd.param_groups()[0];
    for (int i = 0; i < 20; ++i) sgd.add_param_group({parameter()});
    EXPECT_EQ(&first, &sgd.param_groups()[0]);
    first.lr = 7;
    EXPECT_EQ(sgd.get_lr(0), 7);
}

TEST(ParameterGroups, StepWithAClosure)
{
    Variable a = parameter(), b = parameter();
    optim::SGD with({a}, {.lr = 0.1}), without({b}, {.lr = 0.1});
    const no_grad off; // which the closure does not see
    const Tensor loss = with.step([&] {
        with.zero_grad();
        const Tensor l = sum(a * a);
        l.backward();
        return l;
    });
    {
        const enable_grad on;
        const Tensor want = sum(b * b);
        want.backward();
        EXPECT_EQ(loss.item<float>(), want.item<float>());
    }
    without.step();
    EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
    EXPECT_EQ(error_of([&] { with.step(std::function<Tensor()>()); }).kind, ErrorKind::argument);
}

TEST(ParameterGroups, AreInTheState)
{
    Variable a = parameter(), b = parameter(), x = parameter(), y = parameter();
    const auto make = [](Variable p, Variable q, double lr) {
        auto o = std::make_unique<optim::RMSprop>(std::vector{p}, optim::RMSprop::Options{.lr = lr});
        o->add_param_group({q}, {.lr = lr / 2, .momentum = 0.5});
        return o;
    };
    const auto first = make(a, b, 0.1), second = make(x, y, 0.3);
    const auto step = [](optim::Optimizer& o, int n) {
        for (Variable p : o.parameters()) p.set_grad(gradient_of(n));
        o.step();
    };
    step(*first, 0);
    first->set_option("alpha", 0.7, 1);
    first->set_initial_learning_rate(0.25, 1);
    const optim::StateDict state = first->state_dict();
    EXPECT_EQ(state.at("param_groups.1.params").to_vector<std::int32_t>(), std::vector<std::int32_t>{1});
    EXPECT_TRUE(state.contains("1.momentum_buffer"));
    EXPECT_FALSE(state.contains("0.momentum_buffer"));
    second->load_state_dict(state);
    EXPECT_EQ(second->option("alpha", 1), 0.7);
    EXPECT_EQ(second->option("lr", 1), 0.05);
    EXPECT_EQ(second->initial_learning_rate(1), 0.25);
    EXPECT_EQ(second->initial_learning_rate(0), std::nullopt);
    x.assign(a.detach());
    y.assign(b.detach());
    step(*first, 1);
    step(*second, 1);
    EXPECT_EQ(a.to_vector<float>(), x.to_vector<float>());
    EXPECT_EQ(b.to_vector<float>(), y.to_vector<float>());

    optim::RMSprop one_group({a, b}, {.lr = 0.1});
    const Caught other = error_of([&] { one_group.load_state_dict(state); });
    EXPECT_THAT(other.text, HasSubstr("(param_groups.0.params)"));
    EXPECT_EQ(one_group.learning_rate(), 0.1);
    optim::StateDict no_momentum = state;
    no_momentum.at("param_groups.1.momentum") = zeros({1});
    EXPECT_THAT(error_of([&] { second->load_state_dict(no_momentum); }).text, HasSubstr("whether it is 0"));
}

TEST(ParameterGroups, RefuseWhatDoesNotFit)
{
    const Variable a = parameter(), b = parameter();
    optim::SGD optimizer({a}, {.lr = 0.1, .momentum = 0.9});
    EXPECT_THAT(error_of([&] {
                    optimizer.add_param_group({b, a}, {});
                }).text,
                HasSubstr("[SGD] The parameter with index (2) comes twice"));
    EXPECT_THAT(error_of([&] { optimizer.add_param_group({}, {}); }).text, HasSubstr("no parameters"));
    EXPECT_THAT(error_of([&] { optimizer.add_param_group({b}, {.weight_decay = -1}); }).text,
                HasSubstr("weight_decay (-1)"));
    EXPECT_EQ(optimizer.groups(), 1u);
    EXPECT_EQ(optimizer.parameters().size(), 1u);
    EXPECT_THAT(error_of([&] { return optimizer.option("lr", 1); }).text, HasSubstr("no group (1)"));
    EXPECT_THAT(error_of([&] { return optimizer.option("beta1"); }).text,
                HasSubstr("no number (beta1): a group has lr, momentum, dampening, weight_decay"));
    EXPECT_FALSE(optimizer.has_option("beta1"));
    EXPECT_THAT(error_of([&] { optimizer.set_option("momentum", 0, 0); }).text, HasSubstr("whether it is 0"));
    optimizer.set_option("momentum", 0.5, 0);
    optim::Adam adam({a});
    EXPECT_THAT(error_of([&] { adam.set_option("beta2", 1, 0); }).text,
                HasSubstr("[Adam] The beta2 (1) must be at least 0 and below 1"));
    EXPECT_THAT(error_of([&] { optim::RMSprop({a}, {.alpha = -1}); }).text, HasSubstr("alpha (-1)"));
    EXPECT_THAT(error_of([&] { optim::Adagrad({a}, {.lr_decay = -1}); }).text, HasSubstr("lr_decay (-1)"));
    EXPECT_THAT(error_of([&] { optim::Adagrad({a}, {.initial_accumulator_value = -1}); }).text,
                HasSubstr("initial_accumulator_value (-1)"));
    EXPECT_THAT(error_of([&] { optim::Lion({a}, {.betas = {1, 0}}); }).text, HasSubstr("beta1 (1)"));
}

} // namespace
