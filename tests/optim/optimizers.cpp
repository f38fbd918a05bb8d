// Optimizers follow their formulas, eager and recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include <reprise/reprise.hpp>

#include "optim/reference.hpp"
#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace {

using namespace reprise;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t count = 7;
constexpr long long length = 7;

Variable parameter(std::size_t n = count) { return Variable(from_vector(initial(n))); }

std::vector<double> doubles(const std::vector<float>& v) { return {v.begin(), v.end()}; }

void expect_near(const Tensor& tensor, const std::vector<double>& expected, const char* what)
{
    const auto values = tensor.to_vector<float>();
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(values[i], expected[i], 2e-6 * (1 + std::abs(expected[i]))) << what << " " << i;
}

// Five steps with gradients given, against the formula in double: in eager code, and through a program
// whose input is the gradient.
template <class Reference, class Make> void follow(Reference eager, const Make& make)
{
    eager.p = doubles(initial(count));
    Reference replayed = eager;
    Variable p = parameter();
    const auto optimizer = make(p);
    for (int step = 0; step < 5; ++step) {
        p.set_grad(from_vector(gradient(count, step)));
        optimizer->step();
        eager.step(gradient(count, step));
        expect_near(p, eager.p, "eager");
    }
    Variable q = parameter();
    const auto recorded = make(q);
    const Program program = record(
        [&](Tensor g) {
            recorded->zero_grad();
            sum(q * g).backward(); // whose gradient is g
            recorded->step();
        },
        {spec({length})});
    expect_near(q, replayed.p, "recording changes nothing");
    for (int step = 0; step < 5; ++step) {
        program.call({from_vector(gradient(count, step))});
        replayed.step(gradient(count, step));
        expect_near(q, replayed.p, "recorded");
    }
    EXPECT_EQ(p.to_vector<float>(), q.to_vector<float>());
}

struct SgdFormula : testing::TestWithParam<optim::SGD::Options> {};

TEST_P(SgdFormula, FiveSteps)
{
    const optim::SGD::Options options = GetParam();
    follow(SgdReference{.o = options, .p = {}, .v = {}},
           [&](Variable p) { return std::make_unique<optim::SGD>(std::vector{p}, options); });
}

INSTANTIATE_TEST_SUITE_P(
    Options, SgdFormula,
    testing::Values(optim::SGD::Options{.lr = 0.1}, optim::SGD::Options{.lr = 0.1, .weight_decay = 0.01},
                    optim::SGD::Options{.lr = 0.1, .momentum = 0.9},
                    optim::SGD::Options{.lr = 0.1, .momentum = 0.9, .dampening = 0.3},
                    optim::SGD::Options{.lr = 0.1, .momentum = 0.9, .dampening = 1, .weight_decay = 0.1},
                    optim::SGD::Options{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true},
                    optim::SGD::Options{.lr = 0.1, .dampening = 0.5}, // no momentum: nothing to dampen
                    optim::SGD::Options{.lr = 0}));

struct AdamFormula : testing::TestWithParam<optim::Adam::Options> {};

TEST_P(AdamFormula, FiveSteps)
{
    const optim::Adam::Options options = GetParam();
    follow(AdamReference{.o = options, .p = {}, .m = {}, .v = {}},
           [&](Variable p) { return std::make_unique<optim::Adam>(std::vector{p}, options); });
}

INSTANTIATE_TEST_SUITE_P(Options, AdamFormula,
                         testing::Values(optim::Adam::Options{}, optim::Adam::Options{.lr = 0.1},
                                         optim::Adam::Options{.lr = 0.1, .betas = {0.5, 0.8}},
                                         optim::Adam::Options{.lr = 0.1, .betas = {0, 0}, .eps = 1e-3},
                                         optim::Adam::Options{.lr = 0.1, .weight_decay = 0.1},
                                         optim::Adam::Options{.lr = 0}));

struct AdamWFormula : testing::TestWithParam<optim::AdamW::Options> {};

TEST_P(AdamWFormula, FiveSteps)
{
    const optim::AdamW::Options o = GetParam();
    const optim::Adam::Options as_adam{
        .lr = o.lr, .betas = o.betas, .eps = o.eps, .weight_decay = o.weight_decay};
    follow(AdamReference{.o = as_adam, .p = {}, .m = {}, .v = {}, .decoupled = true},
           [&](Variable p) { return std::make_unique<optim::AdamW>(std::vector{p}, o); });
}

INSTANTIATE_TEST_SUITE_P(Options, AdamWFormula,
                         testing::Values(optim::AdamW::Options{}, optim::AdamW::Options{.lr = 0.1},
                                         optim::AdamW::Options{.lr = 0.1, .weight_decay = 0.5},
                                         optim::AdamW::Options{
                                             .lr = 0.1, .betas = {0.5, 0.8}, .weight_decay = 0}));

TEST(Adam, EqualStepsShareTheirNumbers)
{
    Variable a = parameter(), b = parameter();
    optim::Adam adam({a, b});
    const auto nodes_of_step = [&](bool of_both, int step) {
        a.set_grad(from_vector(gradient(count, step)));
        if (of_both) b.set_grad(from_vector(gradient(count, step)));
        const std::uint64_t before = stats().eager_nodes;
        adam.step();
        return stats().eager_nodes - before;
    };
    nodes_of_step(true, 0); // makes the moments
    const std::uint64_t equal = nodes_of_step(true, 1);
    b.zero_grad();
    nodes_of_step(false, 2);
    EXPECT_EQ(nodes_of_step(true, 3), equal + 4); // step_size and root, and an update with its skip for each
}

// Together in one node where their numbers are equal, one by one in programs, or each with an optimizer of its own.
TEST(Adam, ParametersTogetherHaveTheBitsOfEachByItself)
{
    const auto started = [](DType dtype) {
        return std::vector<Variable>{Variable(cast(from_vector(gradient(count, 20)), dtype)),
                                     Variable(cast(from_vector(gradient(7, 21)), dtype)),
                                     Variable(from_vector(gradient(1, 22)))};
    };
    for (const DType dtype : {f32, f16}) {
        std::vector<Variable> all = started(dtype), single = started(dtype), recorded = started(dtype);
        const optim::Adam::Options options{.lr = 0.05, .weight_decay = 0.1, .amsgrad = true};
        optim::Adam together(all, options), in_program(recorded, options);
        std::vector<std::unique_ptr<optim::Adam>> each;
        for (const Variable& p : single)
            each.push_back(std::make_unique<optim::Adam>(std::vector{p}, options));
        const auto set_gradients = [&](std::vector<Variable>& to, int step) {
            for (std::size_t i = 0; i < to.size(); ++i) {
                to[i].zero_grad();
                if (i == 1 && step == 1) continue; // its steps are fewer from then on
                to[i].set_grad(cast(from_vector(gradient(to[i].numel().value(), 30 + step)), to[i].dtype()));
            }
        };
        for (int step = 0; step < 4; ++step) {
            for (auto* to : {&all, &single, &recorded}) set_gradients(*to, step);
            together.step();
            for (const auto& o : each) o->step();
            const Program program = record([&](Tensor) { in_program.step(); }, {spec({1})});
            program.call({ones({1})});
            for (std::size_t i = 0; i < all.size(); ++i) {
                EXPECT_EQ(test::bits(all[i]), test::bits(single[i]))
                    << name_of(dtype) << i << " step " << step;
                EXPECT_EQ(test::bits(all[i]), test::bits(recorded[i]))
                    << name_of(dtype) << i << " step " << step;
            }
        }
    }
}

TEST(AdamW, NamesItsStateAsPyTorchAndItselfInErrors)
{
    Variable p = parameter();
    optim::AdamW optimizer({p});
    p.set_grad(from_vector(gradient(count, 0)));
    optimizer.step();
    const optim::StateDict state = optimizer.state_dict();
    for (const char* name : {"param_groups.0.params", "param_groups.0.lr", "param_groups.0.beta1", "0.step",
                             "0.exp_avg", "0.exp_avg_sq"})
        EXPECT_TRUE(state.contains(name)) << name;
    EXPECT_THAT(error_of([&] { optim::AdamW({p}, {.weight_decay = -1}); }).text,
                HasSubstr("[AdamW] The weight_decay (-1)"));
}

struct Kind {
    const char* name;
    const char* moment;
    std::unique_ptr<optim::Optimizer> (*make)(std::vector<Variable>, double lr);
};

template <class Optimizer, class Options>
std::unique_ptr<optim::Optimizer> made(std::vector<Variable> p, Options o)
{
    return std::make_unique<Optimizer>(std::move(p), o);
}

const Kind kinds[] = {
    {"SGD", "momentum_buffer",
     [](std::vector<Variable> p, double lr) {
         return made<optim::SGD>(std::move(p),
                                 optim::SGD::Options{.lr = lr, .momentum = 0.9, .dampening = 0.3});
     }},
    {"Adam", "exp_avg",
     [](std::vector<Variable> p, double lr) {
         return made<optim::Adam>(std::move(p), optim::Adam::Options{.lr = lr});
     }},
    {"AMSGrad", "max_exp_avg_sq",
     [](std::vector<Variable> p, double lr) {
         return made<optim::AdamW>(std::move(p), optim::AdamW::Options{.lr = lr, .amsgrad = true});
     }},
    {"RMSprop", "grad_avg",
     [](std::vector<Variable> p, double lr) {
         return made<optim::RMSprop>(std::move(p),
                                     optim::RMSprop::Options{.lr = lr, .momentum = 0.5, .centered = true});
     }},
    {"Adagrad", "sum",
     [](std::vector<Variable> p, double lr) {
         return made<optim::Adagrad>(
             std::move(p),
             optim::Adagrad::Options{.lr = lr, .lr_decay = 0.1, .initial_accumulator_value = 0.5});
     }},
    {"Adadelta", "acc_delta",
     [](std::vector<Variable> p, double lr) {
         return made<optim::Adadelta>(std::move(p), optim::Adadelta::Options{.lr = lr});
     }},
    {"Adamax", "exp_inf",
     [](std::vector<Variable> p, double lr) {
         return made<optim::Adamax>(std::move(p), optim::Adamax::Options{.lr = lr});
     }},
    {"NAdam", "exp_avg",
     [](std::vector<Variable> p, double lr) {
         return made<optim::NAdam>(std::move(p), optim::NAdam::Options{.lr = lr});
     }},
    {"RAdam", "exp_avg_sq",
     [](std::vector<Variable> p, double lr) {
         return made<optim::RAdam>(std::move(p), optim::RAdam::Options{.lr = lr});
     }},
    {"Lion", "exp_avg",
     [](std::vector<Variable> p, double lr) {
         return made<optim::Lion>(std::move(p), optim::Lion::Options{.lr = lr, .weight_decay = 0.1});
     }},
};

// The same in each kind.
struct AnyOptimizer : testing::TestWithParam<Kind> {
    std::unique_ptr<optim::Optimizer> make(std::vector<Variable> parameters, double lr = 0.1) const
    {
        return GetParam().make(std::move(parameters), lr);
    }
    static void set_grad(Variable p, int step) { p.set_grad(from_vector(gradient(count, step))); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, AnyOptimizer, testing::ValuesIn(kinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

TEST_P(AnyOptimizer, PassesOverParametersWithoutAGradient)
{
    Variable a = parameter(), b = parameter();
    const auto optimizer = make({a, b});
    for (int step = 0; step < 3; ++step) {
        set_grad(a, step);
        optimizer->step();
    }
    EXPECT_EQ(b.to_vector<float>(), initial(count));
    // b counts its own steps: what it does now is what a did at first.
    Variable c = parameter();
    const auto fresh = make({c});
    set_grad(b, 0);
    set_grad(c, 0);
    optimizer->step();
    fresh->step();
    EXPECT_EQ(b.to_vector<float>(), c.to_vector<float>());
}

TEST_P(AnyOptimizer, WithoutAnyGradientNothingHappens)
{
    Variable a = parameter();
    make({a})->step();
    EXPECT_EQ(a.to_vector<float>(), initial(count));
}

TEST_P(AnyOptimizer, ZeroGradForgets)
{
    Variable a = parameter();
    const auto optimizer = make({a});
    set_grad(a, 0);
    optimizer->zero_grad();
    EXPECT_FALSE(a.grad().defined());
}

TEST_P(AnyOptimizer, AnInfiniteParameterStays)
{
    Variable p(from_vector({HUGE_VALF, -HUGE_VALF}));
    const auto optimizer = GetParam().make({p}, 0.1);
    p.set_grad(from_vector({0.5f, 0.5f}));
    optimizer->step();
    EXPECT_THAT(p.to_vector<float>(), ElementsAre(HUGE_VALF, -HUGE_VALF));
}

TEST_P(AnyOptimizer, ParametersStayLeaves)
{
    Variable a = parameter();
    const auto optimizer = make({a});
    set_grad(a, 0);
    optimizer->step();
    EXPECT_TRUE(a.is_leaf() && a.requires_grad());
    EXPECT_TRUE(grad_enabled());
    sum(a * a).backward();
    EXPECT_TRUE(a.grad().defined());
}

TEST_P(AnyOptimizer, WhereAGradientDoesNotFitAllStay)
{
    Variable a = parameter(), b = parameter();
    const auto optimizer = make({a, b});
    set_grad(a, 0);
    const Caught caught = error_of([&] {
        b.set_grad(ones({3}));
        optimizer->step();
    });
    EXPECT_EQ(caught.kind, ErrorKind::shape);
    EXPECT_EQ(a.to_vector<float>(), initial(count));
    // and the step that failed is not counted.
    b.zero_grad();
    optimizer->step();
    Variable c = parameter();
    set_grad(c, 0);
    make({c})->step();
    EXPECT_EQ(a.to_vector<float>(), c.to_vector<float>());
}

TEST_P(AnyOptimizer, ParametersMayBeOnSeveralDevices)
{
    const CreationOptions reference{.device = Device("reference")};
    Variable p = parameter(), q(from_vector(initial(count), {length}, reference));
    const auto optimizer = make({p, q});
    for (int step = 0; step < 2; ++step) {
        set_grad(p, step);
        q.set_grad(from_vector(gradient(count, step), {length}, reference));
        optimizer->step();
    }
    expect_near(q, doubles(p.to_vector<float>()), "on the reference");
    EXPECT_NE(q.to_vector<float>(), initial(count));
}

TEST_P(AnyOptimizer, ARecordedProgramFollowsTheLearningRate)
{
    Variable p = parameter();
    const auto optimizer = make({p}, 0.1);
    const Program program = record(
        [&](Tensor g) {
            optimizer->zero_grad();
            sum(p * g).backward();
            optimizer->step();
        },
        {spec({length})});
    const Tensor g = from_vector(gradient(count, 1));
    optimizer->set_learning_rate(0);
    program.call({g});
    EXPECT_EQ(p.to_vector<float>(), initial(count));
    optimizer->set_learning_rate(0.5);
    program.call({g});
    EXPECT_NE(p.to_vector<float>(), initial(count));
    EXPECT_EQ(optimizer->learning_rate(), 0.5);
}

TEST_P(AnyOptimizer, EagerAndRecordedStepsMayAlternate)
{
    Variable p = parameter(), q = parameter();
    const auto mixed = make({p}), eager = make({q});
    const Program program = record(
        [&](Tensor g) {
            mixed->zero_grad();
            sum(p * g).backward();
            mixed->step();
        },
        {spec({length})});
    for (int step = 0; step < 6; ++step) {
        const Tensor g = from_vector(gradient(count, step));
        if (step % 3 == 1) {
            p.set_grad(g);
            mixed->step();
        } else {
            program.call({g});
        }
        q.set_grad(g);
        eager->step();
        EXPECT_EQ(p.to_vector<float>(), q.to_vector<float>()) << step;
    }
}

// Also where they were equal while it was recorded.
TEST_P(AnyOptimizer, AProgramCountsTheStepsOfEachParameter)
{
    Variable a = parameter(), b = parameter(), c = parameter(), d = parameter();
    const auto one = make({a, b}), two = make({c, d});
    const Program program = record(
        [&](Tensor g) {
            one->zero_grad();
            (sum(a * g) + sum(b * g)).backward();
            one->step();
        },
        {spec({length})});
    set_grad(a, 0);
    b.zero_grad();
    one->step();
    set_grad(c, 0);
    two->step();
    for (int step = 1; step < 3; ++step) {
        program.call({from_vector(gradient(count, step))});
        set_grad(c, step);
        set_grad(d, step);
        two->step();
        EXPECT_EQ(a.to_vector<float>(), c.to_vector<float>()) << step;
        EXPECT_EQ(b.to_vector<float>(), d.to_vector<float>()) << step;
    }
}

TEST_P(AnyOptimizer, AProgramMayHoldTwoSteps)
{
    Variable p = parameter(), q = parameter();
    const auto twice = make({p}), once = make({q});
    const Program program = record(
        [&](Tensor g, Tensor h) {
            for (const Tensor& each : {g, h}) {
                twice->zero_grad();
                sum(p * each).backward();
                twice->step();
            }
        },
        {spec({length}), spec({length})});
    for (int step = 0; step < 6; step += 2) {
        program.call({from_vector(gradient(count, step)), from_vector(gradient(count, step + 1))});
        for (const int half : {0, 1}) {
            q.set_grad(from_vector(gradient(count, step + half)));
            once->step();
        }
        EXPECT_EQ(p.to_vector<float>(), q.to_vector<float>()) << step;
    }
}

TEST_P(AnyOptimizer, AProgramOutlivesItsOptimizer)
{
    Variable p = parameter(), q = parameter();
    Program program;
    {
        const auto optimizer = make({p});
        program = record(
            [&](Tensor g) {
                optimizer->zero_grad();
                sum(p * g).backward();
                optimizer->step();
            },
            {spec({length})});
    }
    const auto other = make({q});
    for (int step = 0; step < 3; ++step) {
        program.call({from_vector(gradient(count, step))});
        q.set_grad(from_vector(gradient(count, step)));
        other->step();
    }
    EXPECT_EQ(p.to_vector<float>(), q.to_vector<float>());
}

TEST_P(AnyOptimizer, AStateThatIsLoadedGoesOnAsBefore)
{
    Variable p = parameter(), q = parameter(), unused = parameter();
    const auto first = make({p, unused});
    for (int step = 0; step < 3; ++step) {
        set_grad(p, step);
        first->step();
    }
    first->set_learning_rate(0.03);
    const optim::StateDict state = first->state_dict();
    EXPECT_FALSE(state.contains("1.step"));
    q.assign(p.detach());
    Variable unused_too = parameter();
    const auto second = make({q, unused_too});
    set_grad(unused_too, 0);
    second->step(); // state that the loaded one does not have
    unused_too.zero_grad();
    second->load_state_dict(state);
    EXPECT_EQ(second->learning_rate(), 0.03); // every bit of the double
    EXPECT_EQ(second->state_dict().size(), state.size());
    for (int step = 3; step < 6; ++step) {
        set_grad(p, step);
        set_grad(q, step);
        first->step();
        second->step();
        EXPECT_EQ(p.to_vector<float>(), q.to_vector<float>()) << step;
    }
    // The state was a snapshot.
    EXPECT_EQ(state.at("0.step").item<std::int32_t>(), 3);
    EXPECT_EQ(first->state_dict().at("0.step").item<std::int32_t>(), 6);
}

TEST_P(AnyOptimizer, ALoadedStateReachesARecordedProgram)
{
    Variable p = parameter();
    const auto optimizer = make({p});
    const Program program = record(
        [&](Tensor g) {
            optimizer->zero_grad();
            sum(p * g).backward();
            optimizer->step();
        },
        {spec({length})});
    program.call({from_vector(gradient(count, 0))});
    const auto at_one = p.to_vector<float>();
    const optim::StateDict state = optimizer->state_dict();
    program.call({from_vector(gradient(count, 1))});
    const auto at_two = p.to_vector<float>();
    program.call({from_vector(gradient(count, 2))});
    optimizer->load_state_dict(state);
    p.assign(from_vector(at_one));
    program.call({from_vector(gradient(count, 1))});
    EXPECT_EQ(p.to_vector<float>(), at_two);
}

TEST_P(AnyOptimizer, RefusesAStateThatDoesNotFitAndKeepsItsOwn)
{
    Variable p = parameter();
    const auto optimizer = make({p});
    set_grad(p, 0);
    optimizer->step();
    const optim::StateDict good = optimizer->state_dict();
    const std::string moment = std::string("0.") + GetParam().moment;
    ASSERT_TRUE(good.contains(moment));
    const auto refused = [&](const std::function<void(optim::StateDict&)>& spoil) {
        optim::StateDict state = good;
        state.at("param_groups.0.lr") = full({1}, 9);
        spoil(state);
        const Caught caught = error_of([&] { optimizer->load_state_dict(state); });
        EXPECT_THAT(caught.text, HasSubstr("[load_state_dict]"));
        EXPECT_EQ(optimizer->learning_rate(), 0.1);
        return caught;
    };
    EXPECT_EQ(refused([&](auto& s) { s.at(moment) = ones({3}); }).kind, ErrorKind::shape);
    EXPECT_EQ(refused([&](auto& s) { s.at(moment) = ones({length}, {.dtype = i32}); }).kind,
              ErrorKind::dtype);
    EXPECT_EQ(refused([&](auto& s) { s.at(moment) = Tensor(); }).kind, ErrorKind::shape);
    EXPECT_EQ(refused([&](auto& s) { s.erase(moment); }).kind, ErrorKind::argument);
    EXPECT_EQ(refused([&](auto& s) { s.erase("0.step"); }).kind, ErrorKind::argument);
    EXPECT_EQ(refused([&](auto& s) { s.erase("param_groups.0.lr"); }).kind, ErrorKind::argument);
    EXPECT_EQ(refused([&](auto& s) { s.at("param_groups.0.lr") = full({1}, -1); }).kind, ErrorKind::argument);
    EXPECT_EQ(refused([&](auto& s) { s.at("param_groups.0.lr") = full({2}, 1); }).kind, ErrorKind::argument);
    EXPECT_EQ(refused([&](auto& s) { s.at("0.step") = full({1}, 0, {.dtype = i32}); }).kind,
              ErrorKind::argument);
    EXPECT_EQ(refused([&](auto& s) { s.at("0.step") = full({1}, 1); }).kind, ErrorKind::argument);
    EXPECT_THAT(refused([&](auto& s) { s.emplace("1.step", full({1}, 1, {.dtype = i32})); }).text,
                HasSubstr("(1.step)"));
    EXPECT_THAT(refused([&](auto& s) { s.emplace("0.speed", ones({length})); }).text,
                HasSubstr("(0.speed) is not known"));
    for (const char* name :
         {"lr", "step", "0", "x.step", "-1.step", "99999999999999999999.step", "param_groups.1.lr"})
        EXPECT_EQ(refused([&](auto& s) { s.emplace(name, ones({1})); }).kind, ErrorKind::argument) << name;
}

TEST_P(AnyOptimizer, RefusesWhatCannotBeTrained)
{
    const auto refused = [&](std::vector<Variable> parameters) {
        const Caught caught = error_of([&] { make(parameters); });
        EXPECT_EQ(caught.kind, ErrorKind::argument) << caught.text;
        return caught.text;
    };
    const Variable p = parameter();
    EXPECT_THAT(refused({}), HasSubstr("no parameters"));
    EXPECT_THAT(refused({p, Variable()}), HasSubstr("(1) is undefined"));
    EXPECT_THAT(refused({Variable(ones({1}), false)}), HasSubstr("(0) requires no gradient"));
    EXPECT_THAT(refused({p, p}), HasSubstr("(1) comes twice"));
    EXPECT_EQ(error_of([&] { make({p}, -0.1); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([&] { make({p}, std::nan("")); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([&] { make({p})->set_learning_rate(-1); }).kind, ErrorKind::argument);
}

TEST(Optimizers, RefuseOptionsOutOfRange)
{
    const auto sgd = [](const optim::SGD::Options& o) {
        return error_of([&] { optim::SGD({parameter()}, o); }).text;
    };
    EXPECT_THAT(sgd({.momentum = -1}), HasSubstr("momentum (-1)"));
    EXPECT_THAT(sgd({.dampening = -1}), HasSubstr("dampening (-1)"));
    EXPECT_THAT(sgd({.weight_decay = -1}), HasSubstr("weight_decay (-1)"));
    EXPECT_THAT(sgd({.nesterov = true}), HasSubstr("Nesterov"));
    EXPECT_THAT(sgd({.momentum = 0.9, .dampening = 0.1, .nesterov = true}), HasSubstr("Nesterov"));
    const auto adam = [](const optim::Adam::Options& o) {
        return error_of([&] { optim::Adam({parameter()}, o); }).text;
    };
    EXPECT_THAT(adam({.betas = {1, 0.9}}), HasSubstr("beta1 (1)"));
    EXPECT_THAT(adam({.betas = {0.9, -0.1}}), HasSubstr("beta2 (-0.1)"));
    EXPECT_THAT(adam({.eps = -1}), HasSubstr("eps (-1)"));
    EXPECT_THAT(adam({.weight_decay = -1}), HasSubstr("weight_decay (-1)"));
}

} // namespace
