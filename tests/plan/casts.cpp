// Casts that kernels take over, and casts that are repeated to save memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

#include "ops/registry.hpp"
#include "plan/hand_made.hpp"
#include "program/program.hpp"
#include "support/devices.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using plan::HandMade;

std::uint32_t typed(HandMade& p, plan::Place place, DType dtype, const Dim& elements = 64)
{
    const std::uint32_t v = p.value(place, elements);
    p.plan.values[v].dtype = dtype;
    return v;
}

// Adds a launch that casts value `from` to value `to`.
std::uint32_t cast(HandMade& p, std::uint32_t from, std::uint32_t to)
{
    const std::uint32_t i = p.launch({from}, {to});
    plan::PlanLaunch& l = p.plan.launches[i];
    for (plan::PlanOperand& o : l.operands) o.dtype = p.plan.values[o.value].dtype;
    kernels::Chain c;
    c.sizes = {p.plan.values[from].elements};
    c.inputs = {{.dtype = p.plan.values[from].dtype, .strides = {1}}};
    c.steps = {{&ops::row_op("cast"), {{}}, p.plan.values[to].dtype}};
    c.results = {0};
    l.chain = std::make_shared<const kernels::Chain>(std::move(c));
    return i;
}

// Adds a launch whose operands, the inputs and then the output, may be narrow: constants 0, 1, ...
std::uint32_t converting(HandMade& p, std::initializer_list<std::uint32_t> in, std::uint32_t out)
{
    const std::uint32_t i = p.launch(in, {out});
    plan::PlanLaunch& l = p.plan.launches[i];
    for (std::uint32_t k = 0; k < l.operands.size(); ++k) {
        l.operands[k].dtype = p.plan.values[l.operands[k].value].dtype;
        l.converts.push_back({k, k});
        l.constants.push_back(static_cast<std::uint32_t>(l.operands[k].dtype));
    }
    return i;
}

constexpr auto as_constant = [](DType t) { return static_cast<std::uint32_t>(t); };

TEST(FoldCasts, AReaderWidensAsItLoads)
{
    HandMade p;
    const auto narrow = typed(p, plan::Place::external, bf16), wide = p.temporary();
    cast(p, narrow, wide);
    plan::PlanLaunch& reader = p.plan.launches[converting(p, {wide}, p.output())];
    reader.kernel = "sum";
    reader.converting_kernel = "sum_dtypes";
    reader.label = "sum (%1 sum)";
    p.launch({wide}, {p.output()}); // can't
    plan::fold_casts(p.plan);
    ASSERT_EQ(p.plan.launches.size(), 3u);
    const plan::PlanLaunch& l = p.plan.launches[1];
    EXPECT_EQ(l.operands[0].value, narrow);
    EXPECT_EQ(l.operands[0].dtype, bf16);
    EXPECT_EQ(l.constants, (std::vector<std::uint32_t>{as_constant(bf16), as_constant(f32)}));
    EXPECT_EQ(l.kernel, "sum_dtypes");
    EXPECT_EQ(l.label, "sum_dtypes (%1 sum)");
    EXPECT_EQ(p.plan.launches[2].operands[0].value, wide);
}

// Kernels load four elements at a time.
TEST(FoldCasts, AReaderBeginsAtAMultipleOfFourElements)
{
    for (const std::int64_t offset : {4, 2}) {
        HandMade p;
        const auto narrow = typed(p, plan::Place::external, f16), wide = p.temporary();
        cast(p, narrow, wide);
        plan::PlanLaunch& reader = p.plan.launches[converting(p, {wide}, p.output())];
        reader.operands[0].offset = offset;
        plan::fold_casts(p.plan);
        const plan::PlanOperand& o = p.plan.launches[1].operands[0];
        EXPECT_EQ(o.value, offset == 4 ? narrow : wide);
        EXPECT_TRUE(same(o.offset, Dim(offset)));
    }
}

TEST(FoldCasts, AReaderBehindAWriteOfTheNarrowValueReadsTheWideOne)
{
    HandMade p;
    const auto narrow = typed(p, plan::Place::external, bf16), wide = p.temporary();
    cast(p, narrow, wide);
    p.launch({}, {narrow});
    converting(p, {wide}, p.output());
    plan::fold_casts(p.plan);
    EXPECT_EQ(p.plan.launches[2].operands[0].value, wide);
}

TEST(FoldCasts, AWriterNarrowsAsItStores)
{
    HandMade p;
    const auto wide = p.temporary(), narrow = typed(p, plan::Place::temporary, f16);
    converting(p, {p.external()}, wide);
    converting(p, {p.external()}, wide); // as its fallback does
    p.plan.launches[1].fallback_of = 0;
    cast(p, wide, narrow);
    p.launch({narrow}, {p.output()});
    plan::fold_casts(p.plan);
    ASSERT_EQ(p.plan.launches.size(), 3u); // without the cast
    for (const int i : {0, 1}) {
        EXPECT_EQ(p.plan.launches[i].operands[1].value, narrow);
        EXPECT_EQ(p.plan.launches[i].constants[1], as_constant(f16));
    }
}

TEST(FoldCasts, AWriterWhoseWideValueIsReadStays)
{
    HandMade p;
    const auto wide = p.temporary(), narrow = typed(p, plan::Place::temporary, f16);
    converting(p, {p.external()}, wide);
    cast(p, wide, narrow);
    p.launch({narrow, wide}, {p.output()});
    plan::fold_casts(p.plan);
    EXPECT_EQ(p.plan.launches.size(), 3u);
    EXPECT_EQ(p.plan.launches[0].operands[1].value, wide);
}

// Adds a launch that computes `out`, and in f16 or bf16 a copy of it.
std::uint32_t copying(HandMade& p, std::uint32_t in, std::uint32_t out)
{
    const std::uint32_t i = converting(p, {in}, out);
    plan::PlanLaunch& l = p.plan.launches[i];
    l.operands.push_back(l.operands[1]);
    l.operands[2].absent = true;
    l.converts.push_back({2, 2, 1});
    l.constants.push_back(as_constant(f32));
    return i;
}

// Adds this many launches with nothing in common with others.
void fill(HandMade& p, int count)
{
    for (int i = 0; i < count; ++i) p.launch({p.external()}, {p.output()});
}

TEST(FoldCasts, AWriterWhoseWideValueIsReadStoresBoth)
{
    for (const bool returned : {false, true}) {
        HandMade p;
        const auto wide = returned ? p.output() : p.temporary();
        const auto narrow = typed(p, plan::Place::temporary, bf16);
        const auto other = typed(p, plan::Place::temporary, f16);
        copying(p, p.external(), wide);
        cast(p, wide, narrow);
        cast(p, wide, other); // there is only one copy
        p.launch({narrow, wide, other}, {p.output()});
        plan::fold_casts(p.plan);
        ASSERT_EQ(p.plan.launches.size(), 3u) << returned;
        const plan::PlanLaunch& l = p.plan.launches[0];
        EXPECT_EQ(l.operands[1].value, wide);
        EXPECT_EQ(l.operands[2].value, narrow);
        EXPECT_TRUE(plan::writes(l.operands[2]));
        EXPECT_EQ(l.constants,
                  (std::vector<std::uint32_t>{as_constant(f32), as_constant(f32), as_constant(bf16)}));
        EXPECT_TRUE(plan::casts_whole_value(p.plan, p.plan.launches[1]));
    }
}

// The copy would wait for its readers, and an input has no writer.
TEST(FoldCasts, ALateCastOrOneOfAnInputStays)
{
    for (const int between : {7, 8}) {
        HandMade p;
        const auto wide = p.temporary(), narrow = typed(p, plan::Place::temporary, bf16);
        copying(p, p.external(), wide);
        fill(p, between);
        cast(p, wide, narrow);
        p.launch({narrow, wide}, {p.output()});
        plan::fold_casts(p.plan);
        EXPECT_EQ(p.plan.launches.size(), between == 7 ? 9u : 11u);
    }
    HandMade p;
    const auto input = p.external(), narrow = typed(p, plan::Place::temporary, bf16);
    cast(p, input, narrow);
    p.launch({narrow, input}, {p.output()});
    plan::fold_casts(p.plan);
    EXPECT_EQ(p.plan.launches.size(), 2u);
}

// Nothing touches the narrow value before the cast writes it.
TEST(FoldCasts, AWriterOfAValueThatIsReadBeforeStays)
{
    HandMade p;
    const auto wide = p.temporary(), narrow = typed(p, plan::Place::external, f16);
    converting(p, {p.external()}, wide);
    p.launch({narrow}, {p.output()});
    cast(p, wide, narrow);
    plan::fold_casts(p.plan);
    EXPECT_EQ(p.plan.launches.size(), 3u);
    EXPECT_EQ(p.plan.launches[0].operands[1].value, wide);
}

TEST(RepeatCasts, ALateReaderGetsACastOfItsOwn)
{
    HandMade p;
    const auto narrow = typed(p, plan::Place::temporary, bf16), wide = p.temporary(), other = p.temporary();
    p.launch({p.external()}, {narrow});
    cast(p, narrow, wide);
    p.launch({wide}, {p.output()}); // launch 2
    fill(p, 9);
    p.launch({p.external()}, {other}); // launch 12
    p.launch({wide, other}, {p.output()});
    plan::repeat_casts(p.plan);
    ASSERT_EQ(p.plan.launches.size(), 15u);
    EXPECT_EQ(p.plan.launches[2].operands[0].value, wide);
    const plan::PlanLaunch &again = p.plan.launches[13], &reader = p.plan.launches[14];
    EXPECT_EQ(again.operands[0].value, narrow);
    EXPECT_EQ(reader.operands[0].value, again.operands[1].value);
    EXPECT_NE(reader.operands[0].value, wide);
}

// Its cast is next to it, not next to the first one.
TEST(RepeatCasts, ALateReaderThatDependsOnNothingElseGetsItsCastLate)
{
    HandMade p;
    const auto narrow = typed(p, plan::Place::external, bf16), wide = p.temporary();
    cast(p, narrow, wide);
    p.launch({wide}, {p.output()});
    for (int reader = 0; reader < 4; ++reader) { // only two of them get their own
        fill(p, 20);
        p.launch({wide}, {p.output()});
    }
    plan::repeat_casts(p.plan);
    ASSERT_EQ(p.plan.launches.size(), 2u + 4 * 21 + 2);
    EXPECT_TRUE(plan::casts_whole_value(p.plan, p.plan.launches[22]));
    EXPECT_TRUE(plan::casts_whole_value(p.plan, p.plan.launches[44]));
}

TEST(RepeatCasts, ASourceThatChangesStays)
{
    HandMade p;
    const auto narrow = typed(p, plan::Place::external, bf16), wide = p.temporary();
    cast(p, narrow, wide);
    fill(p, 10);
    p.launch({}, {narrow});
    p.launch({wide}, {p.output()});
    plan::repeat_casts(p.plan);
    EXPECT_EQ(p.plan.launches.size(), 13u);
}

// A weight is cast once a step, and once more in a recomputation, where its copy is not kept for the gradient either.
TEST(RepeatCasts, StateIsNarrowedAgainOnlyInRecomputations)
{
    for (const bool recomputed : {false, true}) {
        HandMade p;
        const auto weight = p.external(), narrow = typed(p, plan::Place::temporary, bf16);
        cast(p, weight, narrow);
        if (recomputed) p.plan.launches[0].recomputation = 1;
        p.launch({narrow}, {p.output()});
        fill(p, 10);
        p.launch({narrow}, {p.output()});
        plan::repeat_casts(p.plan);
        EXPECT_EQ(p.plan.launches.size(), recomputed ? 14u : 13u);
    }
}

// -- programs --

std::size_t casts_alone(const Program& p)
{
    std::size_t count = 0;
    for (const plan::PlanLaunch& l : p.impl()->executable().compiled().plan.launches)
        count += plan::casts_whole_value(p.impl()->executable().compiled().plan, l);
    return count;
}

class Folded : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, Folded, testing::Values("lavapipe", "swiftshader", "gpu"),
                         [](const auto& test) { return test.param; });

// The kernels of rows read and write 16 bits on CPUs.
TEST_P(Folded, NormsAndSoftmaxNeedNoCasts)
{
    const Device device = test::imitation(GetParam());
    const test::UseDevice use(device);
    for (const auto& f : std::vector<std::function<Tensor(const Tensor&)>>{
             [](const Tensor& x) { return layer_norm(x, {x.size(1)}); },
             [](const Tensor& x) { return log_softmax(x, -1); },
             [](const Tensor& x) { return softmax(x, -1); }}) {
        const Program forward = record([&](const Tensor& x) { return cast(f(cast(x, f32)), bf16); },
                                       {spec({symbol("rows"), 64}, bf16)});
        EXPECT_EQ(casts_alone(forward), 0u);
        const Program odd = record([&](const Tensor& x) { return cast(f(cast(x, f32)), bf16); },
                                   {spec({64, symbol("columns")}, bf16)});
        EXPECT_GT(casts_alone(odd), 0u);
    }
}

// Norms store what is read in f32 and in 16 bits in both.
TEST_P(Folded, NormsStoreF32AndACopy)
{
    const Device device = test::imitation(GetParam());
    const test::UseDevice use(device);
    const Program forward = record(
        [&](const Tensor& x) {
            const Tensor y = layer_norm(x, {x.size(1)});
            return std::vector<Tensor>{y, cast(y, bf16)};
        },
        {spec({symbol("rows"), 64}, f32)});
    EXPECT_EQ(casts_alone(forward), 0u);
}

// A value is widened next to a reader that comes late, not by the launch that computes the value.
TEST(FuseCasts, AWideningCastMovesUpToANearProducerOnly)
{
    for (const int between : {0, 3, 8, 9, 30}) {
        HandMade p;
        const auto in = p.external(), narrow = typed(p, plan::Place::temporary, bf16), wide = p.temporary();
        cast(p, in, narrow);
        for (int i = 0; i < between + 1; ++i) p.launch({narrow}, {p.output()});
        cast(p, narrow, wide);
        p.launch({wide}, {p.output()});
        plan::fuse(p.plan, {});
        const auto is_chain = [](const plan::PlanLaunch& l) { return l.chain != nullptr; };
        EXPECT_EQ(std::ranges::count_if(p.plan.launches, is_chain), between + 1 > 8 ? 2 : 1) << between;
    }
}

} // namespace
} // namespace reprise
