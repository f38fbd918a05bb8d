// Devices of one process that train together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"
#include "support/data_parallel.hpp"
#include "support/ranks.hpp"

namespace reprise {
namespace {

using distributed::DeviceGroup, distributed::World;
using test::Result, test::train;

// All devices of this machine, at least two: the vendors that the test runs with.
std::vector<Device> all_devices()
{
    std::vector<Device> all;
    for (const DeviceDescription& d : devices())
        if (!d.name.empty() && d.refused.empty() && d.kind != "null") all.emplace_back(d.name);
    if (all.size() < 2) all.push_back(test::another_device());
    return all;
}

// Devices of different vendors follow one device, and a run with the same shares repeats.
TEST(DeviceGroupOf, TrainsAsOneDevice)
{
    DeviceGroup group(all_devices());
    if (const char* expected = std::getenv("REPRISE_TEST_DEVICES")) {
        ASSERT_EQ(group.size(), std::atoi(expected)) << group.description();
    }
    const GeneratorState before = generator_state();
    group.measure(
        [](const Device& d) {
            const Tensor x = rand({64, 64}, {.device = d});
            matmul(x, x).to_vector<float>();
            return std::int64_t{64};
        },
        std::chrono::milliseconds(50));
    EXPECT_EQ(generator_state(), before);
    std::vector<std::int64_t> begins;
    for (int k = 0; k < group.size(); ++k) begins.push_back(group.part(24, k).begin);
    begins.push_back(24);
    const auto run = [&](const test::Setting& s) {
        std::vector<Result> all(static_cast<std::size_t>(group.size()));
        group.run([&](const World& w, const Device& d) {
            all[static_cast<std::size_t>(w.rank())] = train(w, d, begins, s);
        });
        return all;
    };
    Result one;
    DeviceGroup({default_device()}).run([&](const World& w, const Device& d) {
        one = train(w, d, {0, 24}, {});
    });
    for (const bool zero : {false, true}) {
        const std::vector<Result> all = run({.zero = zero}), again = run({.zero = zero});
        for (std::size_t i = 0; i < one.losses.size(); ++i) {
            double loss = 0;
            for (const Result& r : all) loss += r.losses[i];
            EXPECT_NEAR(loss, one.losses[i], 5e-6 * one.losses[i]) << "step " << i;
        }
        for (std::size_t k = 0; k < all.size(); ++k) {
            EXPECT_EQ(all[k].weights, again[k].weights) << group.devices()[k].name();
            if (zero) {
                EXPECT_EQ(all[k].weights, all[0].weights) << group.devices()[k].name();
            }
        }
    }
    const std::string text = group.description();
    for (const Device& d : group.devices()) EXPECT_THAT(text, testing::HasSubstr(d.name()));
    EXPECT_THAT(text, testing::HasSubstr("samples/s"));
}

TEST(DeviceGroupOf, SharesByTheSpeed)
{
    DeviceGroup group({test::another_device(), test::another_device()});
    EXPECT_THAT(group.shares(), testing::ElementsAre(0.5, 0.5));
    const Device slow = group.devices()[1];
    group.measure(
        [&](const Device& d) {
            std::this_thread::sleep_for(std::chrono::milliseconds(d == slow ? 12 : 3));
            return std::int64_t{8};
        },
        std::chrono::milliseconds(120));
    EXPECT_GT(group.shares()[0], group.shares()[1]);
    EXPECT_NEAR(group.shares()[0] + group.shares()[1], 1, 1e-12);
    group.set_shares({3, 1});
    EXPECT_THAT(group.shares(), testing::ElementsAre(0.75, 0.25));
    for (const std::int64_t rows : {0, 1, 2, 7, 100}) {
        EXPECT_EQ(group.part(rows, 0).begin, 0);
        EXPECT_EQ(group.part(rows, 0).end, group.part(rows, 1).begin);
        EXPECT_EQ(group.part(rows, 1).end, rows);
    }
    EXPECT_EQ(group.part(100, 0).end, 75);
    group.set_shares({1000, 1}); // each has a row where there are enough
    EXPECT_EQ(group.part(2, 0).end, 1);
    EXPECT_EQ(group.part(1, 0).end, 1);
    EXPECT_EQ(error_of([&] { return group.measure([](const Device&) { return std::int64_t{0}; }), 0; }).kind,
              ErrorKind::argument);
}

TEST(DeviceGroupOf, GivesEachThreadItsDevice)
{
    DeviceGroup group({test::another_device(), test::another_device()});
    const Device usual = default_device();
    group.run([](const World& w, const Device& d) {
        EXPECT_EQ(default_device(), d);
        for (int i = 0; i < 20; ++i) {
            nn::Linear net(2, 2); // while the other rank may be in an exchange
            EXPECT_EQ(net.weight.device(), d);
            distributed::all_reduce(net.weight.detach(), w).to_vector<float>();
        }
    });
    EXPECT_EQ(default_device(), usual);
    const DeviceGuard outer(group.devices()[0]);
    {
        const DeviceGuard inner(group.devices()[1]);
        EXPECT_EQ(zeros({1}).device(), group.devices()[1]);
    }
    EXPECT_EQ(zeros({1}).device(), group.devices()[0]);
}

// Each thread draws the same numbers, and the process goes on from there.
TEST(DeviceGroupOf, GivesEachThreadAGenerator)
{
    DeviceGroup group({test::another_device(), test::another_device()});
    manual_seed(7);
    const std::vector<float> first = rand({4}).to_vector<float>(), second = rand({4}).to_vector<float>();
    manual_seed(7);
    group.run([&](const World&, const Device&) { EXPECT_EQ(rand({4}).to_vector<float>(), first); });
    EXPECT_EQ(rand({4}).to_vector<float>(), second);
}

// All ranks run in threads without the modes of the caller's.
TEST(DeviceGroupOf, BeginsEachThreadAnew)
{
    DeviceGroup group({test::another_device(), test::another_device()});
    const no_grad off;
    group.run([&](const World&, const Device&) { EXPECT_TRUE(grad_enabled()); });
    EXPECT_EQ(error_of([&] {
                  return record([&](Tensor x) { return group.run([](const World&, const Device&) {}), x; },
                                {spec({1})});
              }).kind,
              ErrorKind::state);
}

TEST(DeviceGroupOf, RethrowsTheFirstException)
{
    const auto from = std::chrono::steady_clock::now();
    DeviceGroup group({test::another_device(), test::another_device()});
    try {
        group.run([](const World& w, const Device& d) {
            if (w.rank() == 1) throw std::runtime_error("no more");
            distributed::all_reduce(ones({1}, {.device = d}), w).to_vector<float>();
        });
        ADD_FAILURE() << "no exception was thrown";
    } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "no more");
    }
    EXPECT_LT(std::chrono::steady_clock::now() - from, std::chrono::seconds(20)) << "the timeout is 30 s";
}

TEST(DeviceGroupOf, RefusesWhatDoesNotFit)
{
    EXPECT_THROW(DeviceGroup({}), Error);
    EXPECT_THROW(DeviceGroup({default_device(), default_device()}), Error);
    DeviceGroup group({default_device()});
    EXPECT_THROW(group.set_shares({1, 1}), Error);
    EXPECT_THROW(group.set_shares({0}), Error);
    EXPECT_THROW(group.set_shares({std::numeric_limits<double>::infinity()}), Error);
    EXPECT_THROW(group.part(-1, 0), Error);
    EXPECT_THROW(group.part(1, 1), Error);
}

// The tests name their device, which is then that of all ranks.
TEST(LocalDevice, IsTheOneThatIsNamed) { EXPECT_EQ(distributed::local_device(World()), default_device()); }

} // namespace
} // namespace reprise
