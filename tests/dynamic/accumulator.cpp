// Sums of gradients whose sizes may be symbols.
#include <memory>

#include "dynamic/common.hpp"
#include "support/devices.hpp"

namespace reprise {
namespace {

using namespace test;
using Accumulator = GradientAccumulatorDynamic;

TEST(GradientAccumulatorDynamic, AddsUp)
{
    Accumulator sums;
    EXPECT_FALSE(sums.get_accumulated({2}));
    sums.accumulate(from_vector({1, 2}), {2});
    EXPECT_THAT(floats(sums.get_accumulated({2}).value()), ElementsAre(1, 2));
    sums.accumulate(from_vector({10, 20}), {2});
    EXPECT_THAT(floats(sums.get_accumulated({2}).value()), ElementsAre(11, 22));
    sums.reset();
    EXPECT_FALSE(sums.get_accumulated({2}));
    sums.accumulate(ones({3, 1}), {3, 1}); // another shape
    EXPECT_THAT(floats(sums.get_accumulated({3, 1}).value()), ElementsAre(1, 1, 1));
}

TEST(GradientAccumulatorDynamic, AddsBatchesOfAnySize)
{
    Accumulator sums;
    const Tensor first = random_tensor({4, 2, 3}, 1), second = random_tensor({1, 2, 3}, 2);
    sums.accumulate_batched(first, {2, 3});
    sums.accumulate_batched(second, {2, 3});
    sums.accumulate_batched(zeros({0, 2, 3}), {2, 3});
    sums.accumulate(random_tensor({2, 3}, 3), {2, 3});
    EXPECT_EQ(bits(sums.get_accumulated({2, 3}).value()),
              bits(sum(first, {0}) + sum(second, {0}) + zeros({2, 3}) + random_tensor({2, 3}, 3)));
    sums.reset();
    sums.accumulate_batched(from_vector({1, 2, 3}), {}); // of single numbers
    EXPECT_EQ(sums.get_accumulated({}).value().item<float>(), 6);
}

TEST(GradientAccumulatorDynamic, EqualsTheGradientOfTheBatch)
{
    const Variable w(random_tensor({3}, 1));
    const Tensor x = random_tensor({4, 3}, 2);
    sum(x * w).backward();
    Accumulator sums;
    const Tensor of_samples = expand(w.detach(), {4, 3});
    const Variable each(of_samples); // the weight of each sample
    sum(x * each).backward();
    sums.accumulate_batched(each.grad(), w.shape());
    EXPECT_EQ(bits(sums.get_accumulated(w.shape()).value()), bits(w.grad()));
}

TEST(GradientAccumulatorDynamic, RefusesWhatDoesNotFit)
{
    Accumulator sums;
    const auto shows = [](const Caught& error, const char* given, const char* wanted) {
        EXPECT_EQ(error.kind, ErrorKind::shape);
        EXPECT_THAT(error.text, HasSubstr(given));
        EXPECT_THAT(error.text, HasSubstr(wanted));
    };
    shows(error_of([&] { return sums.accumulate(ones({2}), {3}), 0; }), "[2]", "[3]");
    shows(error_of([&] { return sums.accumulate_batched(ones({2, 4}), {3}), 0; }), "[4]", "[3]");
    shows(error_of([&] { return sums.accumulate_batched(ones({}), {3}), 0; }), "[]", "[3]");
    EXPECT_FALSE(sums.get_accumulated({9}));
    sums.accumulate(ones({2}), {2});
    shows(error_of([&] { return sums.accumulate(ones({3}), {3}), 0; }), "[2]", "[3]");
    shows(error_of([&] { return sums.accumulate_batched(ones({5, 3}), {3}), 0; }), "[2]", "[3]");
    shows(error_of([&] { return sums.accumulate(ones({1}), {1}), 0; }), "[2]", "[1]"); // nothing broadcasts
    shows(error_of([&] { return sums.accumulate(ones({2, 2}), {2, 2}), 0; }), "[2]", "[2, 2]");
    shows(error_of([&] { return sums.get_accumulated({2, 1}); }), "[2]", "[2, 1]");
    EXPECT_EQ(error_of([&] { return sums.accumulate(ones({2}, {.dtype = f16}), {2}), 0; }).kind,
              ErrorKind::dtype);
    EXPECT_EQ(error_of([&] { return Accumulator().accumulate(arange(3), {3}), 0; }).kind, ErrorKind::dtype);
    EXPECT_EQ(error_of([&] { return sums.accumulate({}, {2}), 0; }).kind, ErrorKind::argument);
    EXPECT_THAT(floats(sums.get_accumulated({2}).value()), ElementsAre(1, 1)); // as it was
}

TEST(GradientAccumulatorDynamic, IsNotChangedFromOutside)
{
    Accumulator sums;
    Tensor given = from_vector({1, 2});
    sums.accumulate(given, {2});
    given.assign(zeros({2}));
    Tensor taken = sums.get_accumulated({2}).value();
    taken.assign(zeros({2}));
    EXPECT_THAT(floats(sums.get_accumulated({2}).value()), ElementsAre(1, 2));

    const Variable w(from_vector({1, 2})); // on the tape
    Accumulator with_tape;
    with_tape.accumulate(w, {2});
    Tensor handle = w;
    handle.assign(zeros({2}));
    EXPECT_THAT(floats(with_tape.get_accumulated({2}).value()), ElementsAre(1, 2));
    taken = with_tape.get_accumulated({2}).value();
    taken.assign(zeros({2}));
    EXPECT_THAT(floats(with_tape.get_accumulated({2}).value()), ElementsAre(1, 2));
}

TEST(GradientAccumulatorDynamic, RefusesAnotherDevice)
{
    const Tensor elsewhere = ones({2}, {.device = imitation("gpu")});
    Accumulator sums;
    sums.accumulate(ones({2}), {2});
    EXPECT_EQ(error_of([&] { return sums.accumulate(elsewhere, {2}), 0; }).kind, ErrorKind::device);
    EXPECT_THAT(floats(sums.get_accumulated({2}).value()), ElementsAre(1, 1));
}

TEST(GradientAccumulatorDynamic, KeepsTheTape)
{
    const Variable w(from_vector({2, 3}));
    Accumulator sums;
    sums.accumulate(w * w, {2});
    sums.accumulate(w, {2});
    EXPECT_THAT(floats(grad(sum(sums.get_accumulated({2}).value()), w)), ElementsAre(5, 7));
    Accumulator one;
    one.accumulate(w, {2});
    EXPECT_THAT(floats(grad(sum(one.get_accumulated({2}).value()), w)), ElementsAre(1, 1));
    Accumulator off;
    {
        const no_grad guard;
        off.accumulate(w, {2});
        off.accumulate(w, {2});
    }
    EXPECT_FALSE(off.get_accumulated({2}).value().requires_grad());
    Accumulator off_at_first;
    {
        const no_grad guard;
        off_at_first.accumulate(w, {2});
    }
    EXPECT_FALSE(off_at_first.get_accumulated({2}).value().requires_grad());
}

TEST(GradientAccumulatorDynamic, HasTheBitsOfThePlainSum)
{
    const Dim n = symbol("n"), batch = symbol("batch");
    const auto by_accumulator = [](const Tensors& in) {
        const Shape of_one{in[1].shape()};
        Accumulator sums;
        sums.accumulate_batched(in[0] * in[0], of_one);
        sums.accumulate(in[1], of_one);
        return sums.get_accumulated(of_one).value();
    };
    std::vector<Tensors> values;
    for (const auto& [rows, samples] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 3}, {1, 5}, {3, 0}})
        values.push_back(
            {random_tensor({samples, rows, 2}, 1), random_tensor({rows, 2}, 2), random_tensor({rows, 2}, 3)});
    expect_bits_of([](const Tensors& in) { return sum(in[0] * in[0], {0}) + in[1]; }, by_accumulator,
                   {{batch, n, 2}, {n, 2}, {n, 2}}, values);
}

TEST(GradientAccumulatorDynamic, OfSymbolsInAProgram)
{
    const Dim n = symbol("n"), a = symbol("a"), b = symbol("b");
    const auto f = record(
        [&](Tensor first, Tensor second, Tensor single) {
            Accumulator sums;
            sums.accumulate_batched(first, {n, 2});
            sums.accumulate_batched(second, {n, 2});
            sums.accumulate(single, {n, 2});
            const Caught wrong = error_of([&] { return sums.get_accumulated({a, 2}); });
            EXPECT_EQ(wrong.kind, ErrorKind::shape);
            EXPECT_THAT(wrong.text, HasSubstr("[n, 2]"));
            EXPECT_THAT(wrong.text, HasSubstr("[a, 2]"));
            return sums.get_accumulated({n, 2}).value();
        },
        {spec({a, n, 2}), spec({b, n, 2}), spec({n, 2})});
    for (const auto& [rows, batch] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 2}, {1, 5}, {0, 1}, {2, 0}}) {
        const Tensor first = random_tensor({batch, rows, 2}, 1), second = random_tensor({1, rows, 2}, 2),
                     single = random_tensor({rows, 2}, 3);
        EXPECT_EQ(bits(f(first, second, single)), bits(sum(first, {0}) + sum(second, {0}) + single));
    }
}

TEST(GradientAccumulatorDynamic, BelongsToItsRecording)
{
    Accumulator outside;
    outside.accumulate(ones({2}), {2});
    std::unique_ptr<Accumulator> inside;
    const auto f = record(
        [&](Tensor x) {
            EXPECT_EQ(error_of([&] { return outside.accumulate(x, {2}), 0; }).kind, ErrorKind::state);
            EXPECT_EQ(error_of([&] { return outside.accumulate_batched(x, {}), 0; }).kind, ErrorKind::state);
            EXPECT_EQ(error_of([&] { return outside.get_accumulated({2}); }).kind, ErrorKind::state);
            EXPECT_EQ(error_of([&] { return outside.reset(), 0; }).kind, ErrorKind::state);
            inside = std::make_unique<Accumulator>();
            inside->accumulate(x, {2});
            return inside->get_accumulated({2}).value();
        },
        {spec({2})});
    const Caught late = error_of([&] { return inside->get_accumulated({2}); });
    EXPECT_EQ(late.kind, ErrorKind::state);
    EXPECT_THAT(late.text, HasSubstr("recording"));
    EXPECT_THAT(floats(outside.get_accumulated({2}).value()), ElementsAre(1, 1));
    for (int i = 0; i < 3; ++i) outside.accumulate(f(ones({2})), {2}); // what calls return adds up
    EXPECT_THAT(floats(outside.get_accumulated({2}).value()), ElementsAre(4, 4));
}

TEST(GradientAccumulatorDynamic, BelongsToNoOtherRecording)
{
    std::unique_ptr<Accumulator> first;
    const auto refused = [&](const Tensor& x) {
        const Caught error = error_of([&] { return first->accumulate(x, {2}), 0; });
        EXPECT_EQ(error.kind, ErrorKind::state);
        EXPECT_THAT(error.text, HasSubstr("(another) recording"));
    };
    record(
        [&](Tensor x) {
            first = std::make_unique<Accumulator>();
            first->accumulate(x, {2});
            {
                const outside_recording outside;
                EXPECT_EQ(error_of([&] { return first->get_accumulated({2}); }).kind, ErrorKind::state);
                record(
                    [&](Tensor inner) {
                        refused(inner);
                        return inner;
                    },
                    {spec({2})});
            }
            first->accumulate(x, {2});
            return x;
        },
        {spec({2})});
    record(
        [&](Tensor x) {
            refused(x);
            return x;
        },
        {spec({2})});
}

} // namespace
} // namespace reprise
