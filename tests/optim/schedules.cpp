// Schedules against PyTorch's, step by step; state; programs follow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>

#include <reprise/reprise.hpp>

#include "optim/numbers.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::HasSubstr;

const std::map<std::string, std::vector<double>>& expected()
{
    static const std::map<std::string, std::vector<double>> rows{
#include "optim/schedules.inc"
    };
    return rows;
}

Variable parameter() { return Variable(from_vector({1.0f})); }

std::unique_ptr<optim::Optimizer> sgd()
{
    auto o = std::make_unique<optim::SGD>(std::vector{parameter()},
                                          optim::SGD::Options{.lr = 0.5, .momentum = 0.9});
    o->add_param_group({parameter()}, {.lr = 0.25, .momentum = 0.9});
    return o;
}
std::unique_ptr<optim::Optimizer> adam()
{
    auto o = std::make_unique<optim::Adam>(std::vector{parameter()}, optim::Adam::Options{.lr = 0.5});
    o->add_param_group({parameter()}, {.lr = 0.25});
    return o;
}

// step() of any schedule.
using Step = std::function<void(int step)>;
using Make = std::function<std::shared_ptr<optim::LRScheduler>(optim::Optimizer&)>;

template <class S, class... Arguments> Make schedule(Arguments... arguments)
{
    return [=](optim::Optimizer& o) { return std::make_shared<S>(o, arguments...); };
}
Make sequence(std::vector<Make> parts, std::vector<std::int64_t> milestones)
{
    return [=](optim::Optimizer& o) {
        optim::Schedulers all;
        for (const Make& part : parts) all.push_back(part(o));
        return std::make_shared<optim::SequentialLR>(o, all, milestones);
    };
}
std::shared_ptr<optim::LRScheduler> chain(optim::Optimizer& o)
{
    return std::make_shared<optim::ChainedScheduler>(optim::Schedulers{
        std::make_shared<optim::ConstantLR>(o, 0.5, 4), std::make_shared<optim::ExponentialLR>(o, 0.9)});
}

const std::map<std::string, Make>& schedules()
{
    using Function = optim::LambdaLR::Function;
    const optim::OneCycleOptions cycle{.max_lr = {0.6}, .total_steps = 30};
    optim::OneCycleOptions linear{.max_lr = {0.6, 0.3}, .epochs = 5, .steps_per_epoch = 6, .pct_start = 0.4};
    linear.anneal_strategy = optim::OneCycleOptions::Anneal::linear;
    linear.base_momentum = 0.7;
    linear.max_momentum = 0.9;
    optim::OneCycleOptions three = cycle;
    three.three_phase = true;
    three.div_factor = 10;
    three.final_div_factor = 100;
    static const std::map<std::string, Make> all{
        {"step", schedule<optim::StepLR>(7, 0.3)},
        {"multi step", schedule<optim::MultiStepLR>(std::vector<std::int64_t>{3, 11, 11, 20}, 0.5)},
        {"constant", schedule<optim::ConstantLR>(0.25, 6)},
        {"linear", schedule<optim::LinearLR>()},
        {"linear down", schedule<optim::LinearLR>(0.9, 0.1, 12)},
        {"exponential", schedule<optim::ExponentialLR>(0.93)},
        {"polynomial", schedule<optim::PolynomialLR>(20, 1.7)},
        {"lambda", schedule<optim::LambdaLR>(Function([](std::int64_t e) { return std::pow(0.95, e); }))},
        {"lambda groups", schedule<optim::LambdaLR>(std::vector<Function>{
                              [](std::int64_t e) { return 1.0 / static_cast<double>(1 + e); },
                              [](std::int64_t e) { return e > 10 ? 0.5 : 1.0; }})},
        {"cosine", schedule<optim::CosineAnnealingLR>(10, 0.01)},
        {"warm restarts", schedule<optim::CosineAnnealingWarmRestarts>(5)},
        {"warm restarts growing", schedule<optim::CosineAnnealingWarmRestarts>(4, 2, 0.02)},
        {"one cycle", schedule<optim::OneCycleLR>(cycle)},
        {"one cycle linear", schedule<optim::OneCycleLR>(linear)},
        {"one cycle three phases", schedule<optim::OneCycleLR>(three)},
        {"one cycle adam", schedule<optim::OneCycleLR>(cycle)},
        {"cyclic",
         schedule<optim::CyclicLR>(optim::CyclicOptions{.base_lr = 0.1, .max_lr = 0.7, .step_size_up = 4})},
        {"cyclic halving cycle", schedule<optim::CyclicLR>(optim::CyclicOptions{.base_lr = {0.1, 0.05},
                                                                                .max_lr = {0.7, 0.2},
                                                                                .step_size_up = 3,
                                                                                .step_size_down = 6,
                                                                                .mode = "triangular2",
                                                                                .base_momentum = 0.7,
                                                                                .max_momentum = 0.95})},
        {"cyclic range", schedule<optim::CyclicLR>(optim::CyclicOptions{.base_lr = 0.1,
                                                                        .max_lr = 0.7,
                                                                        .step_size_up = 5,
                                                                        .mode = "exp_range",
                                                                        .gamma = 0.95,
                                                                        .cycle_momentum = false})},
        {"cyclic scaled",
         schedule<optim::CyclicLR>(optim::CyclicOptions{.base_lr = 0.1,
                                                        .max_lr = 0.7,
                                                        .step_size_up = 4,
                                                        .scale_fn = [](double x) { return 1 / (1 + x); },
                                                        .scale_mode = "iterations",
                                                        .cycle_momentum = false})},
        {"cyclic adam cycle", schedule<optim::CyclicLR>(0.1, 0.7, 4)},
        {"sequential",
         sequence({schedule<optim::LinearLR>(0.1, 1.0, 5), schedule<optim::CosineAnnealingLR>(20)}, {5})},
        {"sequential of three",
         sequence({schedule<optim::ConstantLR>(0.1, 4), schedule<optim::ExponentialLR>(0.9),
                   schedule<optim::CosineAnnealingWarmRestarts>(5)},
                  {4, 16})},
        {"sequential of steps",
         sequence({schedule<optim::StepLR>(2), schedule<optim::MultiStepLR>(std::vector<std::int64_t>{3, 5}),
                   schedule<optim::PolynomialLR>(8), schedule<optim::LinearLR>(0.5, 1.0, 4)},
                  {6, 13, 22})},
        {"chained", chain},
    };
    return all;
}

optim::ReduceLROnPlateauOptions plateau(const std::string& name)
{
    if (name == "plateau") return {.factor = 0.5, .patience = 2, .cooldown = 1, .min_lr = {0.01, 0.1}};
    return {.mode = optim::ReduceLROnPlateauOptions::Mode::max,
            .factor = 0.3,
            .patience = 1,
            .threshold = 0.2,
            .threshold_mode = optim::ReduceLROnPlateauOptions::Threshold::abs};
}
double metric(int step) { return 4.0 / (1 + step) + (step % 6 == 3 ? 0.5 : 0.0); }

struct Running {
    std::unique_ptr<optim::Optimizer> optimizer;
    std::shared_ptr<optim::LRScheduler> scheduler; // or
    std::unique_ptr<optim::ReduceLROnPlateau> plateau_;

    explicit Running(const std::string& name) : optimizer(name.find("adam") != name.npos ? adam() : sgd())
    {
        const auto found = schedules().find(name);
        if (found != schedules().end()) scheduler = found->second(*optimizer);
        else plateau_ = std::make_unique<optim::ReduceLROnPlateau>(*optimizer, plateau(name));
    }
    void step(int n) { scheduler ? scheduler->step() : plateau_->step(metric(n)); }
    optim::StateDict state() const { return scheduler ? scheduler->state_dict() : plateau_->state_dict(); }
    void load(const optim::StateDict& s)
    {
        scheduler ? scheduler->load_state_dict(s) : plateau_->load_state_dict(s);
    }
    std::vector<double> last() const
    {
        return scheduler ? scheduler->get_last_lr() : plateau_->get_last_lr();
    }
    void expect(const std::vector<double>& want, int step) const
    {
        const auto at = static_cast<std::size_t>(step);
        for (std::size_t g = 0; g < 2; ++g) {
            const double rate = want[2 * at + g];
            EXPECT_NEAR(optimizer->learning_rate(g), rate, 1e-12) << "group " << g << " at " << step;
            EXPECT_EQ(last()[g], optimizer->learning_rate(g));
        }
        if (want.size() == 90) {
            const char* name = optimizer->has_option("beta1") ? "beta1" : "momentum";
            EXPECT_NEAR(optimizer->option(name), want[60 + at], 1e-12) << name << " at " << step;
        }
    }
};

struct Schedule : testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(PyTorch, Schedule, testing::ValuesIn([] {
                             std::vector<std::string> names;
                             for (const auto& row : expected()) names.push_back(row.first);
                             return names;
                         }()),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::replace(name.begin(), name.end(), ' ', '_');
                             return name;
                         });

TEST_P(Schedule, HasPyTorchsRates)
{
    const std::vector<double>& want = expected().at(GetParam());
    Running r(GetParam());
    for (int step = 0; step < 30; ++step) {
        r.expect(want, step);
        r.step(step);
    }
}

// Saved after any number of steps, and loaded into one that stands elsewhere.
TEST_P(Schedule, GoesOnFromItsState)
{
    const std::vector<double>& want = expected().at(GetParam());
    for (const int pause : {1, 6, 17}) {
        Running before(GetParam()), after(GetParam());
        for (int step = 0; step < pause; ++step) before.step(step);
        for (int step = 0; step < 3; ++step) after.step(step);
        after.load(before.state());
        after.optimizer->load_state_dict(before.optimizer->state_dict());
        for (int step = pause; step < 30; ++step) {
            after.expect(want, step);
            after.step(step);
        }
    }
}

TEST_P(Schedule, RefusesAStateThatDoesNotFit)
{
    Running r(GetParam());
    r.step(0);
    const optim::StateDict good = r.state();
    const std::vector<double> last = r.last();
    for (const auto& entry : good) {
        optim::StateDict state = good;
        state.at(entry.first) = ones({2});
        EXPECT_THAT(error_of([&] { r.load(state); }).text, HasSubstr("(" + entry.first + ")"));
        state.erase(entry.first);
        EXPECT_THAT(error_of([&] { r.load(state); }).text, HasSubstr("(" + entry.first + ")"));
    }
    optim::StateDict more = good;
    more.emplace("speed", ones({1}));
    EXPECT_THAT(error_of([&] { r.load(more); }).text, HasSubstr("(speed)"));
    EXPECT_EQ(r.last(), last);
}

TEST(Schedules, AreAllOfPyTorchsRows) { EXPECT_EQ(expected().size(), schedules().size() + 2); }

TEST(Schedules, AreFollowedByPrograms)
{
    Variable p = parameter(), q = parameter();
    optim::SGD recorded({p}, {.lr = 1, .momentum = 0.5}), eager({q}, {.lr = 1, .momentum = 0.5});
    optim::OneCycleLR a(recorded, {.max_lr = {0.6}, .total_steps = 8}),
        b(eager, {.max_lr = {0.6}, .total_steps = 8});
    const Program program = record(
        [&](Tensor g) {
            recorded.zero_grad();
            sum(p * g).backward();
            recorded.step();
        },
        {spec({1})});
    for (int step = 0; step < 8; ++step) {
        const Tensor g = from_vector({static_cast<float>(step % 3)});
        program.call({g});
        q.set_grad(g);
        eager.step();
        EXPECT_EQ(p.to_vector<float>(), q.to_vector<float>()) << step;
        a.step();
        b.step();
    }
    EXPECT_NE(p.item<float>(), 1);
}

TEST(Schedules, OneCycleBeginsAtItsMilestone)
{
    optim::SGD optimizer({parameter()}, {.lr = 1, .momentum = 0.5}),
        alone({parameter()}, {.lr = 1, .momentum = 0.5});
    const auto steps = std::make_shared<optim::StepLR>(optimizer, 2, 0.5);
    const auto cycle = std::make_shared<optim::OneCycleLR>(
        optimizer, optim::OneCycleOptions{.max_lr = {0.6}, .total_steps = 8});
    optim::SequentialLR both(optimizer, {steps, cycle}, {3});
    for (int step = 0; step < 3; ++step) both.step();
    optim::OneCycleLR expected(alone, {.max_lr = {0.6}, .total_steps = 8});
    for (int step = 0; step < 8; ++step) {
        EXPECT_EQ(optimizer.learning_rate(), alone.learning_rate()) << step;
        if (step == 7) break;
        both.step();
        expected.step();
    }
}

TEST(Schedules, GoOnBehindALastEpoch)
{
    optim::SGD optimizer({parameter()}, {.lr = 0.5});
    EXPECT_THAT(error_of([&] { optim::StepLR(optimizer, 3, 0.1, 4); }).text,
                HasSubstr("[StepLR] The group (0) has no initial learning rate"));
    EXPECT_EQ(optimizer.learning_rate(), 0.5);
    optim::StepLR first(optimizer, 3);
    first.step();
    optim::StepLR next(optimizer, 3, 0.1, first.last_epoch());
    EXPECT_EQ(next.last_epoch(), 2);
    EXPECT_EQ(optimizer.learning_rate(), 0.5);
    next.step();
    EXPECT_NEAR(optimizer.learning_rate(), 0.05, 1e-15);
}

TEST(Schedules, RestartBetweenEpochs)
{
    optim::SGD optimizer({parameter()}, {.lr = 1});
    optim::CosineAnnealingWarmRestarts schedule(optimizer, 2, 2);
    schedule.step(0.5);
    EXPECT_NEAR(optimizer.learning_rate(), (1 + std::cos(0.25 * 3.14159265358979323846)) / 2, 1e-15);
    schedule.step(8.0); // 2 of the third period, which is of 8
    EXPECT_NEAR(optimizer.learning_rate(), (1 + std::cos(0.25 * 3.14159265358979323846)) / 2, 1e-15);
    EXPECT_EQ(schedule.last_epoch(), 8);
    EXPECT_THAT(error_of([&] { schedule.step(-1.0); }).text, HasSubstr("must be at least 0"));
}

TEST(Schedules, RefuseWhatDoesNotFit)
{
    const auto o = sgd(), other = sgd();
    optim::Adagrad adagrad({parameter()});
    optim::SGD plain({parameter()});
    const auto refused = [](const std::function<void()>& f) {
        const Caught caught = error_of(f);
        EXPECT_EQ(caught.kind, ErrorKind::argument) << caught.text;
        return caught.text;
    };
    EXPECT_THAT(refused([&] { optim::StepLR(*o, 0); }), HasSubstr("[StepLR] The step_size (0)"));
    EXPECT_THAT(refused([&] { optim::ConstantLR(*o, 1.5); }), HasSubstr("factor (1.5)"));
    EXPECT_THAT(refused([&] { optim::ConstantLR(*o, 0); }), HasSubstr("factor (0)"));
    EXPECT_THAT(refused([&] { optim::LinearLR(*o, 0); }), HasSubstr("start_factor (0)"));
    EXPECT_THAT(refused([&] { optim::LinearLR(*o, 0.5, -1); }), HasSubstr("end_factor (-1)"));
    EXPECT_THAT(refused([&] { optim::PolynomialLR(*o, 0); }), HasSubstr("total_iters (0)"));
    EXPECT_THAT(refused([&] { optim::CosineAnnealingLR(*o, 0); }), HasSubstr("T_max (0)"));
    EXPECT_THAT(refused([&] { optim::CosineAnnealingWarmRestarts(*o, 1, 0); }), HasSubstr("T_mult (0)"));
    EXPECT_THAT(refused([&] { optim::LambdaLR(*o, std::vector<optim::LambdaLR::Function>{}); }),
                HasSubstr("(0) functions for (2) groups"));
    EXPECT_THAT(refused([&] { optim::OneCycleLR(*o, {.max_lr = {1}}); }), HasSubstr("Give total_steps"));
    EXPECT_THAT(refused([&] {
                    optim::OneCycleLR(*o, {.max_lr = {1, 2, 3}, .total_steps = 3});
                }),
                HasSubstr("(3) numbers max_lr"));
    EXPECT_THAT(refused([&] { optim::OneCycleLR(*o, {.max_lr = {1}, .total_steps = 3, .pct_start = 2}); }),
                HasSubstr("pct_start"));
    EXPECT_THAT(refused([&] { optim::OneCycleLR(adagrad, {.max_lr = {1}, .total_steps = 3}); }),
                HasSubstr("neither a momentum"));
    EXPECT_THAT(refused([&] { optim::OneCycleLR(plain, {.max_lr = {1}, .total_steps = 3}); }),
                HasSubstr("has no momentum"));
    optim::OneCycleLR short_one(adagrad, {.max_lr = {1}, .total_steps = 2, .cycle_momentum = false});
    short_one.step();
    short_one.step();
    EXPECT_THAT(refused([&] { short_one.step(); }), HasSubstr("behind the last of (2)"));
    const auto one = std::make_shared<optim::StepLR>(*o, 1), two = std::make_shared<optim::StepLR>(*other, 1);
    EXPECT_THAT(refused([&] {
                    optim::SequentialLR(*o, {one, two}, {1});
                }),
                HasSubstr("different optimizers"));
    EXPECT_THAT(refused([&] { optim::SequentialLR(*o, {one, one}, {}); }), HasSubstr("(0) milestones"));
    EXPECT_THAT(refused([&] { optim::SequentialLR(*other, {one}, {}); }), HasSubstr("another optimizer"));
    EXPECT_THAT(refused([&] { optim::ChainedScheduler({}); }), HasSubstr("at least one"));
    EXPECT_THAT(refused([&] { optim::ReduceLROnPlateau(*o, {.factor = 1}); }), HasSubstr("factor (1)"));
    EXPECT_THAT(refused([&] {
                    optim::ReduceLROnPlateau(*o, {.min_lr = {1, 2, 3}});
                }),
                HasSubstr("(3) numbers"));
    const Caught recording = error_of([&] {
        return record(
            [&](Tensor x) {
                one->step();
                return x;
            },
            {spec({1})});
    });
    EXPECT_EQ(recording.kind, ErrorKind::state);
}

TEST(Schedules, KeepNumbersBeyondF32)
{
    constexpr double inf = std::numeric_limits<double>::infinity();
    const std::vector<double> numbers{
        1e300, -1e-310, inf, -inf, 0.1, -0.0, 3.5e38, 1e-40, std::numeric_limits<double>::max()};
    EXPECT_EQ(optim::numbers_of(optim::halves_of(numbers)), numbers);
    EXPECT_TRUE(std::isnan(optim::numbers_of(optim::halves_of({std::nan("")}))->front()));
    EXPECT_FALSE(optim::numbers_of(ones({3})));
    EXPECT_FALSE(optim::numbers_of(full({3}, 1, {.dtype = i32})));

    Variable p(ones({1}));
    optim::SGD optimizer({p}, {.lr = 1e300}), other({p}, {.lr = 1});
    optim::ReduceLROnPlateau plateau(optimizer), after(other);
    plateau.step(1e200);
    other.load_state_dict(optimizer.state_dict());
    EXPECT_EQ(other.learning_rate(), 1e300);
    after.load_state_dict(plateau.state_dict());
    for (int epoch = 0; epoch < 11; ++epoch)
        after.step(1e199); // an improvement, then ten that are passed over
    EXPECT_EQ(other.learning_rate(), 1e300);
    after.step(1e199);
    EXPECT_EQ(other.learning_rate(), 1e299);
}

// PyTorch divides by 0 there.
TEST(Schedules, OneCycleBeginsAtItsTopWhereTheFirstPhaseHasNoLength)
{
    for (const auto& [share, total] : {std::pair(0.25, 4), std::pair(0.5, 2), std::pair(1.0, 1)}) {
        optim::SGD optimizer({parameter()}, {.lr = 1, .momentum = 0.9});
        optim::OneCycleLR one(optimizer, {.max_lr = 0.5, .total_steps = total, .pct_start = share});
        EXPECT_EQ(optimizer.get_lr(), 0.5);
        EXPECT_EQ(optimizer.option("momentum"), 0.85);
        for (int step = 1; step < total; ++step) one.step();
        EXPECT_TRUE(std::isfinite(optimizer.get_lr()));
        if (total > 1) {
            EXPECT_NEAR(optimizer.get_lr(), 0.5 / 25 / 1e4, 1e-12);
        }
    }
}

TEST(Schedules, RefuseNullFunctionsAndStatesWhileRecording)
{
    optim::SGD optimizer({parameter()}, {.lr = 1});
    EXPECT_THAT(error_of([&] { optim::LambdaLR(optimizer, optim::LambdaLR::Function()); }).text,
                HasSubstr("[LambdaLR] A function is null"));
    optim::ReduceLROnPlateau plateau(optimizer);
    const optim::StateDict state = plateau.state_dict();
    Caught caught;
    record(
        [&](Tensor x) {
            caught = error_of([&] { plateau.load_state_dict(state); });
            return x + 1;
        },
        {spec({1})});
    EXPECT_EQ(caught.kind, ErrorKind::state);
}

TEST(Schedules, TakeWhatLibtorchAndPythonWrite)
{
    Variable p = parameter();
    optim::SGD opt({p}, {.lr = 1, .momentum = 0.9});
    optim::ReduceLROnPlateauScheduler plateau(opt, optim::ReduceLROnPlateauScheduler::min, 0.5, 1);
    for (const float loss : {1.0F, 1.0F, 1.0F}) plateau.step(loss);
    EXPECT_EQ(opt.get_lr(), 0.5); // torch: patience of 1, so at the third
    optim::lr_scheduler::ReduceLROnPlateau most(opt,
                                                {.mode = "max", .factor = 0.1, .patience = 0, .min_lr = 0.2});
    most.step(2);
    most.step(1);
    EXPECT_EQ(opt.get_lr(), 0.2);
    optim::ReduceLROnPlateau by_name(opt, "max");
    EXPECT_THAT(error_of([&] { optim::ReduceLROnPlateau(opt, "least"); }).text, HasSubstr("least"));
    opt.set_lr(1);
    opt.set_initial_learning_rate(1, 0);
    optim::lr_scheduler::LambdaLR warm(opt, [](int epoch) { return std::min(1.0, (epoch + 1) / 10.0); });
    warm.step();
    EXPECT_DOUBLE_EQ(opt.get_lr(), 0.2);
    optim::OneCycleLR one(opt, 0.1, 10),
        same(opt, {.max_lr = 0.1, .total_steps = 10, .anneal_strategy = "linear"});
    EXPECT_DOUBLE_EQ(opt.get_lr(), 0.004);
    EXPECT_THAT(error_of([&] {
                    optim::CyclicLR(opt, 0.1, {0.2, 0.3, 0.4});
                }).text,
                HasSubstr("(3) numbers max_lr"));
    EXPECT_THAT(error_of([&] { optim::CyclicLR(opt, 0.1, 0.2, 0); }).text, HasSubstr("step_size (0)"));
}

} // namespace
