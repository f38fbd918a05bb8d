// Plans of whole training steps are free of hazards at every size, no barrier of theirs is superfluous, and their
// arenas are about as small as they can be.  Nothing runs: the null device imitates each kind of driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include <reprise/ops.hpp>

#include "plan/verify.hpp"
#include "program/program.hpp"
#include "support/devices.hpp"
#include "support/training.hpp"

namespace reprise {
namespace {

using test::Net;
using testing::IsEmpty;

const std::vector<std::int64_t> batches = {0, 1, 2, 3, 4, 5, 7, 8, 16, 33, 64, 100, 257, 513, 1200};

struct Case {
    const char* device;
    Net net;
};

std::vector<Case> cases()
{
    std::vector<Case> out;
    for (const char* device : {"lavapipe", "native", "swiftshader", "gpu", "reference"})
        for (const Net net : test::all_nets) out.push_back({device, net});
    return out;
}

using execution::Executable;

// The places of a call at these sizes.  Inputs and state lie in memory of their own, as they do in a call.
Executable::Places places_at(Executable& executable, const Device& device,
                             const std::function<std::int64_t(std::uint32_t)>& size_of_symbol)
{
    Executable::Call call;
    for (const std::uint32_t id : executable.symbols()) call.symbols.push_back(size_of_symbol(id));
    std::vector<std::unique_ptr<device::Memory>> held;
    for (const std::uint32_t v : executable.compiled().external) {
        const plan::PlanValue& value = executable.compiled().plan.values[v];
        const auto bytes =
            static_cast<std::uint64_t>(value.elements.evaluate(size_of_symbol)) * size_of(value.dtype);
        held.push_back(test::inner(device).allocate(std::max<std::uint64_t>(bytes, 16)));
        call.externals.push_back({held.back()->address, bytes});
    }
    return executable.places(call);
}

class Step : public testing::TestWithParam<Case> {
protected:
    using Places = Executable::Places;

    Places at(std::int64_t size)
    {
        return places_at(executable(), device, [id = batch.symbols().at(0), size](std::uint32_t of) {
            return of == id ? size : std::int64_t{7};
        });
    }
    // First and last epoch of a value among the launches that run at these sizes.
    std::pair<std::uint32_t, std::uint32_t> life(std::size_t value, const Places& layout)
    {
        std::pair<std::uint32_t, std::uint32_t> out{plan().epochs, 0};
        for (std::size_t i = 0; i < plan().launches.size(); ++i)
            for (const plan::PlanOperand& o : plan().launches[i].operands)
                if (layout.enabled[i] && !o.absent && o.value == value)
                    out = {std::min(out.first, plan().launches[i].epoch), plan().launches[i].epoch};
        return out;
    }
    Executable& executable() { return *program.impl()->variants[0].executable; }
    const plan::Plan& plan() { return executable().compiled().plan; }

    Device device = std::string(GetParam().device) == "reference"
                        ? test::open(device::make_reference_device())
                        : test::imitation(GetParam().device);
    test::UseDevice use{device};
    test::Training training{GetParam().net};
    Dim batch = symbol("batch");
    Program program = training.recorded(batch);
};

INSTANTIATE_TEST_SUITE_P(Plans, Step, testing::ValuesIn(cases()), [](const auto& test) {
    return std::string(test.param.device) + "_" + name_of(test.param.net);
});

TEST_P(Step, HasNoHazardAtAnySize)
{
    for (const std::int64_t size : batches) {
        const Places l = at(size);
        EXPECT_THAT(plan::find_hazards(plan(), l.ranges, l.enabled), IsEmpty()) << "batch " << size;
    }
}

TEST_P(Step, EachDeletedBarrierIsNoticed)
{
    std::vector<Places> layouts;
    for (const std::int64_t size : batches) layouts.push_back(at(size));
    ASSERT_GT(plan().epochs, 5u);
    for (std::uint32_t barrier = 1; barrier < plan().epochs; ++barrier) {
        plan::Plan without = plan();
        for (plan::PlanLaunch& l : without.launches)
            if (l.epoch >= barrier) --l.epoch;
        const bool noticed = std::any_of(layouts.begin(), layouts.end(), [&](const Places& l) {
            return !plan::find_hazards(without, l.ranges, l.enabled).empty();
        });
        EXPECT_TRUE(noticed) << "the barrier before epoch " << barrier << " of\n" << plan::print(plan());
    }
}

// Moves one temporary onto another that lives at the same time.
TEST_P(Step, EachBadPlaceIsNoticed)
{
    const Places good = at(16);
    int pairs = 0;
    const auto& values = plan().values;
    for (std::size_t i = 0; i < values.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) {
            const auto [first, last] = life(i, good);
            const auto [other_first, other_last] = life(k, good);
            if (values[i].place != plan::Place::temporary || values[k].place != plan::Place::temporary)
                continue;
            if (first > other_last || other_first > last || first > last || other_first > other_last)
                continue;
            if (good.ranges[i].begin == good.ranges[i].end || good.ranges[k].begin == good.ranges[k].end)
                continue;
            std::vector<plan::Range> ranges = good.ranges;
            ranges[i].end = ranges[k].begin + (ranges[i].end - ranges[i].begin);
            ranges[i].begin = ranges[k].begin;
            ++pairs;
            EXPECT_FALSE(plan::find_hazards(plan(), ranges, good.enabled).empty())
                << "v" << i << " on v" << k << " of\n"
                << plan::print(plan());
        }
    EXPECT_GT(pairs, 3);
}

TEST_P(Step, TheArenaIsNearlyAsSmallAsItCanBe)
{
    const std::uint32_t id = batch.symbols().at(0);
    for (const std::int64_t size : batches) {
        std::vector<std::int64_t> symbols;
        for (const std::uint32_t s : executable().symbols()) symbols.push_back(s == id ? size : 7);
        const std::uint64_t least = executable().placed(symbols).lower_bound,
                            got = executable().arena_bytes(symbols);
        EXPECT_GE(got, least) << size;
        EXPECT_LE(static_cast<double>(got), 1.3 * static_cast<double>(least)) << size;
    }
}

// ---- launches that overwrite state which they read ----

class Overwrites : public testing::TestWithParam<const char*> {
protected:
    Executable& recorded(const TracedFunction& f, const std::vector<Spec>& specs)
    {
        program = record_function(f, specs);
        return *program.impl()->variants[0].executable;
    }
    Device device = test::imitation(GetParam());
    test::UseDevice use{device};
    Program program;
};
INSTANTIATE_TEST_SUITE_P(Devices, Overwrites, testing::Values("lavapipe", "swiftshader", "gpu"),
                         [](const auto& test) { return test.param; });

std::int64_t no_symbol(std::uint32_t) { return 0; }

TEST_P(Overwrites, ElementsThatOnlyItsInvocationReads)
{
    Variable v(ones({128, 64}), false);
    const std::pair<TracedFunction, std::vector<Spec>> cases[] = {
        {[&](const auto& in) {
             v.assign(v * 2 + in[0]); // a row that is repeated
             return std::vector<Tensor>{};
         },
         {spec({64})}},
        {[&](const auto& in) {
             const Tensor y = matmul(in[0], in[1]);
             v.assign(v * in[2] + y); // on a GPU by the product, which also stores y
             return std::vector<Tensor>{y};
         },
         {spec({128, 256}), spec({256, 64}), spec({128, 64})}},
        {[&](const auto& in) {
             // On devices with small launches one launch, in which each gradient writes its part of the flags.
             const Unscaled unscaled = unscale({in[0] + 1, in[1] + 1}, in[2]);
             std::vector<Tensor> out = unscaled.gradients;
             out.push_back(unscaled.nonfinite);
             return out;
         },
         {spec({40}), spec({50}), spec({})}},
    };
    for (const auto& [f, specs] : cases) {
        Executable& executable = recorded(f, specs);
        const Executable::Places places = places_at(executable, device, no_symbol);
        EXPECT_THAT(plan::find_hazards(executable.compiled().plan, places.ranges, places.enabled), IsEmpty());
    }
}

TEST_P(Overwrites, ElementsOfOtherInvocationsAreNoticed)
{
    Variable v(ones({128, 64}), false);
    Executable& executable = recorded(
        [&](const auto& in) {
            v.assign(v * 2 + in[0]);
            return std::vector<Tensor>{};
        },
        {spec({64})});
    const Executable::Places places = places_at(executable, device, no_symbol);
    plan::Plan wrong = executable.compiled().plan;
    for (plan::PlanLaunch& l : wrong.launches) {
        if (!l.is_elementwise() || !l.in_place) continue;
        auto chain = *l.chain;
        for (auto& in : chain.inputs) std::fill(in.strides.begin(), in.strides.end(), Dim(0));
        l.chain = std::make_shared<const kernels::Chain>(std::move(chain));
    }
    EXPECT_FALSE(plan::find_hazards(wrong, places.ranges, places.enabled).empty());
}

} // namespace
} // namespace reprise
