// A fused program gives the bits of one that is not fused, whatever its ops, dtypes, shapes and sizes.
#include <gtest/gtest.h>

#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "kernels/tuning.hpp"
#include "support/training.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using test::bits;
using test::Numbers;
using Tensors = std::vector<Tensor>;

const std::vector<std::int64_t> sizes = {0, 1, 3, 8, 130};

Tensor random_input(const Shape& shape, DType dtype, std::uint64_t seed)
{
    return cast(test::random_tensor(shape, seed, -3, 3), dtype);
}

// Both programs at several sizes; `shapes` of n.
void compare(const TracedFunction& f, const std::vector<Spec>& specs, std::uint64_t seed,
             std::int64_t least = 0)
{
    const Program apart = record_function(f, specs, {.fuse = false});
    const Program fused = record_function(f, specs);
    EXPECT_LE(fused.launches(), apart.launches());
    for (const std::int64_t size : sizes) {
        if (size < least) continue;
        Tensors in;
        for (const Spec& s : specs) {
            Shape shape;
            for (const Dim& d : s.shape) shape.push_back(d.evaluate([&](std::uint32_t) { return size; }));
            in.push_back(random_input(shape, s.dtype, seed++));
        }
        const Tensors a = apart.call(in), b = fused.call(in);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i)
            EXPECT_EQ(bits(a[i]), bits(b[i])) << "result " << i << ", n = " << size << ", seed " << seed;
    }
}

// What has differences: truth values have none.
Tensor number(const Tensor& t) { return t.dtype() == boolean ? cast(t, i32) : t; }

// A random expression: `steps` ops over the inputs and over each other, several of them results.
TracedFunction random_function(std::uint64_t seed, std::size_t steps)
{
    return [seed, steps](const Tensors& in) {
        Numbers numbers(seed);
        Tensors all = in;
        const auto any = [&]() -> const Tensor& {
            return all[static_cast<std::size_t>(
                numbers.integer(0, static_cast<std::int64_t>(all.size()) - 1))];
        };
        using Make = Tensor (*)(const Tensor&, const Tensor&, const Tensor&);
        static constexpr Make makes[] = {
            [](const Tensor& a, const Tensor& b, const Tensor&) { return a + b; },
            [](const Tensor& a, const Tensor& b, const Tensor&) { return a * b; },
            [](const Tensor& a, const Tensor& b, const Tensor&) { return number(a) - b * 0.25; },
            [](const Tensor& a, const Tensor& b, const Tensor&) { return maximum(a, b); },
            [](const Tensor& a, const Tensor& b, const Tensor& c) { return where(a < b, b, c); },
            [](const Tensor& a, const Tensor&, const Tensor&) { return tanh(a); },
            [](const Tensor& a, const Tensor&, const Tensor&) { return gelu(a, GeluApproximation::tanh); },
            [](const Tensor& a, const Tensor&, const Tensor&) { return relu(a); },
            [](const Tensor& a, const Tensor&, const Tensor&) { return cast(cast(a, f16), f32); },
            [](const Tensor& a, const Tensor&, const Tensor&) { return cast(a, i32); },
            [](const Tensor& a, const Tensor&, const Tensor&) { return cast(cast(a, u8), f32); },
            [](const Tensor& a, const Tensor&, const Tensor&) { return cast(a, bf16); },
            [](const Tensor& a, const Tensor&, const Tensor&) { return cast(a, boolean); },
            [](const Tensor& a, const Tensor& b, const Tensor& c) { return lerp(a, b, c * 0.5); },
            [](const Tensor& a, const Tensor&, const Tensor&) { return softplus(a) / 3; },
            [](const Tensor& a, const Tensor&, const Tensor&) { return neg(abs(number(a))); },
        };
        for (std::size_t i = 0; i < steps; ++i) {
            const Tensor a = any(), b = any(), c = any();
            all.push_back(makes[static_cast<std::size_t>(numbers.integer(0, std::size(makes) - 1))](a, b, c));
        }
        Tensors out;
        for (std::size_t i = in.size(); i < all.size(); i += 3) out.push_back(all[i]);
        out.push_back(all.back());
        return out;
    };
}

TEST(Fused, RandomChainsOfAllDtypes)
{
    const Dim n = symbol("n");
    for (std::uint64_t seed = 1; seed <= 12; ++seed)
        compare(random_function(seed, 14), {spec({n, 5}), spec({n, 5}), spec({n, 5}, f16), spec({n, 5}, i32)},
                seed);
}

// A chain takes equal numbers once: those of one dtype, and of equal bits.
TEST(Fused, NumbersOfOneValueStayApart)
{
    const Dim n = symbol("n");
    compare(
        [](const Tensors& in) {
            const Tensor &x = in[0], &y = in[1], &h = in[2], zero = x - x;
            return Tensors{2.0 - y,
                           2.0 - cast(y, f32) * 0.5,
                           cast(y, f32) * 2.0,
                           2.0 - h,
                           1.0 / (zero + 0.0),
                           1.0 / (zero * -0.0),
                           1.0 / (-zero + -0.0),
                           zero + 2.0};
        },
        {spec({n}), spec({n}, i32), spec({n}, f16)}, 3);
}

TEST(Fused, RandomChainsThatBroadcast)
{
    const Dim n = symbol("n");
    for (std::uint64_t seed = 20; seed <= 26; ++seed)
        compare(random_function(seed, 10), {spec({n, 3, 8}), spec({8}), spec({n, 1, 1}), spec({3, 1})}, seed);
}

TEST(Fused, ViewsOfAllKinds)
{
    const Dim n = symbol("n");
    compare(
        [](const Tensors& in) {
            const Tensor x = in[0].transpose(0, 1), y = in[1].narrow(1, 1, 3); // [3, n] and an odd offset
            const Tensor z = x * y.transpose(0, 1) + 1;
            return Tensors{relu(z), (z + in[2].unsqueeze(1)).reshape({-1}) * 2, in[0] * z.transpose(0, 1)};
        },
        {spec({n, 3}), spec({n, 7}), spec({3})}, 40);
}

// Every way in which a reduction loads: rows, columns, single elements; whole or ragged; in one level and in two.
TEST(Fused, ChainsInReductions)
{
    const Dim n = symbol("n");
    const auto reduced = [](std::vector<std::int64_t> dims) {
        return [dims](const Tensors& in) {
            return Tensors{sum(square(in[0] - in[1]), dims), amax(cast(cast(in[0], f16), f32) * in[1], dims)};
        };
    };
    using Dimensions = std::vector<std::int64_t>;
    const std::vector<std::pair<Shape, Dimensions>> cases = {
        {{n, 8}, {1}}, {{n, 8}, {0}}, {{5, n}, {-1}}, {{n, 3}, {0}}, {{300, n}, {0, 1}}};
    std::uint64_t seed = 60;
    for (const auto& [shape, dims] : cases) compare(reduced(dims), {spec(shape), spec(shape)}, seed += 10, 1);
}

// Chains that a product computes before it stores its elements: with repeated rows, numbers, other values of each
// element, several results, a long K that is split, and results that are no whole vectors.
TEST(Fused, ChainsInProducts)
{
    const Dim n = symbol("n");
    const auto linear = [](const Tensors& in) {
        const Tensor y = matmul(in[0], in[1]) + in[2];
        return Tensors{gelu(y, GeluApproximation::tanh), y,
                       relu(matmul(in[0], in[1] * 2) * 0.5 + in[3]) / 3.0 - in[4]};
    };
    // Products whose results are also read alone, one of them in another product's chain.
    const auto gated = [](const Tensors& in) {
        const Tensor a = matmul(in[0], in[1]), b = matmul(in[0], in[1] * 2);
        const Tensor y = silu(a) * b + in[3];
        return Tensors{y, cast(y, bf16), a, sum(b, {1}), cast(a, f16)};
    };
    std::uint64_t seed = 200;
    for (const std::int64_t k : {3, 64, 600})
        for (const std::int64_t columns : {1, 7, 64, 100}) {
            const std::vector<Spec> specs = {spec({n, k}), spec({k, columns}), spec({columns}),
                                             spec({n, columns}), spec({1})};
            compare(linear, specs, seed += 10);
            compare(gated, specs, seed += 10);
        }
    { // large tiles
        const kernels::ForcedTuning tuning({.large_tiles = 0, .large_side = 0});
        for (const std::int64_t columns : {7, 132})
            compare(linear,
                    {spec({n, 20}), spec({20, columns}), spec({columns}), spec({n, columns}), spec({1})},
                    seed += 10);
    }
    compare( // a batch of matrices, with operands of other dtypes and a repeated row
        [](const Tensors& in) {
            const Tensor y = matmul(in[0], in[1]);
            return Tensors{where(in[2], y, in[3]) + in[4], relu(matmul(in[1], in[0]) * in[5])};
        },
        {spec({n, 8, 8}), spec({n, 8, 8}), spec({n, 8, 8}, boolean), spec({n, 8, 8}, f16), spec({8}),
         spec({n, 8, 8}, bf16)},
        seed);
    compare( // one element, and a long K
        [](const Tensors& in) {
            return Tensors{matmul(in[0], in[1]) * 2 + 1, relu(matmul(in[2], in[3]) + in[4])};
        },
        {spec({1, 5}), spec({5, 1}), spec({16, 4160}), spec({4160, 32}), spec({32})}, seed);
}

// Chains of convolutions and of their gradients by the input: of few and many channels, planes of whole vectors and odd
// ones, strides, groups, an operand of each channel, a part of the result, and operands of other dtypes.
TEST(Fused, ChainsInConvolutions)
{
    const Dim n = symbol("n");
    const auto layers = [](ConvOptions<2> options) {
        return [options](const Tensors& in) {
            const Tensor x = in[0].detach().requires_grad_();
            const Tensor hidden = relu(conv2d(x, in[1], in[2], options));
            const Tensor y = conv2d(hidden, in[1], {}, options);
            const Tensor out = tanh(y * 0.5 + hidden) + in[3];
            const Tensor dx = grad(sum(square(out)), x);
            return Tensors{out, relu(dx) - x, conv2d(in[0], in[1], {}, options).narrow(1, 0, 1) * 2,
                           where(in[4], conv2d(in[0], in[1]), in[5])};
        };
    };
    std::uint64_t seed = 700;
    for (const auto& [channels, side] : {std::pair<std::int64_t, std::int64_t>{4, 5}, {20, 8}, {40, 3}}) {
        const Shape image{n, channels, side, side}, smaller{n, channels, side - 2, side - 2};
        compare(layers({.padding = {1, 1}}),
                {spec(image), spec({channels, channels, 3, 3}), spec({channels}), spec({channels, 1, 1}),
                 spec(smaller, boolean), spec(smaller, f16)},
                seed += 10);
    }
    compare(
        [](const Tensors& in) {
            const Tensor x = in[0].detach().requires_grad_();
            const Tensor y = relu(conv2d(x, in[1], {}, {.stride = {2, 2}, .groups = 2}) + in[2]);
            return Tensors{y, relu(grad(sum(y * y), x) + in[0])};
        },
        {spec({n, 4, 9, 7}), spec({6, 2, 3, 3}), spec({n, 6, 4, 3})}, seed);
}

// Chains of the sums of parts of a product or a convolution's gradient, on CUDA too.
TEST(Fused, ChainsInSums)
{
    compare(
        [](const Tensors& in) {
            const Tensor w = in[1].detach().requires_grad_();
            const Tensor dw = grad(sum(square(conv2d(in[0], w, {}, {.padding = {1, 1}}))), w);
            return Tensors{relu(matmul(in[2], in[3]) + in[4]), dw * 0.5 + in[1]};
        },
        {spec({8, 4, 16, 16}), spec({4, 4, 3, 3}), spec({16, 4160}), spec({4160, 32}), spec({32})}, 900);
}

// What follows a norm of rows, or its gradient: rows of whole vectors and odd ones, of few and many elements; f32, f16
// and bf16.
TEST(Fused, ChainsInNorms)
{
    const Dim n = symbol("n");
    std::uint64_t seed = 800;
    for (const DType narrow : {f32, f16, bf16})
        for (const std::int64_t columns : {1, 6, 64, 70, 1028}) {
            const auto norms = [columns, narrow](const Tensors& in) {
                const Tensor x = in[0].detach().requires_grad_();
                const Tensor y =
                    layer_norm(x, {columns}, in[1], in[2], 1e-3); // eps precedes the chain's numbers
                const Tensor used = cast(y * 0.5 + in[3], narrow);
                const Tensor dx = grad(sum(square(cast(used, f32)) * in[4]), x) + in[0];
                return Tensors{used, dx, cast(rms_norm(x, {columns}, in[1]) + in[2], narrow)};
            };
            const Shape rows{n, columns}, row{columns};
            compare(norms, {spec(rows), spec(row), spec(row), spec(rows, narrow), spec({n, 1})}, seed += 10);
        }
}

// What a norm, or its gradient, stores in f32 and in f16 or bf16: rows of whole vectors and odd ones.
TEST(Fused, NormsInTwoDtypes)
{
    const Dim n = symbol("n");
    std::uint64_t seed = 860;
    for (const DType narrow : {f16, bf16})
        for (const std::int64_t columns : {4, 6, 64, 1028}) {
            const auto norms = [columns](const Tensors& in) {
                const Tensor x = in[0].detach().requires_grad_();
                const Tensor y = layer_norm(x, {columns}, in[1], in[2]);
                return Tensors{y, rms_norm(x, {columns}, in[1]), grad(y, x, {.cotangents = {in[3]}})};
            };
            const auto both = [&](const Tensors& in) {
                Tensors all = norms(in);
                for (const std::size_t i : {0, 1, 2}) all.push_back(cast(all[i], narrow));
                return all;
            };
            const std::vector<Spec> specs = {spec({n, columns}), spec({columns}), spec({columns}),
                                             spec({n, columns})};
            const Program f32_only = record_function(norms, specs), two = record_function(both, specs),
                          apart = record_function(both, specs, {.fuse = false});
            for (const std::int64_t size : sizes) {
                Tensors in;
                for (const Spec& s : specs)
                    in.push_back(random_input(s.shape.size() == 1 ? Shape{columns} : Shape{size, columns},
                                              f32, ++seed));
                const Tensors expected = f32_only.call(in);
                for (const Tensors& actual : {two.call(in), apart.call(in)})
                    for (std::size_t i = 0; i < expected.size(); ++i) {
                        EXPECT_EQ(bits(actual[i]), bits(expected[i])) << i << " " << size << " x " << columns;
                        EXPECT_EQ(bits(actual[i + 3]), bits(cast(expected[i], narrow)))
                            << i << " " << size << " x " << columns;
                    }
            }
        }
}

// Chains behind products, sums of parts and convolutions that end in f16 and bf16, of rows of whole words and odd ones.
TEST(Fused, ChainsThatEndInHalves)
{
    const Dim n = symbol("n");
    std::uint64_t seed = 900;
    for (const DType t : {f16, bf16})
        for (const std::int64_t columns : {7, 12, 66}) {
            const auto layers = [t](const Tensors& in) {
                const Tensor hidden = cast(relu(matmul(in[0], in[1]) + in[2]), t);
                const Tensor image = cast(tanh(conv2d(in[3], in[4], {}, {.padding = {1, 1}})), t);
                return Tensors{hidden, matmul(hidden.t(), hidden), image, hidden * hidden + 1,
                               cast(matmul(in[0].t(), in[0]) * 2, t)};
            };
            compare(layers,
                    {spec({n, 20}), spec({20, columns}), spec({columns}), spec({n, 2, 5, columns}),
                     spec({3, 2, 3, 3})},
                    seed += 10);
        }
}

// What only seems to be a chain of a product's whole result, and a sum of such a chain.
TEST(Fused, ChainsOfPartsOfProducts)
{
    const Dim n = symbol("n");
    compare(
        [](const Tensors& in) {
            const auto y = [&](double factor) { return matmul(in[0], in[1] * factor); };
            const Tensor halves = y(4);
            return Tensors{relu(y(1).narrow(0, 0, 2)), y(2).select(0, 0).select(0, 0) * 2.0,
                           tanh(y(3)).narrow(1, 0, 4) + 1,
                           halves.narrow(0, 0, 32) * sigmoid(halves.narrow(0, 32, 32)), y(5) + y(6)};
        },
        {spec({64, 8}), spec({8, 12})}, 400);
    for (const std::int64_t k : {8, 600, 4160})
        compare(
            [](const Tensors& in) {
                return Tensors{sum(relu(matmul(in[0], in[1]))),
                               sum(square(matmul(in[0], in[1]) - in[2]), {1}),
                               mean(matmul(in[0], in[1]) * 3, {0})};
            },
            {spec({16, k}), spec({k, 32}), spec({16, 32})}, 500);
}

// State that the chain overwrites and the product reads, or only the chain.
TEST(Fused, StateThatAProductReads)
{
    const auto run = [](bool fuse, int kind) {
        Variable h(test::random_tensor({130, 130}, 3, -1, 1), false);
        const Program step = record_function(
            [&](const Tensors& in) {
                const Tensor y = matmul(kind == 2 ? in[0] : h, in[0]) * 0.25;
                h.assign(relu(kind == 0 ? y : y + h));
                return Tensors{};
            },
            {spec({130, 130})}, {.fuse = fuse});
        for (int i = 0; i < 3; ++i) step.call({test::random_tensor({130, 130}, 4, -1, 1)});
        return bits(h);
    };
    for (const int kind : {0, 1, 2}) EXPECT_EQ(run(true, kind), run(false, kind)) << kind;
}

// Forward, backward and update of whole steps: losses and, in the end, all state.
TEST(Fused, TrainingSteps)
{
    const auto train = [](test::Net net, bool fuse) {
        manual_seed(5);
        test::Training t{net};
        const Program program = t.recorded(symbol("batch"), {.fuse = fuse});
        std::vector<test::Bits> out;
        for (const std::int64_t size : {3, 8, 1, 5}) {
            const auto [x, target] = t.batch(size, 7);
            out.push_back(bits(program(x, target)));
        }
        for (test::Bits& b : t.state()) out.push_back(std::move(b));
        return out;
    };
    for (const test::Net net : test::all_nets) EXPECT_EQ(train(net, true), train(net, false)) << name_of(net);
}

} // namespace
} // namespace reprise
