// Tensors beside their gradients: what adds up, what is refused, in eager code and in programs.
#include <stdexcept>

#include "dynamic/common.hpp"
#include "support/devices.hpp"

namespace reprise {
namespace {

using namespace test;

TEST(DynamicGradientTensor, IsALeaf)
{
    const Tensor plain = from_vector({1, 2});
    const DynamicGradientTensor t(plain);
    EXPECT_TRUE(t.gradient_required());
    EXPECT_TRUE(t.tensor().requires_grad());
    EXPECT_TRUE(t.tensor().is_leaf());
    EXPECT_FALSE(plain.requires_grad());
    EXPECT_EQ(t.shape(), SymbolicShape{2});
    EXPECT_FALSE(t.get_gradient());
    const Variable leaf(from_vector({1, 2}));
    EXPECT_EQ(DynamicGradientTensor(leaf).tensor().cell(), leaf.cell());
}

TEST(DynamicGradientTensor, AddsUpWhatArrives)
{
    DynamicGradientTensor t(from_vector({1, 2}));
    t.accumulate_gradient(from_vector({10, 20}));
    const DynamicGradientTensor copy = t;
    sum(t.tensor() * 3).backward();
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(13, 23));
    EXPECT_THAT(floats(copy.get_gradient().value()), ElementsAre(13, 23));
    EXPECT_THAT(floats(t.tensor().grad()), ElementsAre(13, 23));
    t.clear_gradient();
    EXPECT_FALSE(t.get_gradient());
    t.accumulate_gradient(from_vector({1, 1}));
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(1, 1));
}

TEST(DynamicGradientTensor, KeepsItsGradientWhereTheGivenOneIsAssigned)
{
    DynamicGradientTensor t(from_vector({1, 2}));
    Tensor given = from_vector({10, 20});
    t.accumulate_gradient(given);
    given.assign(zeros({2}));
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(10, 20));
}

TEST(DynamicGradientTensor, WithoutAGradientIsPlain)
{
    const Variable w(from_vector({1, 2}));
    DynamicGradientTensor t(w * 2, false);
    EXPECT_FALSE(t.gradient_required());
    EXPECT_FALSE(t.tensor().requires_grad());
    EXPECT_THAT(floats(t.tensor()), ElementsAre(2, 4));
    const Caught error = error_of([&] { return t.accumulate_gradient(ones({2})), 0; });
    EXPECT_EQ(error.kind, ErrorKind::state);
    EXPECT_THAT(error.text, HasSubstr("[2]"));
    EXPECT_FALSE(t.get_gradient());
    t.clear_gradient();
}

TEST(DynamicGradientTensor, LeavesTheTensorThatItWasMadeOf)
{
    const Variable leaf(from_vector({1, 2}));
    for (const Tensor& t : {from_vector({1, 2}), Tensor(leaf)}) {
        const DynamicGradientTensor made(t, false);
        Tensor before = t;
        before.assign(zeros({2}));
        EXPECT_THAT(floats(made.tensor()), ElementsAre(1, 2));
        Tensor handle = made.tensor();
        handle.requires_grad_();
        EXPECT_EQ(t.requires_grad(), t.cell() == leaf.cell());
    }
}

TEST(DynamicGradientTensor, KnowsWhatIsRequiredNow)
{
    DynamicGradientTensor t(from_vector({1, 2}));
    Tensor handle = t.tensor();
    handle.requires_grad_(false);
    EXPECT_FALSE(t.gradient_required());
    EXPECT_EQ(error_of([&] { return t.accumulate_gradient(ones({2})), 0; }).kind, ErrorKind::state);
    handle.requires_grad_(true);
    EXPECT_TRUE(t.gradient_required());
    t.accumulate_gradient(ones({2}));
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(1, 1));
}

TEST(DynamicGradientTensor, RefusesAGradientOfAnotherDevice)
{
    DynamicGradientTensor t(from_vector({1, 2}));
    const Tensor elsewhere = ones({2}, {.device = imitation("gpu")});
    EXPECT_EQ(error_of([&] { return t.accumulate_gradient(elsewhere), 0; }).kind, ErrorKind::device);
    EXPECT_FALSE(t.get_gradient());
    t.accumulate_gradient(ones({2}));
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(1, 1));
}

TEST(DynamicGradientTensor, RefusesWhatDoesNotFit)
{
    DynamicGradientTensor t(from_vector({1, 2}));
    t.accumulate_gradient(ones({2}));
    const Caught shape = error_of([&] { return t.accumulate_gradient(ones({2, 1})), 0; });
    EXPECT_EQ(shape.kind, ErrorKind::shape);
    EXPECT_THAT(shape.text, HasSubstr("[2, 1]"));
    EXPECT_THAT(shape.text, HasSubstr("([2])"));
    EXPECT_EQ(error_of([&] { return t.accumulate_gradient(ones({1})), 0; }).kind, ErrorKind::shape);
    EXPECT_EQ(error_of([&] { return t.accumulate_gradient(ones({2}, {.dtype = f16})), 0; }).kind,
              ErrorKind::dtype);
    EXPECT_EQ(error_of([&] { return t.accumulate_gradient({}), 0; }).kind, ErrorKind::argument);
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(1, 1));

    const Variable w(from_vector({1, 2}));
    EXPECT_EQ(error_of([&] { return DynamicGradientTensor(w * 2).shape(); }).kind, ErrorKind::state);
    EXPECT_EQ(error_of([&] { return DynamicGradientTensor(arange(3)).shape(); }).kind, ErrorKind::dtype);
    EXPECT_EQ(error_of([&] { return DynamicGradientTensor(Tensor()).shape(); }).kind, ErrorKind::argument);
}

TEST(DynamicGradientTensor, OfNoElementAndOfOne)
{
    for (const Shape& s : {Shape{0, 3}, Shape{}, Shape{1, 1}}) {
        DynamicGradientTensor t(ones(s));
        t.accumulate_gradient(ones(s));
        sum(t.tensor() * 2).backward();
        EXPECT_EQ(bits(t.get_gradient().value()), bits(ones(s) * 3));
    }
}

TEST(DynamicGradientTensor, CallsHooksOnceInOrder)
{
    DynamicGradientTensor t(from_vector({1, 2}));
    std::string order;
    for (const char who : {'a', 'b'})
        t.tensor().register_hook([&order, who](const Tensor& g) {
            order += who;
            return g * 10;
        });
    t.accumulate_gradient(ones({2}));
    EXPECT_EQ(order, "ab");
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(100, 100));
    const HookHandle stop = t.tensor().register_hook(
        [](const Tensor&) -> Tensor { throw std::runtime_error("stopped in a hook"); });
    EXPECT_THROW(t.accumulate_gradient(ones({2})), std::runtime_error);
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(100, 100));
    stop.remove();
    t.accumulate_gradient(ones({2}));
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(200, 200));
}

// Of a backward pass: what each hook sees, and what is left, beside a Variable's.
TEST(DynamicGradientTensor, ShowsHooksThePlainGradientInEagerCodeAndInPrograms)
{
    const auto gradients = [](Tensor leaf, const auto& gradient) {
        std::vector<Tensor> seen;
        leaf.register_hook([&](const Tensor& g) {
            seen.push_back(g);
            return g * 2;
        });
        leaf.register_hook([&](const Tensor& g) {
            seen.push_back(g);
            return Tensor();
        });
        sum(sin(leaf) * leaf).backward();
        seen.push_back(gradient());
        return seen;
    };
    const auto dynamic = [&](const std::vector<Tensor>& in) {
        const DynamicGradientTensor t(in[0]);
        return gradients(t.tensor(), [&] { return t.get_gradient().value(); });
    };
    const auto program = record_function(dynamic, {spec({symbol("n"), 3})});
    for (const std::int64_t n : {4, 1, 0}) {
        const Tensor x = random_tensor({n, 3}, 1);
        const Variable v(x);
        const std::vector<Bits> want = bits_of(gradients(v, [&] { return v.grad(); }));
        EXPECT_EQ(want.size(), 3u); // each hook once
        EXPECT_EQ(bits_of(dynamic({x})), want) << n;
        EXPECT_EQ(bits_of(program.call({x})), want) << n;
    }
}

TEST(DynamicGradientTensor, KeepsAGradientOnItsTape)
{
    const Variable w(from_vector({2, 3}));
    DynamicGradientTensor t(ones({2}));
    t.accumulate_gradient(w * w);
    t.accumulate_gradient(w);
    EXPECT_THAT(floats(grad(sum(t.get_gradient().value()), w)), ElementsAre(5, 7));
}

// A recurrence cut in chunks: the gradient by the state that a chunk began with goes on in the chunk before.
TEST(DynamicGradientTensor, CarriesTruncatedBackpropagation)
{
    const Tensor x = random_tensor({4, 2, 3}, 2);
    const auto chunk = [&](Tensor h, const Tensor& w, std::int64_t from) {
        for (std::int64_t t = from; t < from + 2; ++t) h = tanh(matmul(h, w) + select(x, 0, t));
        return h;
    };
    // carry: the state that the second chunk begins with, and what its gradient is then
    const auto gradient = [&](const auto& carry) {
        const Variable w(random_tensor({3, 3}, 1));
        const Tensor first = chunk(ones({2, 3}), w, 0);
        const auto [state, of_state] = carry(first.detach());
        EXPECT_EQ(bits(state), bits(first));
        sum(chunk(state, w, 2)).backward(); // adds the second chunk's part to w
        first.backward(of_state());
        return w.grad();
    };
    const Tensor found = gradient([](const Tensor& state) {
        const DynamicGradientTensor carried(state);
        return std::pair(carried.tensor(), [carried] { return carried.get_gradient().value(); });
    });
    EXPECT_EQ(bits(found), bits(gradient([](const Tensor& state) {
                  const Variable leaf(state);
                  return std::pair(Tensor(leaf), [leaf] { return leaf.grad(); });
              })));
    const Variable w(random_tensor({3, 3}, 1)); // of both chunks as one, in another order of sums
    EXPECT_THAT(floats(found),
                testing::Pointwise(testing::FloatNear(1e-5f),
                                   floats(grad(sum(chunk(chunk(ones({2, 3}), w, 0), w, 2)), w))));
}

TEST(DynamicGradientTensor, IsStateOfAProgram)
{
    DynamicGradientTensor t(from_vector({1, 2}));
    const auto step =
        record([&](Tensor x) { t.accumulate_gradient(sum(x) * t.tensor().detach()); }, {spec({symbol("n")})});
    EXPECT_EQ(t.get_gradient().has_value(), true); // zeros, as backward() makes them while recording
    step(ones({3}));
    step(ones({5}));
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(8, 16));
    t.clear_gradient();
    step(ones({1}));
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(1, 2));
}

TEST(DynamicGradientTensor, OfSymbolsInAProgram)
{
    const Dim n = symbol("n"), m = symbol("m");
    const auto f = record(
        [&](Tensor x, Tensor other) {
            DynamicGradientTensor t(x);
            EXPECT_EQ(t.shape(), (SymbolicShape{n, 2}));
            const Caught wrong = error_of([&] { return t.accumulate_gradient(other), 0; });
            EXPECT_EQ(wrong.kind, ErrorKind::shape);
            EXPECT_THAT(wrong.text, HasSubstr("[n, 2]"));
            EXPECT_THAT(wrong.text, HasSubstr("[m, 2]"));
            t.accumulate_gradient(x * 10);
            sum(t.tensor() * t.tensor()).backward();
            return t.get_gradient().value();
        },
        {spec({n, 2}), spec({m, 2})});
    for (const std::int64_t rows : {3, 1, 0}) {
        const Tensor x = random_tensor({rows, 2}, 1);
        EXPECT_EQ(bits(f(x, ones({7, 2}))), bits(x * 10 + (x + x)));
    }
}

// What is given and what backward() leaves, times x; both by x and by what is given.
TEST(DynamicGradientTensor, HasTheBitsOfAPlainLeaf)
{
    const Dim n = symbol("n");
    std::vector<Tensors> values;
    for (const std::int64_t rows : {3, 1, 0})
        values.push_back(
            {random_tensor({rows, 2}, 1), random_tensor({rows, 2}, 2), random_tensor({rows, 2}, 3)});
    expect_bits_of(
        [](const Tensors& in) {
            const Variable leaf(in[0].detach());
            sum(leaf * leaf).backward();
            leaf.backward(in[1] * in[1], {.create_graph = true});
            return leaf.grad() * in[0];
        },
        [](const Tensors& in) {
            DynamicGradientTensor t(in[0].detach());
            sum(t.tensor() * t.tensor()).backward();
            t.accumulate_gradient(in[1] * in[1]);
            return t.get_gradient().value() * in[0];
        },
        {{n, 2}, {n, 2}, {n, 2}}, values);
}

} // namespace
} // namespace reprise
