// GradScaler against PyTorch's over 1,000 steps with gradients that are not finite, and steps that the device skips.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>

#include <reprise/reprise.hpp>

#include "kernels/chain.hpp"
#include "program/program.hpp"
#include "shape/error_of.hpp"
#include "support/devices.hpp"

namespace {

using namespace reprise;
using testing::HasSubstr;
using Parameters = std::vector<Variable>;

constexpr double infinity = std::numeric_limits<double>::infinity();

// ---- the problem of scripts/make_optimizer_fixture.py ----

struct Row {
    std::vector<double> changes, parameters; // step and scale after it, for each change; after the last step
};
const std::map<std::string, Row>& expected()
{
    static const std::map<std::string, Row> rows{
#include "optim/grad_scaler.inc"
    };
    return rows;
}

struct Case {
    std::function<std::unique_ptr<optim::Optimizer>(const Parameters&)> make;
    GradScalerOptions options;
};
template <class O> auto with(const typename O::Options& o)
{
    return [o](const Parameters& p) { return std::make_unique<O>(p, o); };
}
const std::map<std::string, Case>& cases()
{
    static const std::map<std::string, Case> all{
        {"adam", {with<optim::Adam>({.lr = 0.01}), {.init_scale = 1024, .growth_interval = 7}}},
        {"adamw amsgrad",
         {with<optim::AdamW>({.lr = 0.01, .amsgrad = true}),
          {.growth_factor = 4, .backoff_factor = 0.25, .growth_interval = 20}}},
        {"sgd dampening",
         {with<optim::SGD>({.lr = 0.01, .momentum = 0.9, .dampening = 0.3}), {.growth_interval = 11}}},
        {"nadam", {with<optim::NAdam>({.lr = 0.01}), {.growth_interval = 7}}},
        {"radam", {with<optim::RAdam>({.lr = 0.01}), {.growth_interval = 7}}},
        {"adamax", {with<optim::Adamax>({.lr = 0.01}), {.growth_interval = 7}}},
        {"adagrad", {with<optim::Adagrad>({.lr = 0.3, .lr_decay = 0.1}), {.growth_interval = 7}}},
        {"rmsprop",
         {with<optim::RMSprop>({.lr = 0.001, .momentum = 0.5, .centered = true}), {.growth_interval = 7}}},
        {"adadelta", {with<optim::Adadelta>({.lr = 0.5}), {.growth_interval = 7}}},
        {"lion", {with<optim::Lion>({.lr = 0.001}), {.growth_interval = 7}}},
        {"sgd",
         {with<optim::SGD>({.lr = 0.01}), {.init_scale = 1, .growth_factor = 16, .growth_interval = 2}}},
    };
    return all;
}

double extra(const std::string& name, int step)
{
    if (name == "sgd" && step >= 100) return 0;
    if (step % 37 != 5 && step * step % 101 != 3 && (step < 300 || step >= 312)) return 0;
    return step % 3 == 0 ? infinity : step % 3 == 1 ? -infinity : std::nan("");
}

struct Problem {
    Parameters parts{Variable(from_vector(std::vector<float>{1, -2})),
                     Variable(from_vector(std::vector<float>{0.5, 3})),
                     Variable(from_vector(std::vector<float>{-0.25, 0}))};
    std::unique_ptr<optim::Optimizer> optimizer;
    GradScaler scaler;

    explicit Problem(const Case& c) : optimizer(c.make(parts)), scaler(c.options) {}
    Tensor loss(const Tensor& added) const
    {
        const Tensor p = cat({parts[0], parts[1], parts[2]}, 0);
        const Tensor a = from_vector(std::vector<float>{1, 0.5, 2, 0.25, 4, 1});
        const Tensor b = from_vector(std::vector<float>{0.5, 1, -1, 2, 0.25, -0.75});
        return sum(a * p * p / 2 - b * p) + sum(added * p);
    }
    Tensor step(const Tensor& added)
    {
        optimizer->zero_grad();
        const Tensor l = loss(added);
        scaler.scale(l).backward();
        scaler.step(*optimizer);
        scaler.update();
        return l;
    }
};

struct Scaled : testing::TestWithParam<std::tuple<std::string, bool>> {};

TEST_P(Scaled, FollowsPyTorch)
{
    const auto& [name, recorded] = GetParam();
    Problem problem(cases().at(name));
    const Row& want = expected().at(name);
    std::function<Tensor(const Tensor&)> step = [&](const Tensor& added) { return problem.step(added); };
    if (recorded) step = record([&](Tensor added) { return problem.step(added); }, {spec({})});
    double scale = problem.scaler.get_scale();
    std::size_t next = 0;
    for (int k = 0; k < 1000; ++k) {
        static_cast<void>(step(full({}, extra(name, k))));
        if (next < want.changes.size() && want.changes[next] == k) {
            scale = want.changes[next + 1];
            next += 2;
        }
        ASSERT_EQ(static_cast<float>(problem.scaler.get_scale()), static_cast<float>(scale))
            << "after step " << k;
    }
    for (std::size_t i = 0; i < 6; ++i)
        EXPECT_NEAR(problem.parts[i / 2].to_vector<float>()[i % 2], want.parameters[i],
                    2e-4 * (1 + std::fabs(want.parameters[i])))
            << i;
}

// Eager steps, of which 1,000 take seconds, by one optimizer that skips updates in its own kernel and by one that
// selects the old values.
std::vector<std::tuple<std::string, bool>> scaled_runs()
{
    std::vector<std::tuple<std::string, bool>> all{{"adam", false}, {"radam", false}};
    for (const auto& c : cases()) all.emplace_back(c.first, true);
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, Scaled, testing::ValuesIn(scaled_runs()), [](const auto& test) {
    std::string name = std::get<0>(test.param);
    std::replace(name.begin(), name.end(), ' ', '_');
    return name + (std::get<1>(test.param) ? "_recorded" : "_eager");
});

struct EachScaled : testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, EachScaled, testing::ValuesIn([] {
                             std::vector<std::string> names;
                             for (const auto& c : cases()) names.push_back(c.first);
                             return names;
                         }()),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::replace(name.begin(), name.end(), ' ', '_');
                             return name;
                         });

TEST_P(EachScaled, EagerStepsHaveTheBitsOfRecordedOnes)
{
    Problem eager(cases().at(GetParam())), recorded(cases().at(GetParam()));
    const Program program = record([&](Tensor added) { return recorded.step(added); }, {spec({})});
    for (int k = 0; k < 20; ++k) {
        const double added = k % 6 == 4 ? std::numeric_limits<double>::infinity() : 0;
        static_cast<void>(eager.step(full({}, added)));
        static_cast<void>(program(full({}, added)));
        ASSERT_EQ(eager.scaler.get_scale(), recorded.scaler.get_scale()) << "after step " << k;
    }
    for (std::size_t i = 0; i < eager.parts.size(); ++i)
        EXPECT_EQ(to_bytes(eager.parts[i]), to_bytes(recorded.parts[i])) << i;
}

// ---- what a step skips ----

Variable three() { return Variable(from_vector(std::vector<float>{1, 2, 3})); }
Tensor values(std::vector<float> v) { return from_vector(v); }

TEST(StepUnless, ChangesNothingWhereItIsSkipped)
{
    Variable p = three();
    optim::AdamW optimizer({p}, {.lr = 0.1});
    p.set_grad(values({1, -1, 2}));
    optimizer.step_unless(zeros({}));
    const auto before = optimizer.state_dict();
    const auto at = p.to_vector<float>();
    p.set_grad(values({5, 5, 5}));
    optimizer.step_unless(ones({1}));
    EXPECT_EQ(p.to_vector<float>(), at);
    const auto after = optimizer.state_dict();
    for (const auto& [name, value] : before)
        if (value.dtype() == f32)
            EXPECT_EQ(value.to_vector<float>(), after.at(name).to_vector<float>()) << name;
        else EXPECT_EQ(value.to_vector<std::int32_t>(), after.at(name).to_vector<std::int32_t>()) << name;
}

// Steps that the host counted, and then the device, are those of an optimizer whose host counts them all.
TEST(StepUnless, GoesOnWithTheHostsCountAndSavesIt)
{
    Variable a = three(), b = three();
    optim::Adam counted({a}, {.lr = 0.1}), plain({b}, {.lr = 0.1});
    for (int k = 0; k < 12; ++k) {
        const Tensor g = values({1, std::sin(static_cast<float>(k)), -2});
        a.set_grad(g);
        b.set_grad(g);
        if (k < 3 || k == 8) counted.step();
        else counted.step_unless(zeros({}));
        plain.step();
        if (k == 5) { // through a file's state
            const auto state = counted.state_dict();
            EXPECT_EQ(state.at("0.step").to_vector<std::int32_t>(), std::vector<std::int32_t>{6});
            a.set_grad(values({9, 9, 9}));
            const auto value = a.to_vector<float>();
            counted.step_unless(zeros({}));
            a.assign(values(value));
            counted.load_state_dict(state);
        }
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(a.to_vector<float>()[i], b.to_vector<float>()[i], 1e-6);
}

// A parameter that has a gradient in every second step only has its own count.
TEST(StepUnless, CountsEachParameter)
{
    Variable a = three(), b = three(), a2 = three(), b2 = three();
    optim::Adam counted({a, b}, {.lr = 0.1}), plain({a2, b2}, {.lr = 0.1});
    for (int k = 0; k < 6; ++k) {
        for (const Variable* v : {&a, &a2}) Variable(*v).set_grad(values({1, 2, 3}));
        for (const Variable* v : {&b, &b2}) Variable(*v).set_grad(k % 2 ? Tensor() : values({1, -1, 1}));
        counted.step_unless(zeros({}));
        plain.step();
    }
    EXPECT_EQ(counted.state_dict().at("0.step").to_vector<std::int32_t>()[0], 6);
    EXPECT_EQ(counted.state_dict().at("1.step").to_vector<std::int32_t>()[0], 3);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(a.to_vector<float>()[i], a2.to_vector<float>()[i], 1e-6);
        EXPECT_NEAR(b.to_vector<float>()[i], b2.to_vector<float>()[i], 1e-6);
    }
}

TEST(StepUnless, RefusesProgramsThatCountOnTheHost)
{
    Variable p = three();
    optim::SGD optimizer({p}, {.lr = 0.5});
    const Program program = record(
        [&](Tensor g) {
            p.set_grad(g);
            optimizer.step();
            return g * 1;
        },
        {spec({3})});
    static_cast<void>(program(values({1, 1, 1})));
    optimizer.step_unless(zeros({}));
    const auto at = p.to_vector<float>();
    const Caught caught = error_of([&] { return program(values({1, 1, 1})); });
    EXPECT_EQ(caught.kind, ErrorKind::state);
    EXPECT_THAT(caught.text, HasSubstr("[SGD] The group (0) counts its steps on the device"));
    EXPECT_EQ(p.to_vector<float>(), at);
}

TEST(StepUnless, RefusesWrongSkips)
{
    Variable p = three();
    optim::SGD optimizer({p}, {.lr = 0.5});
    for (const Tensor& skip : {Tensor(), ones({2}), ones({0})}) {
        const Caught caught = error_of([&] {
            optimizer.step_unless(skip);
            return 0;
        });
        EXPECT_EQ(caught.kind, ErrorKind::shape);
        EXPECT_THAT(caught.text, HasSubstr("give one number"));
    }
}

// ---- the scaler ----

// Gradients that clip_grad_norm_() sees between unscale_() and step() are those without a scale.
TEST(GradScaler, ClipsUnscaledGradients)
{
    Variable a = three(), b = three();
    optim::SGD first({a}, {.lr = 0.5}), second({b}, {.lr = 0.5});
    GradScaler scaler;
    scaler.scale(sum(a * a)).backward();
    scaler.unscale_(first);
    sum(b * b).backward();
    const float norm = optim::clip_grad_norm_({a}, 1.0).item<float>();
    EXPECT_EQ(norm, optim::clip_grad_norm_({b}, 1.0).item<float>());
    scaler.step(first);
    scaler.update();
    second.step();
    EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
}

// The same within a program, at three sizes.
TEST(GradScaler, ClipsUnscaledGradientsInAProgram)
{
    const auto train = [](bool scaled) {
        Variable p = three();
        optim::SGD optimizer({p}, {.lr = 0.5});
        GradScaler scaler({.enabled = scaled});
        const Program step = record(
            [&](Tensor x) {
                optimizer.zero_grad();
                scaler.scale(sum(p * p * sum(x))).backward();
                scaler.unscale_(optimizer);
                const Tensor norm = optim::clip_grad_norm_({p}, 1.0);
                scaler.step(optimizer);
                scaler.update();
                return norm;
            },
            {spec({symbol("n")})});
        std::vector<float> out;
        for (const std::int64_t n : {1, 4, 2}) {
            out.push_back(step(ones({n})).item<float>());
            for (const float v : p.to_vector<float>()) out.push_back(v);
        }
        return out;
    };
    EXPECT_EQ(train(true), train(false)); // the scale is a power of two
}

// An infinite element at each place of a workgroup's, also behind the last whole texel, and after the first 4096.
TEST(GradScaler, FindsOneInfiniteElement)
{
    for (const std::int64_t size : {1, 5, 300, 4099})
        for (const std::int64_t at : {std::int64_t{0}, size / 2, size - 1}) {
            std::vector<float> g(static_cast<std::size_t>(size), 1);
            const Tensor half = full({}, 0.5);
            EXPECT_EQ(unscale({values(g), zeros({3})}, half).nonfinite.item<float>(), 0) << size;
            g[static_cast<std::size_t>(at)] = static_cast<float>(at % 2 ? infinity : std::nan(""));
            EXPECT_EQ(unscale({zeros({3}), values(g)}, half).nonfinite.item<float>(), 1) << size << ' ' << at;
        }
    EXPECT_EQ(unscale({zeros({0}), zeros({2, 0})}, ones({})).nonfinite.item<float>(), 0);
}

// Of two optimizers one skips its step; the scale falls.
TEST(GradScaler, SkipsTheStepOfOneOptimizer)
{
    Variable a = three(), b = three();
    optim::SGD first({a}, {.lr = 1}), second({b}, {.lr = 1});
    GradScaler scaler({.init_scale = 4});
    const auto losses = scaler.scale(std::vector<Tensor>{sum(a * infinity), sum(b)});
    losses[0].backward();
    losses[1].backward();
    scaler.step(first);
    scaler.step(second);
    scaler.update();
    EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(b.to_vector<float>(), (std::vector<float>{0, 1, 2}));
    EXPECT_EQ(scaler.get_scale(), 2);
}

TEST(GradScaler, SavesItsStateAndChangesNumbersOfPrograms)
{
    Variable p = three();
    optim::SGD optimizer({p}, {.lr = 0.01});
    GradScaler scaler({.init_scale = 8, .growth_interval = 3});
    const Program program = record(
        [&](Tensor x) {
            optimizer.zero_grad();
            const Tensor loss = sum(p * x);
            scaler.scale(loss).backward();
            scaler.step(optimizer);
            scaler.update();
            return loss;
        },
        {spec({3})});
    const auto call = [&](int times) {
        for (int k = 0; k < times; ++k) static_cast<void>(program(values({1, 1, 1})));
        return scaler.get_scale();
    };
    EXPECT_EQ(call(2), 8);
    const auto state = scaler.state_dict();
    EXPECT_EQ(call(1), 16);
    scaler.set_growth_interval(1);
    scaler.set_growth_factor(4);
    EXPECT_EQ(call(2), 256);
    scaler.load_state_dict(state);
    EXPECT_EQ(scaler.get_growth_factor(), 2);
    EXPECT_EQ(call(1), 16);
    scaler.update(64.0);
    EXPECT_EQ(call(2), 64);
    EXPECT_EQ(call(1), 128);
    GradScaler other;
    other.load_state_dict(scaler.state_dict());
    EXPECT_EQ(other.get_scale(), 128);
    EXPECT_EQ(other.get_growth_interval(), 3);
}

// The scaler adds the pass that unscales and the reduction of its flags.  Of products of any batch size both native
// code and a kernel are recorded, which leaves less to run beside these.
TEST(GradScaler, AddsTwoEpochs)
{
    const device::Capabilities& caps = test::inner(default_device()).capabilities();
    if (caps.host_kernels || !kernels::can_fuse(caps)) return; // a launch for each op there
    const auto epochs = [](bool enabled) {
        nn::Sequential net(nn::Linear(8, 16), nn::ReLU(), nn::Linear(16, 4));
        optim::AdamW optimizer(net.parameters(), {.lr = 0.01});
        GradScaler scaler({.enabled = enabled});
        const Program program = record(
            [&](Tensor x) {
                optimizer.zero_grad();
                const Tensor loss = sum(net(x) * net(x));
                scaler.scale(loss).backward();
                scaler.step(optimizer);
                scaler.update();
                return loss;
            },
            {spec({symbol("batch"), 8})});
        std::uint32_t last = 0;
        for (const plan::PlanLaunch& l : program.impl()->executable().compiled().plan.launches)
            last = std::max(last, l.epoch);
        return last;
    };
    EXPECT_LE(epochs(true), epochs(false) + (caps.native_from ? 3 : 2));
}

// A recording that fails between step() and update() leaves nothing behind.
TEST(GradScaler, ForgetsARecordingThatFailed)
{
    Variable p = three();
    optim::SGD optimizer({p}, {.lr = 1});
    GradScaler scaler;
    const auto step = [&](bool fails) {
        return record(
            [&, fails](Tensor x) {
                optimizer.zero_grad();
                const Tensor loss = sum(p * x);
                scaler.scale(loss).backward();
                scaler.step(optimizer);
                if (fails) detail::fail(ErrorKind::argument, "test", "It fails.");
                scaler.update();
                return loss;
            },
            {spec({3})});
    };
    EXPECT_THAT(error_of([&] { return step(true).launches(); }).text, HasSubstr("It fails."));
    p.zero_grad();
    static_cast<void>(step(false)(values({1, 1, 1})));
    EXPECT_EQ(p.to_vector<float>(), (std::vector<float>{0, 1, 2}));
}

// However often it falls, its reciprocal stays finite.
TEST(GradScaler, StaysAboveTheSmallestNormalNumber)
{
    Variable p = three();
    optim::SGD optimizer({p}, {.lr = 1});
    GradScaler scaler({.init_scale = 0x1p-125, .backoff_factor = 0.25});
    for (int k = 0; k < 2; ++k) {
        optimizer.zero_grad();
        scaler.scale(sum(p * infinity)).backward();
        scaler.step(optimizer);
        scaler.update();
        EXPECT_EQ(scaler.get_scale(), 0x1p-125);
    }
    EXPECT_EQ(p.to_vector<float>(), (std::vector<float>{1, 2, 3}));
}

TEST(GradScaler, DoesNothingWhereItIsNotEnabled)
{
    Variable p = three();
    optim::SGD optimizer({p}, {.lr = 1});
    GradScaler scaler({.enabled = false});
    const Tensor loss = sum(p);
    EXPECT_EQ(scaler.scale(loss).cell(), loss.cell());
    loss.backward();
    scaler.unscale_(optimizer);
    scaler.step(optimizer);
    scaler.update();
    EXPECT_EQ(p.to_vector<float>(), (std::vector<float>{0, 1, 2}));
    EXPECT_EQ(scaler.get_scale(), 1);
    EXPECT_TRUE(scaler.state_dict().empty());
}

TEST(GradScaler, RefusesWrongCalls)
{
    Variable p = three(), narrow(zeros({2}, {.dtype = f16}));
    optim::SGD optimizer({p}, {.lr = 1}), of_f16({narrow}, {.lr = 1});
    GradScaler scaler;
    const auto refuses = [&](ErrorKind kind, const char* text, const std::function<void()>& call) {
        const Caught caught = error_of([&] {
            call();
            return 0;
        });
        EXPECT_EQ(caught.kind, kind) << text;
        EXPECT_THAT(caught.text, HasSubstr(text));
    };
    refuses(ErrorKind::state, "There is no scale yet: call scale()", [&] { scaler.step(optimizer); });
    refuses(ErrorKind::state, "There is no scale yet: call scale()", [&] { scaler.update(); });
    refuses(ErrorKind::dtype, "The loss is i32", [&] { scaler.scale(zeros({}, {.dtype = i32})); });
    refuses(ErrorKind::dtype, "The loss is undefined", [&] { scaler.scale(Tensor()); });
    const Tensor scaled = scaler.scale(sum(p));
    refuses(ErrorKind::state, "No parameter of the optimizer has a gradient",
            [&] { scaler.step(optimizer); });
    refuses(ErrorKind::state, "No step was made since the last update()", [&] { scaler.update(); });
    scaler.unscale_(optimizer); // nothing to unscale
    scaled.backward();
    scaler.unscale_(optimizer);
    refuses(ErrorKind::state, "unscale_() follows another unscale_()", [&] { scaler.unscale_(optimizer); });
    scaler.step(optimizer);
    refuses(ErrorKind::state, "step() follows another step()", [&] { scaler.step(optimizer); });
    refuses(ErrorKind::state, "unscale_() follows step()", [&] { scaler.unscale_(optimizer); });
    narrow.set_grad(ones({2}, {.dtype = f16}));
    refuses(ErrorKind::dtype, "The gradient of the parameter with index (0) is f16",
            [&] { scaler.step(of_f16); });
    for (const double scale : {0.0, -1.0, infinity, std::nan(""), 1e39, 0x1p-127})
        refuses(ErrorKind::argument, "The scale (", [&] { scaler.update(scale); });
    refuses(ErrorKind::argument, "growth_factor (1)", [] { GradScaler({.growth_factor = 1}); });
    refuses(ErrorKind::argument, "growth_factor (", [] { GradScaler({.growth_factor = 1e300}); });
    for (const double backoff : {1.0, 1e-50, 1 - 1e-9})
        refuses(ErrorKind::argument, "backoff_factor (", [&] { GradScaler({.backoff_factor = backoff}); });
    refuses(ErrorKind::argument, "growth_interval (0)", [] { GradScaler({.growth_interval = 0}); });
    refuses(ErrorKind::argument, "which is empty", [&] { scaler.load_state_dict({}); });
    auto state = scaler.state_dict();
    state["scale"] = zeros({2});
    refuses(ErrorKind::argument, "The entry (scale) must be one number",
            [&] { scaler.load_state_dict(state); });
}

} // namespace
