// The engine: one recording for a function, one more for sizes that differ, and the bits of eager code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/checkpointing.hpp>
#include <reprise/memory.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using test::bits;
using test::random_tensor;
using testing::HasSubstr;
using Tensors = std::vector<Tensor>;

void expect_statistics(const RecomputationEngine& engine, std::uint64_t recomputations,
                       std::uint64_t recordings, std::size_t programs)
{
    const RecomputationStatistics s = engine.statistics();
    EXPECT_EQ(s.recomputations, recomputations);
    EXPECT_EQ(s.recordings, recordings);
    EXPECT_EQ(s.programs, programs);
}

TEST(RecomputationEngine, RecordsOnceAndReplays)
{
    const Variable w(random_tensor({4, 4}, 1));
    w.eval();
    int runs = 0;
    const TracedFunction f = [&](const Tensors& in) {
        ++runs;
        const Tensor y = tanh(matmul(in[0], w));
        return Tensors{y, y * in[1]};
    };
    RecomputationEngine engine;
    engine.register_function("f", f);
    EXPECT_EQ(runs, 0);
    for (std::uint64_t i = 1; i <= 3; ++i) {
        const Tensors in{random_tensor({3, 4}, i), random_tensor({3, 4}, i + 10)};
        const std::uint64_t before = stats().plans;
        const Tensors out = engine.recompute("f", in);
        EXPECT_EQ(stats().plans - before, i == 1 ? 1u : 0u);
        EXPECT_EQ(runs, 1);
        const Tensor y = tanh(matmul(in[0], w));
        ASSERT_EQ(out.size(), 2u);
        EXPECT_EQ(bits(out[0]), bits(y));
        EXPECT_EQ(bits(out[1]), bits(y * in[1]));
        EXPECT_FALSE(out[0].requires_grad());
    }
    expect_statistics(engine, 3, 1, 1);
    const RecomputationStatistics s = engine.statistics("f");
    EXPECT_EQ(s.recomputations, 3u);
    EXPECT_EQ(s.recordings, 1u);
}

// What it reads from outside is read at each call.
TEST(RecomputationEngine, ReadsWeightsAsTheyAre)
{
    Variable w(from_vector({1, 2}));
    RecomputationEngine engine;
    engine.register_function("f", [&](const Tensors& in) { return Tensors{in[0] * w}; });
    const Tensor x = from_vector({3, 4});
    EXPECT_EQ(bits(engine.recompute("f", {x})[0]), bits(from_vector({3, 8})));
    w.assign(from_vector({5, 6}));
    EXPECT_EQ(bits(engine.recompute("f", {x})[0]), bits(from_vector({15, 24})));
}

TEST(RecomputationEngine, RecordsSizesThatDifferAsSymbols)
{
    const Variable w(random_tensor({4, 4}, 1));
    int runs = 0;
    RecomputationEngine engine;
    engine.register_function("f", [&](const Tensors& in) {
        ++runs;
        return Tensors{sin(matmul(in[0], w)) + in[1]};
    });
    const auto check = [&](std::int64_t n, std::int64_t rows) {
        const Tensors in{random_tensor({n, 4}, 1), random_tensor({rows, 4}, 2)};
        EXPECT_EQ(bits(engine.recompute("f", in)[0]), bits(sin(matmul(in[0], w)) + in[1]));
    };
    check(3, 3);
    expect_statistics(engine, 1, 1, 1);
    for (const std::int64_t n : {5, 1, 7, 3, 0, 64}) check(n, n);
    expect_statistics(engine, 7, 2, 2); // 3 is served by the first
    EXPECT_EQ(runs, 2);
    // Where 1 broadcasts it is no symbol: for these sizes there is a recording of their own.
    check(6, 1);
    check(6, 1);
    EXPECT_EQ(engine.statistics().recomputations, 9u);
    EXPECT_LE(engine.statistics().recordings, 4u);
    const std::uint64_t before = engine.statistics().recordings;
    check(9, 9);
    check(6, 1);
    EXPECT_EQ(engine.statistics().recordings, before);
}

// Several sizes, one after the other: each becomes a symbol once.
TEST(RecomputationEngine, MakesRecordingsMoreGeneral)
{
    RecomputationEngine engine;
    engine.register_function("f", [](const Tensors& in) { return Tensors{sum(in[0] * 2, {1})}; });
    const auto check = [&](std::int64_t a, std::int64_t b, std::int64_t c) {
        const Tensor x = random_tensor({a, b, c}, 1);
        EXPECT_EQ(bits(engine.recompute("f", {x})[0]), bits(sum(x * 2, {1})));
    };
    check(2, 3, 4);
    check(5, 3, 4); // one symbol
    check(5, 3, 6); // two
    check(2, 3, 4);
    check(5, 7, 6); // three
    EXPECT_EQ(engine.statistics().recordings, 4u);
    for (const std::int64_t n : {1, 8, 9}) check(n, n + 1, 3);
    EXPECT_EQ(engine.statistics().recordings, 4u);
}

TEST(RecomputationEngine, StartsFromTheMostGeneralRecording)
{
    RecomputationEngine engine;
    engine.register_function("f", [](const Tensors& in) { return Tensors{in[0] * 2}; });
    const auto check = [&](std::int64_t a, std::int64_t b) { engine.recompute("f", {zeros({a, b})}); };
    check(2, 4);
    check(5, 4);
    check(2, 4); // the first is the one used last
    check(2, 6);
    EXPECT_EQ(engine.statistics().recordings, 3u);
    check(7, 9);
    EXPECT_EQ(engine.statistics().recordings, 3u);
}

// Sizes that were equal are one symbol until they differ.
TEST(RecomputationEngine, SplitsASymbol)
{
    RecomputationEngine engine;
    engine.register_function("f", [](const Tensors& in) { return Tensors{in[0] * 2, in[1] * 3}; });
    const auto check = [&](std::int64_t a, std::int64_t b) {
        const Tensor x = random_tensor({a}, 1), y = random_tensor({b}, 2);
        const Tensors out = engine.recompute("f", {x, y});
        EXPECT_EQ(bits(out[0]), bits(x * 2));
        EXPECT_EQ(bits(out[1]), bits(y * 3));
    };
    for (const std::int64_t n : {2, 3, 4}) check(n, n);
    EXPECT_EQ(engine.statistics().recordings, 2u);
    for (const std::int64_t n : {2, 3, 4}) check(n, n + 1);
    EXPECT_EQ(engine.statistics().recordings, 3u);
}

// A condition that one call breaks is no reason to give up symbols.
TEST(RecomputationEngine, KeepsToSymbolsWhereACallBreaksACondition)
{
    RecomputationEngine engine;
    engine.register_function("f", [](const Tensors& in) { return Tensors{in[0] + in[1]}; });
    const auto check = [&](std::int64_t a, std::int64_t b, DType dtype) {
        const Tensor x = ones({a}, {.dtype = dtype}), y = ones({b}, {.dtype = dtype});
        EXPECT_EQ(bits(engine.recompute("f", {x, y})[0]), bits(x + y));
    };
    check(3, 3, f32);
    check(6, 1, f32);
    const std::uint64_t before = engine.statistics().recordings;
    for (const std::int64_t n : {3, 5, 7, 9}) check(n, n, i32);
    EXPECT_EQ(engine.statistics().recordings, before + 2);
}

// Where 1 broadcasts it is a number, and the other size a symbol.
TEST(RecomputationEngine, RecordsWhatBroadcastsOnce)
{
    RecomputationEngine engine;
    engine.register_function("f", [](const Tensors& in) { return Tensors{in[0] + in[1]}; });
    const auto check = [&](std::int64_t a, std::int64_t b) {
        const Tensor x = random_tensor({a}, 1), y = random_tensor({b}, 2);
        EXPECT_EQ(bits(engine.recompute("f", {x, y})[0]), bits(x + y));
    };
    for (const std::int64_t n : {3, 5}) check(n, n);
    EXPECT_EQ(engine.statistics().recordings, 2u);
    for (std::int64_t n = 6; n <= 20; ++n) check(n, 1);
    EXPECT_LE(engine.statistics().recordings, 4u);
    for (std::int64_t n = 6; n <= 20; ++n) check(1, n);
    EXPECT_LE(engine.statistics().recordings, 5u);
    for (std::int64_t n = 6; n <= 20; ++n) check(n, n);
    EXPECT_LE(engine.statistics().recordings, 5u);
    EXPECT_EQ(error_of([&] {
                  return engine.recompute("f", {zeros({2}), zeros({3})});
              }).kind,
              ErrorKind::shape);
    const std::uint64_t before = engine.statistics().recordings;
    check(30, 1);
    EXPECT_EQ(engine.statistics().recordings, before);
}

TEST(RecomputationEngine, PassesUndefinedTensorsOn)
{
    RecomputationEngine engine;
    engine.register_function("f", [](const Tensors& in) {
        return Tensors{Tensor(), in[0].defined() ? in[0] * 2 : in[1] * 3};
    });
    for (const std::int64_t n : {2, 3, 4}) {
        const Tensor x = random_tensor({n}, 1);
        const Tensors first = engine.recompute("f", {x, Tensor()}),
                      second = engine.recompute("f", {Tensor(), x});
        ASSERT_EQ(first.size(), 2u);
        EXPECT_FALSE(first[0].defined());
        EXPECT_EQ(bits(first[1]), bits(x * 2));
        EXPECT_EQ(bits(second[1]), bits(x * 3));
    }
    EXPECT_EQ(engine.statistics().recordings, 4u); // of each kind one, and one for symbols
    const Program p = record([&](Tensor x) { return engine.recompute("f", {x, Tensor()})[1]; }, {spec({2})});
    EXPECT_EQ(bits(p(from_vector({1, 2}))), bits(from_vector({2, 4})));
}

// What reads sizes as numbers has a recording for each; those used last are held.
TEST(RecomputationEngine, FallsBackToARecordingForEachSize)
{
    int runs = 0;
    RecomputationEngine engine({}, 2);
    engine.register_function("f", [&](const Tensors& in) {
        ++runs;
        return Tensors{in[0] * static_cast<double>(in[0].size(0).value())};
    });
    const auto check = [&](std::int64_t n) {
        const Tensor x = random_tensor({n}, 1);
        EXPECT_EQ(bits(engine.recompute("f", {x})[0]), bits(x * static_cast<double>(n)));
    };
    check(2);
    EXPECT_EQ(runs, 1);
    check(3); // for a symbol in vain
    EXPECT_EQ(runs, 3);
    check(3);
    check(2);
    EXPECT_EQ(runs, 3);
    expect_statistics(engine, 4, 2, 2);
    check(4);
    EXPECT_EQ(runs, 4); // symbols are not tried again
    expect_statistics(engine, 5, 3, 2);
    check(2);
    EXPECT_EQ(runs, 4);
    check(3); // was the one used longest ago
    EXPECT_EQ(runs, 5);
}

TEST(RecomputationEngine, HasRecordingsByType)
{
    RecomputationEngine engine;
    engine.register_function(
        "f", [](const Tensors& in) { return Tensors{in.size() == 1 ? in[0] * 2 : in[0] + in[1]}; });
    const Tensor x = from_vector({1, 2}), y = cast(x, i32);
    EXPECT_EQ(bits(engine.recompute("f", {x})[0]), bits(x * 2));
    EXPECT_EQ(bits(engine.recompute("f", {y})[0]), bits(y * 2));
    EXPECT_EQ(bits(engine.recompute("f", {x, x})[0]), bits(x + x));
    EXPECT_EQ(bits(engine.recompute("f", {reshape(x, {1, 2})})[0]), bits(x * 2));
    expect_statistics(engine, 4, 4, 4);
}

TEST(RecomputationEngine, TakesNoInputs)
{
    const Variable w(from_vector({1, 2}));
    RecomputationEngine engine;
    engine.register_function("f", [&](const Tensors&) { return Tensors{w * 2}; });
    for (int i = 0; i < 2; ++i) EXPECT_EQ(bits(engine.recompute("f", {})[0]), bits(w * 2));
    expect_statistics(engine, 2, 1, 1);
}

// In a recording the function's ops become a part of the program.
TEST(RecomputationEngine, RecomputesInARecording)
{
    const Variable w(random_tensor({4}, 1));
    RecomputationEngine engine;
    engine.register_function("f", [&](const Tensors& in) { return Tensors{exp(in[0] * w)}; });
    const Program p = record(
        [&](Tensor x) {
            const Tensor y = engine.recompute("f", {x})[0];
            EXPECT_FALSE(y.requires_grad());
            return y * 2;
        },
        {spec({symbol("n"), 4})});
    expect_statistics(engine, 1, 0, 0);
    for (const std::int64_t n : {1, 3}) {
        const Tensor x = random_tensor({n, 4}, 2);
        EXPECT_EQ(bits(p(x)), bits(exp(x * w) * 2));
    }
}

TEST(RecomputationEngine, NamesMistakes)
{
    RecomputationEngine engine;
    const TracedFunction f = [](const Tensors& in) { return in; };
    engine.register_function("a", f);
    const auto refused = [](const auto& call) {
        const Caught error = error_of([&] { return call(), 0; });
        EXPECT_EQ(error.kind, ErrorKind::argument);
        return error.text;
    };
    EXPECT_THAT(refused([&] { engine.register_function("a", f); }),
                HasSubstr("[RecomputationEngine] The layer (a) is registered already"));
    EXPECT_THAT(refused([&] { engine.register_function("", f); }), HasSubstr("id is empty"));
    EXPECT_THAT(refused([&] { engine.register_function("b", nullptr); }), HasSubstr("function is null"));
    EXPECT_FALSE(engine.contains("b"));
    EXPECT_THAT(refused([&] { engine.recompute("b", {}); }),
                HasSubstr("The layer (b) is not registered: there are (a)"));
    EXPECT_THAT(refused([&] { (void)engine.statistics("b"); }), HasSubstr("(b) is not registered"));
    EXPECT_THAT(refused([] { RecomputationEngine e({}, 0); }), HasSubstr("(0)"));
    EXPECT_TRUE(engine.remove_function("a"));
    EXPECT_FALSE(engine.remove_function("a"));
    EXPECT_FALSE(engine.contains("a"));
    engine.register_function("a", f);
}

TEST(RecomputationEngine, RecordsWithItsOptions)
{
    RecomputationEngine within({.memory_budget = std::uint64_t{1} << 30}), nothing_fits({.memory_budget = 1});
    const TracedFunction f = [](const Tensors& in) { return Tensors{exp(in[0]) * 2}; };
    within.register_function("f", f);
    nothing_fits.register_function("f", f);
    const Tensor x = random_tensor({8}, 1);
    EXPECT_EQ(bits(within.recompute("f", {x})[0]), bits(exp(x) * 2));
    EXPECT_EQ(error_of([&] { return nothing_fits.recompute("f", {x}); }).kind, ErrorKind::out_of_memory);
    expect_statistics(nothing_fits, 0, 0, 0);
}

TEST(RecomputationEngine, EndsACallWhoseFunctionIsRemovedMeanwhile)
{
    RecomputationEngine engine;
    engine.register_function("f", [&](const Tensors& in) {
        EXPECT_TRUE(engine.remove_function("f"));
        return Tensors{in[0] + 1};
    });
    EXPECT_EQ(engine.recompute("f", {from_vector({1})})[0].item<float>(), 2);
    EXPECT_FALSE(engine.contains("f"));
    EXPECT_EQ(error_of([&] { return engine.recompute("f", {}); }).kind, ErrorKind::argument);
}

TEST(RecomputationEngine, LeavesFiguresAsTheyWereWhereAFunctionThrows)
{
    bool throws = true;
    RecomputationEngine engine;
    engine.register_function("f", [&](const Tensors& in) {
        const Tensor y = exp(in[0]);
        if (throws) throw std::runtime_error("of the user");
        return Tensors{y};
    });
    const Tensor x = random_tensor({64, 64}, 1);
    x.eval();
    const std::uint64_t before = MemoryTracker().current();
    EXPECT_THROW(engine.recompute("f", {x}), std::runtime_error);
    EXPECT_FALSE(is_recording());
    expect_statistics(engine, 0, 0, 0);
    EXPECT_EQ(MemoryTracker().current(), before);
    throws = false;
    EXPECT_EQ(bits(engine.recompute("f", {x})[0]), bits(exp(x)));
    throws = true; // in the recording for a symbol
    const Tensor other = random_tensor({32, 64}, 1);
    EXPECT_THROW(engine.recompute("f", {other}), std::runtime_error);
    expect_statistics(engine, 1, 1, 1);
    throws = false;
    EXPECT_EQ(bits(engine.recompute("f", {other})[0]), bits(exp(other)));
    expect_statistics(engine, 2, 2, 2);
}

// Inputs that the function does not take are its error, at each call; sizes that it takes are still symbols
// afterwards.
TEST(RecomputationEngine, SurvivesInputsThatDoNotFit)
{
    const Variable w(random_tensor({4, 4}, 1));
    RecomputationEngine engine;
    engine.register_function("f", [&](const Tensors& in) { return Tensors{matmul(in[0], w)}; });
    const auto check = [&](std::int64_t n) {
        const Tensor x = random_tensor({n, 4}, 2);
        EXPECT_EQ(bits(engine.recompute("f", {x})[0]), bits(matmul(x, w)));
    };
    check(2);
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(error_of([&] {
                      return engine.recompute("f", {random_tensor({2, 5}, 1)});
                  }).kind,
                  ErrorKind::shape);
    EXPECT_EQ(engine.statistics().recomputations, 1u);
    check(3);
    const std::uint64_t before = engine.statistics().recordings;
    for (const std::int64_t n : {4, 5, 6}) check(n);
    EXPECT_EQ(engine.statistics().recordings, before);
}

} // namespace
} // namespace reprise
