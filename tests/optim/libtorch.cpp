// Parameters and options of optimizers as programs for libtorch write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <sstream>
#include <tuple>
#include <vector>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;

Tensor leaf(double value) { return full({2}, value, {.dtype = f32}).requires_grad_(); }

TEST(ParameterLists, HoldTheTensorsThemselves)
{
    Tensor w = leaf(1), b = leaf(2);
    nn::Linear net(2, 1), more(2, 1);
    const std::vector<Tensor> tensors = net.parameters();
    const std::vector<Variable> variables = net.parameters();
    EXPECT_EQ(tensors[0].cell(), net.weight.cell());
    EXPECT_EQ(variables[1].cell(), net.bias.cell());
    Parameters all = net.parameters();
    const auto others = more.parameters();
    all.insert(all.end(), others.begin(), others.end());
    all.insert(all.begin(), tensors.begin(), tensors.end());
    all.insert(all.end(), w);
    all.push_back(w);
    all.emplace_back(b);
    ASSERT_EQ(all.size(), 9U);
    EXPECT_EQ(all[0].cell(), net.weight.cell());
    EXPECT_EQ(all[6].cell(), w.cell());
    EXPECT_EQ(all[7].cell(), w.cell());
    EXPECT_EQ(all[8].cell(), b.cell());
}

TEST(ParameterLists, TrainTensorsOfOnesOwn)
{
    Tensor w = leaf(1), b = leaf(1);
    const Variable v(ones({2}));
    optim::SGD sgd({w}, 0.1);
    sum(w * w).backward();
    sgd.step();
    EXPECT_THAT(w.to_vector<float>(), ElementsAre(0.8F, 0.8F));
    sgd.zero_grad(false);
    EXPECT_THAT(w.grad().to_vector<float>(), ElementsAre(0, 0));
    sgd.zero_grad(true);
    EXPECT_FALSE(w.grad().defined());
    const std::vector<Tensor> list{w, b};
    optim::AdamW groups({{list, {.lr = 0.5}}, {{v}, {.lr = 1}}}), single({list}, {.lr = 1}), mixed({v, w});
    EXPECT_EQ(groups.groups(), 2U);
    EXPECT_EQ(mixed.parameters().size(), 2U);
    optim::LBFGS lbfgs({w}, optim::LBFGSOptions(1).max_iter(20).line_search_fn("strong_wolfe"));
    lbfgs.step([&] {
        lbfgs.zero_grad();
        const Tensor loss = sum((w - 3) * (w - 3));
        loss.backward();
        return loss;
    });
    EXPECT_NEAR(w[0].item<float>(), 3, 1e-4);
}

TEST(ParameterLists, AreRefusedWhereTheyAreNoLeaves)
{
    const Tensor w = leaf(1);
    EXPECT_THAT(error_of([&] { optim::SGD({w * 2}, 0.1); }).text,
                HasSubstr("can't optimize a non-leaf tensor"));
    EXPECT_THAT(error_of([&] { optim::LBFGS({w * 2}); }).text, HasSubstr("can't optimize a non-leaf tensor"));
    EXPECT_THAT(error_of([&] { optim::Adam({ones({2})}); }).text, HasSubstr("requires no gradient"));
    EXPECT_THAT(error_of([&] { optim::clip_grad_norm_({w * 2}, 1); }).text, HasSubstr("(0) is no leaf"));
    EXPECT_THAT(error_of([&] { optim::clip_grad_value_({w * 2}, 1); }).text, HasSubstr("(0) is no leaf"));
}

TEST(Clipping, TakesTensorsAndGivesANumber)
{
    Tensor a = leaf(1), b = leaf(1);
    const auto backward = [&] {
        a.zero_grad();
        b.zero_grad();
        (sum(a) * 3 + sum(b) * 4).backward();
    };
    backward();
    const double norm = nn::utils::clip_grad_norm_({a, b}, 1.0);
    EXPECT_NEAR(norm, std::sqrt(50.0), 1e-5); // torch: 7.0711
    EXPECT_NEAR(a.grad()[0].item<float>(), 3 / std::sqrt(50.0), 1e-5);
    backward();
    const auto one = nn::utils::clip_grad_norm_(std::vector<Tensor>{a, b}, 7, 1.0);
    EXPECT_NEAR(one, 14, 1e-5);
    EXPECT_TRUE(one > 13 && one < 15 && 13 < one && !(one == 0));
    const Tensor twice = one * 2;
    EXPECT_EQ(twice.item<float>(), 28);
    EXPECT_NEAR(b.grad()[0].item<float>(), 2, 1e-5);
    EXPECT_NEAR(nn::utils::clip_grad_norm_(a, 0.5, 2, true), 1.5 * std::sqrt(2.0), 1e-5);
    nn::utils::clip_grad_value_({a}, 0.1);
    EXPECT_FLOAT_EQ(a.grad()[1].item<float>(), 0.1F);
}

TEST(ParameterLists, GoToVectorsAndBack)
{
    Tensor a = leaf(1), b = leaf(2);
    const Tensor all = nn::utils::parameters_to_vector({a, b});
    EXPECT_THAT(all.to_vector<float>(), ElementsAre(1, 1, 2, 2));
    nn::utils::vector_to_parameters(all.detach() * 2, {a, b});
    EXPECT_THAT(b.to_vector<float>(), ElementsAre(4, 4));
    EXPECT_THAT(nn::utils::parameters_to_vector(std::vector<Tensor>{a * 2}).to_vector<float>(),
                ElementsAre(4, 4));
}

TEST(OptimizerOptions, AreBuiltAsInLibtorch)
{
    nn::Linear net(2, 1);
    const optim::SGD sgd(net.parameters(),
                         optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01).nesterov(true));
    EXPECT_EQ(sgd.get_lr(), 0.1);
    EXPECT_EQ(sgd.option("momentum"), 0.9);
    EXPECT_TRUE(static_cast<const optim::SGDOptions&>(sgd.defaults()).nesterov());
    const optim::Adam adam(net.parameters(),
                           optim::AdamOptions().lr(2e-4).betas(std::make_tuple(0.5, 0.99)).amsgrad(true)),
        other(net.parameters(), optim::AdamOptions(1e-3).betas({0.6, 0.99}).eps(1e-6));
    EXPECT_EQ(adam.option("beta1"), 0.5);
    EXPECT_EQ(other.option("beta1"), 0.6);
    EXPECT_EQ(other.option("eps"), 1e-6);
    optim::RMSprop(net.parameters(), optim::RMSpropOptions(0.01).alpha(0.9).momentum(0.1).centered(true));
    optim::Adagrad(net.parameters(), optim::AdagradOptions(0.1).lr_decay(0.1).initial_accumulator_value(1));
    optim::Lion(net.parameters(), optim::LionOptions(1e-4).betas({0.9, 0.9}));
    optim::Adadelta(net.parameters(), optim::AdadeltaOptions(1.0).rho(0.8));
    optim::Adamax(net.parameters(), optim::AdamaxOptions().eps(1e-7));
    optim::NAdam(net.parameters(),
                 optim::NAdamOptions(1e-3).momentum_decay(0.1).decoupled_weight_decay(true));
    optim::RAdam(net.parameters(), optim::RAdamOptions(1e-3).weight_decay(0.1));
    const optim::Adam::Options braces = optim::AdamOptions(0.25);
    EXPECT_EQ(braces.lr, 0.25);
    EXPECT_EQ(braces.betas.second, 0.999);
}

TEST(OptimizerOptions, OfAGroupAreThoseOfTheOptimizer)
{
    nn::Linear body(2, 2), head(2, 1);
    optim::Adam adam({{body.parameters(), {.lr = 1}}, {head.parameters()}}, optim::AdamOptions(0.5));
    auto& groups = adam.param_groups();
    EXPECT_EQ(groups[1].options().get_lr(), 0.5);
    for (auto& group : groups) group.options().set_lr(group.options().get_lr() * 0.5);
    EXPECT_EQ(adam.get_lr(0), 0.5);
    static_cast<optim::AdamOptions&>(groups[1].options()).lr(1e-4).betas({0.1, 0.2});
    EXPECT_EQ(adam.get_lr(1), 1e-4);
    EXPECT_EQ(adam.option("beta2", 1), 0.2);
    adam.set_lr(3);
    auto copy = static_cast<optim::AdamOptions&>(groups[1].options());
    EXPECT_EQ(copy.lr(), 3);
    EXPECT_EQ(copy.betas().first, 0.1);
    copy.lr(4).amsgrad(true);
    EXPECT_EQ(adam.get_lr(1), 3);
    EXPECT_THAT(error_of([&] { static_cast<optim::AdamOptions&>(groups[0].options()).amsgrad(true); }).text,
                HasSubstr("(amsgrad) of a group can't change"));
    EXPECT_THAT(error_of([&] { groups[0].options().set_lr(-1); }).text, HasSubstr("[Adam] The lr (-1)"));
    EXPECT_EQ(groups[1].params().size(), 2U);
    EXPECT_EQ(groups[1].params[0].cell(), head.weight.cell());
    static_cast<optim::AdamOptions&>(groups[1].options()).eps(1e-5).weight_decay(0.25);
    EXPECT_EQ(adam.option("eps", 1), 1e-5);
    EXPECT_EQ(adam.option("weight_decay", 1), 0.25);
    EXPECT_EQ(adam.option("beta2", 1), 0.2);
    optim::NAdam nadam(body.parameters(), optim::NAdamOptions(0.1));
    static_cast<optim::NAdamOptions&>(nadam.param_groups()[0].options()).momentum_decay(0.5);
    EXPECT_EQ(nadam.option("momentum_decay"), 0.5);
    EXPECT_EQ(static_cast<optim::NAdamOptions&>(nadam.param_groups()[0].options()).momentum_decay(), 0.5);
    groups[0].lr = groups[1].lr;
    adam.set_lr(7, 1);
    EXPECT_EQ(groups[0].lr, 3); // the number was copied, not the group
}

TEST(OptimizerOptions, OfAddedGroupsAreTheDefaults)
{
    nn::Linear a(2, 2), b(2, 1);
    Tensor w = leaf(1), u = leaf(1), z = leaf(1);
    optim::SGD sgd(a.parameters(), 0.1);
    sgd.add_param_group(b.parameters());
    static_cast<optim::SGDOptions&>(sgd.defaults()).lr(0.2);
    sgd.add_param_group({w, u});
    sgd.add_param_group(optim::OptimizerParamGroup({z}, std::make_unique<optim::SGDOptions>(0.3)));
    EXPECT_EQ(sgd.get_lr(1), 0.1);
    EXPECT_EQ(sgd.get_lr(2), 0.2);
    EXPECT_EQ(sgd.get_lr(3), 0.3);
    EXPECT_EQ(sgd.parameters(2).size(), 2U);
    std::vector<optim::OptimizerParamGroup> groups;
    groups.emplace_back(a.parameters(), std::make_unique<optim::AdamWOptions>(1e-5));
    groups.emplace_back(b.parameters());
    const optim::AdamW adamw(groups, optim::AdamWOptions(1e-4));
    EXPECT_EQ(adamw.get_lr(0), 1e-5);
    EXPECT_EQ(adamw.get_lr(1), 1e-4);
    EXPECT_THAT(error_of([&] { optim::SGD(groups, 0.1); }).text, HasSubstr("those of another optimizer"));
    EXPECT_THAT(error_of([&] { groups[1].options(); }).text, HasSubstr("has_options()"));
}

// Each keeps a number of its own for each parameter, in f32 whatever the parameter's dtype is.
TEST(NAdamState, GoesOnInHalves)
{
    Variable a(cast(from_vector({1.0F, -2.0F}), f16)), b(cast(from_vector({1.0F, -2.0F}), f16));
    optim::NAdam whole({a}, 0.1), first({b}, 0.1);
    const auto step = [](Variable& p, optim::NAdam& o) {
        o.zero_grad();
        sum(p * p).backward();
        o.step();
    };
    for (int i = 0; i < 4; ++i) step(a, whole);
    for (int i = 0; i < 2; ++i) step(b, first);
    const optim::StateDict state = first.state_dict();
    EXPECT_EQ(state.at("0.mu_product").dtype(), f32);
    EXPECT_EQ(state.at("0.mu_product").dim(), 0);
    EXPECT_EQ(state.at("0.exp_avg").dtype(), f16);
    optim::NAdam second({b}, 0.1);
    second.load_state_dict(state);
    for (int i = 0; i < 2; ++i) step(b, second);
    EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
    optim::StateDict wrong = state;
    wrong.at("0.mu_product") = cast(wrong.at("0.mu_product"), f16);
    EXPECT_EQ(error_of([&] { second.load_state_dict(wrong); }).kind, ErrorKind::dtype);
}

} // namespace
