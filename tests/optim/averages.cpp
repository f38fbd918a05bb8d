// Averages of parameters, eager and recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using optim::ExponentialMovingAverage;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// What the average of these values is, in double.
double average_of(const std::vector<double>& values, double first, double decay, bool use_num_updates)
{
    double average = first, n = 0;
    for (const double v : values) {
        ++n;
        const double d = use_num_updates ? std::min(decay, (1 + n) / (10 + n)) : decay;
        average = d * average + (1 - d) * v;
    }
    return average;
}

TEST(MovingAverage, FollowsItsFormulaEagerAndRecorded)
{
    for (const bool use_num_updates : {false, true})
        for (const bool recorded : {false, true}) {
            Variable p(full({3}, 1)), q(full({2, 2}, -1));
            ExponentialMovingAverage ema({p, q}, {.decay = 0.6, .use_num_updates = use_num_updates});
            const auto step = [&](const Tensor& value) {
                p.assign(value.expand({3}));
                q.assign(-value.expand({2, 2}));
                ema.update();
                return value;
            };
            std::function<Tensor(const Tensor&)> call = step;
            if (recorded) call = record(step, {spec({})});
            std::vector<double> values;
            for (int i = 0; i < 20; ++i) {
                values.push_back(std::sin(i));
                static_cast<void>(call(full({}, values.back())));
            }
            const double want = average_of(values, 1, 0.6, use_num_updates);
            EXPECT_THAT(ema.averages()[0].to_vector<float>(),
                        Each(testing::FloatNear(static_cast<float>(want), 1e-5f)));
            EXPECT_THAT(ema.averages()[1].to_vector<float>(),
                        Each(testing::FloatNear(static_cast<float>(-want), 1e-5f)));
        }
}

TEST(MovingAverage, OfARecordedStepFollowsTheDecay)
{
    Variable p(zeros({1}));
    ExponentialMovingAverage ema({p}, {.decay = 1, .use_num_updates = false});
    const Program step = record(
        [&](Tensor x) {
            p.assign(x);
            ema.update();
            return x;
        },
        {spec({1})});
    static_cast<void>(step(ones({1})));
    EXPECT_THAT(ema.averages()[0].to_vector<float>(), ElementsAre(0));
    ema.set_decay(0);
    static_cast<void>(step(ones({1})));
    EXPECT_THAT(ema.averages()[0].to_vector<float>(), ElementsAre(1));
}

TEST(MovingAverage, IsOfWholeTrainingSteps)
{
    manual_seed(1);
    nn::Linear net(4, 2);
    optim::SGD sgd(net.parameters(), {.lr = 0.1});
    ExponentialMovingAverage ema(net.parameters(), {.decay = 0.5, .use_num_updates = false});
    const Tensor x = randn({8, 4});
    x.eval();
    const Program step = record(
        [&](Tensor in) {
            const Tensor loss = mean(square(net(in)));
            sgd.zero_grad();
            loss.backward();
            sgd.step();
            ema.update();
            return loss;
        },
        {spec({8, 4})});
    std::vector<double> first;
    const double begin = net.weight.to_vector<float>()[0];
    for (int i = 0; i < 5; ++i) {
        static_cast<void>(step(x));
        first.push_back(net.weight.to_vector<float>()[0]);
    }
    EXPECT_NEAR(ema.averages()[0].to_vector<float>()[0], average_of(first, begin, 0.5, false), 1e-6);
}

TEST(MovingAverage, LendsItsValuesToTheParameters)
{
    nn::Linear net(2, 1, {.bias = false});
    net.weight.assign(full({1, 2}, 2));
    ExponentialMovingAverage ema(net.parameters(), {.decay = 0.75, .use_num_updates = false});
    const Program test = record([&](Tensor x) { return net(x); }, {spec({1, 2})});
    net.weight.assign(full({1, 2}, 6));
    ema.update();
    const Tensor x = ones({1, 2});
    {
        const auto averaged = ema.average_parameters();
        EXPECT_THAT(net.weight.to_vector<float>(), Each(3));
        EXPECT_THAT(test(x).to_vector<float>(), ElementsAre(6));
        net.weight.assign(zeros({1, 2}));
    }
    EXPECT_THAT(net.weight.to_vector<float>(), Each(6));
    EXPECT_THAT(test(x).to_vector<float>(), ElementsAre(12));
    EXPECT_THAT(ema.averages()[0].to_vector<float>(), Each(3));
    ema.copy_to();
    EXPECT_THAT(net.weight.to_vector<float>(), Each(3));
}

TEST(MovingAverage, OfNarrowParametersIsKeptInF32)
{
    Variable p(ones({2}, {.dtype = bf16}));
    ExponentialMovingAverage ema({p}, {.decay = 0.999, .use_num_updates = false});
    p.assign(full({2}, 2, {.dtype = bf16}));
    for (int i = 0; i < 10; ++i) ema.update(); // each less than a step of bf16
    EXPECT_EQ(ema.averages()[0].dtype(), f32);
    EXPECT_THAT(ema.averages()[0].to_vector<float>(),
                Each(testing::FloatNear(static_cast<float>(2 - std::pow(0.999, 10)), 1e-5f)));
    ema.copy_to();
    EXPECT_EQ(p.dtype(), bf16);
}

TEST(MovingAverage, FollowsDecaysCloseToOne)
{
    for (const DType dtype : {f32, f64}) {
        const Device device = dtype == f64 ? Device("reference") : default_device();
        Variable p(zeros({2}, {.dtype = dtype, .device = device}));
        ExponentialMovingAverage ema({p}, {.decay = 0.999999, .use_num_updates = false});
        p.assign(ones({2}, {.dtype = dtype, .device = device}));
        ema.update();
        for (const double v : ema.averages()[0].to(Device("reference")).to(f64).to_vector<double>())
            EXPECT_NEAR(v, 1e-6, 1e-12);
    }
}

TEST(MovingAverage, GivesValuesBackToParametersThatWereCast)
{
    nn::Linear net(2, 1, {.bias = false});
    net.weight.assign(full({1, 2}, 2));
    ExponentialMovingAverage ema(net.parameters());
    net.weight.assign(full({1, 2}, 6));
    {
        auto averaged = ema.average_parameters();
        net.to(bf16);
        EXPECT_THAT(net.weight.to(f32).to_vector<float>(), Each(2));
        averaged.restore();
        EXPECT_THAT(net.weight.to(f32).to_vector<float>(), Each(6));
        net.weight.assign(full({1, 2}, 1, {.dtype = bf16}));
    }
    EXPECT_EQ(net.weight.dtype(), bf16);
    EXPECT_THAT(net.weight.to(f32).to_vector<float>(), Each(1)); // restored once
}

TEST(MovingAverage, IsLentWithinAnother)
{
    Variable p(zeros({1}));
    ExponentialMovingAverage slow({p}, {.decay = 1, .use_num_updates = false}),
        fast({p}, {.decay = 0.5, .use_num_updates = false});
    p.assign(full({1}, 4));
    fast.update();
    {
        const auto outer = slow.average_parameters();
        {
            const auto inner = fast.average_parameters();
            EXPECT_THAT(p.to_vector<float>(), ElementsAre(2));
        }
        EXPECT_THAT(p.to_vector<float>(), ElementsAre(0));
        const auto same = slow.average_parameters();
    }
    EXPECT_THAT(p.to_vector<float>(), ElementsAre(4));
}

TEST(MovingAverage, ThatIsLentEndsWhileAProgramIsRecorded)
{
    Variable p(ones({1}));
    ExponentialMovingAverage ema({p}, {.decay = 1, .use_num_updates = false});
    p.assign(full({1}, 3));
    struct Lent {
        explicit Lent(const ExponentialMovingAverage& of) : averaged(of.average_parameters()) {}
        ExponentialMovingAverage::Averaged averaged;
    };
    auto averaged = std::make_unique<Lent>(ema);
    const Program program = record(
        [&](Tensor x) {
            averaged.reset();
            return x * p;
        },
        {spec({1})});
    EXPECT_THAT(p.to_vector<float>(), ElementsAre(3));
    p.assign(full({1}, 5));
    EXPECT_THAT(program(ones({1})).to_vector<float>(), ElementsAre(5));
    EXPECT_THAT(p.to_vector<float>(), ElementsAre(5)); // the program does not restore it
}

TEST(MovingAverage, GoesOnFromItsState)
{
    Variable p(zeros({2})), q(zeros({2}));
    ExponentialMovingAverage a({p}), b({q});
    const auto step = [](Variable& v, ExponentialMovingAverage& ema, double value) {
        v.assign(full({2}, value));
        ema.update();
    };
    for (int i = 0; i < 3; ++i) step(p, a, i);
    b.load_state_dict(a.state_dict());
    step(p, a, 9), step(q, b, 9);
    EXPECT_EQ(a.averages()[0].to_vector<float>(), b.averages()[0].to_vector<float>());
    EXPECT_EQ(b.state_dict().at("updates").item<std::int32_t>(), 4);
    const auto before = b.averages()[0].to_vector<float>();
    auto state = a.state_dict();
    state.at("average.0") = zeros({3});
    EXPECT_EQ(error_of([&] { b.load_state_dict(state); }).kind, ErrorKind::shape);
    state.at("average.0") = zeros({2}, {.dtype = f64, .device = Device("reference")});
    EXPECT_EQ(error_of([&] { b.load_state_dict(state); }).kind, ErrorKind::dtype);
    state.erase("average.0");
    EXPECT_EQ(error_of([&] { b.load_state_dict(state); }).kind, ErrorKind::argument);
    EXPECT_EQ(b.averages()[0].to_vector<float>(), before);
}

TEST(MovingAverage, RefusesWhatItCannotAverage)
{
    EXPECT_EQ(error_of([] { ExponentialMovingAverage({}); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([] { ExponentialMovingAverage({Variable()}); }).kind, ErrorKind::argument);
    const Variable p(ones({1}));
    for (const double decay : {-0.1, 1.1, std::nan("")})
        EXPECT_EQ(error_of([&] { ExponentialMovingAverage({p}, {.decay = decay}); }).kind,
                  ErrorKind::argument);
    const Caught dtype =
        error_of([] { ExponentialMovingAverage({Variable(ones({1}, {.dtype = i32}), false)}); });
    EXPECT_EQ(dtype.kind, ErrorKind::dtype);
    EXPECT_THAT(dtype.text, HasSubstr("i32"));
    ExponentialMovingAverage ema({p});
    const Caught recording = error_of([&] {
        record(
            [&](Tensor x) {
                const auto averaged = ema.average_parameters();
                return x;
            },
            {spec({1})});
    });
    EXPECT_EQ(recording.kind, ErrorKind::state);
}

} // namespace
