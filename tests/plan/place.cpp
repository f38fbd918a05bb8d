// The arena: no two values that live at once share a byte, whatever the sizes.
#include <gtest/gtest.h>

#include "plan/hand_made.hpp"
#include "plan/place.hpp"
#include "testing/values.hpp"

namespace reprise::plan {
namespace {

using Sizes = std::vector<std::uint64_t>;

Sizes random_sizes(const Plan& plan, test::Numbers& numbers, std::int64_t most)
{
    Sizes bytes(plan.values.size(), 0);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (plan.values[i].place == Place::temporary)
            bytes[i] = static_cast<std::uint64_t>(numbers.integer(0, 9) == 0 ? 0 : numbers.integer(1, most));
    return bytes;
}

// Temporaries with random lifetimes.
Plan random_plan(test::Numbers& numbers)
{
    Plan plan;
    plan.epochs = static_cast<std::uint32_t>(numbers.integer(1, 40));
    for (std::int64_t i = numbers.integer(1, 60); i > 0; --i) {
        PlanValue v;
        v.first = static_cast<std::uint32_t>(numbers.integer(0, plan.epochs - 1));
        v.last = static_cast<std::uint32_t>(std::min<std::int64_t>(
            plan.epochs - 1, v.first + numbers.integer(0, numbers.integer(0, 3) ? 3 : 30)));
        if (numbers.integer(0, 9) == 0) v.place = Place::output;
        plan.values.push_back(v);
    }
    return plan;
}

bool live_together(const PlanValue& a, const PlanValue& b) { return a.first <= b.last && b.first <= a.last; }

void expect_disjoint(const Plan& plan, const Sizes& bytes, const Sizes& offsets, std::uint64_t arena)
{
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (plan.values[i].place != Place::temporary || bytes[i] == 0) continue;
        EXPECT_EQ(offsets[i] % arena_alignment, 0u);
        EXPECT_LE(offsets[i] + bytes[i], arena);
        for (std::size_t k = 0; k < i; ++k) {
            if (plan.values[k].place != Place::temporary || bytes[k] == 0) continue;
            if (live_together(plan.values[i], plan.values[k])) {
                EXPECT_TRUE(offsets[i] + bytes[i] <= offsets[k] || offsets[k] + bytes[k] <= offsets[i])
                    << "values " << k << " and " << i;
            }
        }
    }
}

TEST(Place, ValuesThatLiveAtOnceAreDisjoint)
{
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        test::Numbers numbers(seed);
        const Plan plan = random_plan(numbers);
        const Placement placement(plan,
                                  std::vector<Sizes>{random_sizes(plan, numbers, 100000),
                                                     Sizes(plan.values.size(), 0),
                                                     random_sizes(plan, numbers, 3000)},
                                  24);
        for (int call = 0; call < 3; ++call) { // other sizes than those that the order was searched for
            const Sizes bytes = random_sizes(plan, numbers, call == 0 ? 100000 : 3000);
            Sizes offsets;
            const std::uint64_t arena = placement.fill(bytes, 0, 0, offsets);
            expect_disjoint(plan, bytes, offsets, arena);
            EXPECT_GE(arena, placement.lower_bound(bytes));
        }
        ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
}

TEST(Place, NoValueCrossesAWindow)
{
    constexpr std::uint64_t window = 8192;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        test::Numbers numbers(seed);
        const Plan plan = random_plan(numbers);
        const Sizes bytes = random_sizes(plan, numbers, window);
        const Placement placement(plan, std::vector<Sizes>{bytes}, 0);
        const std::uint64_t base = 256 * static_cast<std::uint64_t>(numbers.integer(0, 100));
        Sizes offsets;
        const std::uint64_t arena = placement.fill(bytes, base, window, offsets);
        expect_disjoint(plan, bytes, offsets, arena);
        for (std::size_t i = 0; i < bytes.size(); ++i)
            if (plan.values[i].place == Place::temporary && bytes[i] > 0) {
                EXPECT_EQ((base + offsets[i]) / window, (base + offsets[i] + bytes[i] - 1) / window) << i;
            }
        ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
}

TEST(Place, LargerThanAWindowIsAllowedToCrossIt)
{
    HandMade p;
    const auto a = p.temporary();
    p.launch({p.external()}, {a});
    p.launch({a}, {p.output()});
    p.epochs();
    Sizes bytes(p.plan.values.size(), 0), offsets;
    bytes[a] = 3 * 4096 + 1;
    EXPECT_GE(Placement(p.plan, std::vector<Sizes>{bytes}, 0).fill(bytes, 256, 4096, offsets), bytes[a]);
}

TEST(Place, AChainNeedsTwoPlaces)
{
    HandMade p;
    std::uint32_t last = p.external();
    Sizes bytes{0};
    for (int i = 0; i < 20; ++i) {
        const auto next = p.temporary();
        p.launch({last}, {next});
        bytes.push_back(4096);
        last = next;
    }
    p.epochs();
    const Placement placement(p.plan, std::vector<Sizes>{bytes}, 24);
    Sizes offsets;
    EXPECT_EQ(placement.fill(bytes, 0, 0, offsets), 2 * 4096u);
    EXPECT_EQ(placement.lower_bound(bytes), 2 * 4096u);
}

} // namespace
} // namespace reprise::plan
