// The search of a learning rate, which changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using train::find_learning_rate;

struct Problem {
    Problem() { x.eval(), y.eval(); }
    Tensor x = (manual_seed(3), randn({64, 8})), y = matmul(x, randn({8, 1}));
    nn::Sequential net{nn::Linear(8, 16), nn::Dropout(0.1), nn::Tanh(), nn::Linear(16, 1)};
    optim::Adam optimizer{net->parameters(), {.lr = 0.123}};
    Program program = record(
        [this](const Tensor& in, const Tensor& target) {
            const Tensor loss = mse_loss((*net)(in), target);
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            return loss.detach();
        },
        {spec({64, 8}), spec({64, 1})});
    std::vector<train::Part> parts{{"net", *net}};
    double step() { return program(x, y).item<float>(); }
    std::vector<float> values() const
    {
        std::vector<float> all;
        for (const auto& state : {net->state_dict(), optimizer.state_dict()})
            for (const auto& [name, value] : state)
                for (const float v : value.to(f32).to_vector<float>()) all.push_back(v);
        return all;
    }
};

TEST(RateFinder, FindsARateThatTrains)
{
    Problem p;
    const auto found = find_learning_rate(p.optimizer, p.parts, [&] { return p.step(); });
    ASSERT_TRUE(found.suggestion);
    EXPECT_GT(*found.suggestion, 1e-4);
    EXPECT_LT(*found.suggestion, 1);
    EXPECT_EQ(found.rates.size(), found.losses.size());
    EXPECT_DOUBLE_EQ(found.rates[0], 1e-7);
    EXPECT_NEAR(found.rates[1] / found.rates[0], std::pow(1e8, 1 / 99.0), 1e-9);
    p.optimizer.set_lr(*found.suggestion);
    const double before = p.step();
    for (int i = 0; i < 100; ++i) p.step();
    EXPECT_LT(p.step(), before / 2);
}

TEST(RateFinder, LeavesEverythingAsItWas)
{
    for (const int steps_before : {0, 3}) {
        Problem p, same;
        const auto next = [](Problem& problem) { // with the same random numbers
            manual_seed(4);
            return problem.step();
        };
        for (int i = 0; i < steps_before; ++i) next(p), next(same);
        const auto before = p.values();
        find_learning_rate(p.optimizer, p.parts, [&] { return p.step(); }, {.num_iter = 10});
        EXPECT_EQ(p.values(), before);
        EXPECT_EQ(p.optimizer.get_lr(), 0.123);
        EXPECT_EQ(next(p), next(same));
        EXPECT_EQ(p.values(), same.values());
    }
}

TEST(RateFinder, LeavesEverythingAsItWasAfterAnError)
{
    Problem p;
    p.step();
    const auto before = p.values();
    int calls = 0;
    const Caught caught = error_of([&] {
        find_learning_rate(p.optimizer, p.parts, [&] {
            if (++calls == 4) throw Error(ErrorKind::state, "Stopped.");
            return p.step();
        });
    });
    EXPECT_THAT(caught.text, HasSubstr("Stopped."));
    EXPECT_EQ(p.values(), before);
    EXPECT_EQ(p.optimizer.get_lr(), 0.123);
}

TEST(RateFinder, GivesVariablesGroupsAndLoadersBack)
{
    Variable w(ones({2}), false), v(ones({1})), u(ones({1}));
    Tensor t = full({1}, 3);
    optim::SGD sgd({optim::ParamGroup<optim::SGD::Options>({v}, {.lr = 0.5}),
                    optim::ParamGroup<optim::SGD::Options>({u}, {.lr = 0.25})});
    data::DataLoader loader(data::TensorDataset(arange(8)), {.batch_size = 2});
    auto batches = loader.begin();
    ++batches;
    const auto place = loader.state_dict().at("batch").item<std::int64_t>();
    const auto restored = [&] {
        EXPECT_THAT(w.to_vector<float>(), ElementsAre(1, 1));
        EXPECT_THAT(t.to_vector<float>(), ElementsAre(3));
        EXPECT_EQ(sgd.get_lr(0), 0.5);
        EXPECT_EQ(sgd.get_lr(1), 0.25);
        EXPECT_EQ(loader.state_dict().at("batch").item<std::int64_t>(), place);
    };
    int calls = 0;
    const auto search = [&](int failing) {
        find_learning_rate(sgd, {{"w", w}, {"t", t}, {"loader", loader}},
                           [&] {
                               w.assign(w + 1);
                               t = t + 1;
                               if (calls < 2) ++batches;
                               EXPECT_EQ(sgd.get_lr(0), sgd.get_lr(1));
                               if (++calls == failing) throw Error(ErrorKind::state, "Stopped.");
                               return 1.0;
                           },
                           {.num_iter = 3});
    };
    search(0);
    restored();
    EXPECT_EQ(error_of([&] { search(calls + 2); }).kind, ErrorKind::state);
    restored();
}

// The first losses of a search are hardly smoothed, so that noise falls fastest there.
TEST(RateFinder, DoesNotSuggestTheNoiseOfTheFirstSteps)
{
    Variable v(ones({1}));
    optim::SGD sgd({v}, {.lr = 0.1});
    int at = 0;
    const auto found = find_learning_rate(sgd, {}, [&] {
        ++at;
        const double noise = at % 2 ? 0.5 : -0.5;
        return (at < 50 ? 5.0 : at < 60 ? 5 - 0.4 * (at - 50) : 1.0) + noise;
    });
    ASSERT_TRUE(found.suggestion);
    EXPECT_GT(*found.suggestion, found.rates[40]);
    EXPECT_LT(*found.suggestion, found.rates[75]);
}

TEST(RateFinder, EndsWhereTheLossDiverges)
{
    Variable v(ones({1}));
    optim::SGD sgd({v}, {.lr = 0.1});
    const auto losses = [&](std::vector<double> all) {
        std::size_t at = 0;
        return find_learning_rate(sgd, {}, [&] { return all.at(at++); },
                                  {.start_lr = 0.001, .end_lr = 1, .num_iter = 6, .smooth_f = 1});
    };
    EXPECT_THAT(losses({2, 1, 0.5, 3, 0, 0}).losses, SizeIs(4)); // 3 is above 4 times 0.5
    EXPECT_THAT(losses({2, 1, std::nan(""), 0, 0, 0}).losses, SizeIs(2));
    const auto found = losses({5, 4.5, 3, 2.9, 2.9, 4});
    EXPECT_THAT(found.losses, SizeIs(6));
    EXPECT_NEAR(*found.suggestion, found.rates[1], 1e-12); // 4.5 lies between 5 and 3
    EXPECT_FALSE(losses({1, 1, 1, 1, 1, 1}).suggestion);
    EXPECT_EQ(error_of([&] { losses({std::numeric_limits<double>::infinity()}); }).kind, ErrorKind::state);
    EXPECT_EQ(sgd.get_lr(), 0.1);
}

TEST(RateFinder, SmoothsLosses)
{
    Variable v(ones({1}));
    optim::SGD sgd({v}, {.lr = 0.1});
    double next = 3;
    const auto found = find_learning_rate(sgd, {}, [&] { return next--; }, {.num_iter = 3, .smooth_f = 0.5});
    EXPECT_THAT(found.losses,
                ElementsAre(testing::DoubleEq(3), testing::DoubleEq((0.5 * 2 + 0.25 * 3) / 0.75),
                            testing::DoubleEq((0.5 * 1 + 0.25 * 2 + 0.125 * 3) / 0.875)));
}

TEST(RateFinder, RefusesOptionsOutOfRange)
{
    Variable v(ones({1}));
    optim::SGD sgd({v}, {.lr = 0.1});
    for (const train::RateFinderOptions& o :
         {train::RateFinderOptions{.start_lr = 0}, train::RateFinderOptions{.start_lr = 1, .end_lr = 1},
          train::RateFinderOptions{.num_iter = 2}, train::RateFinderOptions{.smooth_f = 0},
          train::RateFinderOptions{.diverge_th = 1}})
        EXPECT_EQ(error_of([&] {
                      find_learning_rate(
                          sgd, {}, [] { return 1.0; }, o);
                  }).kind,
                  ErrorKind::argument);
    EXPECT_EQ(error_of([&] { find_learning_rate(sgd, {}, nullptr); }).kind, ErrorKind::argument);
    const Caught recording = error_of([&] {
        record(
            [&](Tensor x) {
                find_learning_rate(sgd, {}, [] { return 1.0; });
                return x;
            },
            {spec({1})});
    });
    EXPECT_EQ(recording.kind, ErrorKind::state);
}

} // namespace
