// Attention against PyTorch's numbers, and the memory that long sequences take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "ops/reduce_tools.hpp"
#include "shape/error_of.hpp"
#include "support/devices.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;

void expect_near(const char* what, const Tensor& found, const Floats& want, float tolerance = 2e-5f)
{
    const Floats values = found.to_vector<float>();
    ASSERT_EQ(values.size(), want.size()) << what;
    for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(values[i], want[i], tolerance) << what << " " << i;
}

TEST(Attention, SharesKeysBetweenHeads)
{
    const Tensor q = drawn({1, 4, 2, 3}, 1).requires_grad_(), k = drawn({1, 2, 5, 3}, 2).requires_grad_(),
                 v = drawn({1, 2, 5, 2}, 3).requires_grad_();
    const Tensor y = scaled_dot_product_attention(q, k, v, {.is_causal = true, .enable_gqa = true});
    expect_near("y", y,
                {0.4744612f, -0.8986436f, 0.07656178f, -0.6488564f, 0.4744612f, -0.8986436f, 0.1267552f,
                 -0.680366f, 0.3158048f, -0.4159958f, -0.1655363f, -0.4563501f, 0.3158048f, -0.4159958f,
                 -0.1863663f, -0.4580964f});
    sum(y * drawn({1, 4, 2, 2}, 70)).backward();
    expect_near("dq", q.grad(), {0, 0, 0, -0.08515055f,  -0.1278204f,    -0.01233897f,
                                 0, 0, 0, -0.07046327f,  -0.1057731f,    -0.01021067f,
                                 0, 0, 0, -0.1478053f,   0.1282708f,     -0.1380604f,
                                 0, 0, 0, 0.0004699016f, -0.0004077978f, 0.0004389207f});
    expect_near("dk", k.grad(), {0.1021314f,
                                 -0.04435137f,
                                 -0.1237047f,
                                 -0.1021314f,
                                 0.04435137f,
                                 0.1237047f,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0.006183936f,
                                 0.04421813f,
                                 -0.1034109f,
                                 -0.006183936f,
                                 -0.04421813f,
                                 0.1034109f,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0});
    expect_near("dv", v.grad(), {-0.1321647f, -0.8259072f, -0.7371495f, 0.06421516f, 0, 0, 0, 0, 0, 0,
                                 -0.3261525f, -1.997555f,  -0.3556662f, -0.1396943f, 0, 0, 0, 0, 0, 0});
}

TEST(Attention, AddsAMaskThatHasAGradient)
{
    const Tensor q = drawn({2, 3, 4}, 1).requires_grad_(), k = drawn({2, 5, 4}, 2), v = drawn({2, 5, 2}, 3);
    Floats numbers_of_mask = numbers(15, 4);
    numbers_of_mask[2] = -std::numeric_limits<float>::infinity();
    const Tensor mask = from_vector(numbers_of_mask, {3, 5}).requires_grad_();
    const Tensor y = scaled_dot_product_attention(q, k, v, {.attn_mask = mask, .scale = 0.7});
    expect_near("y", y,
                {0.2888557f, -0.7108828f, 0.3493892f, -0.4620329f, -0.2217235f, -0.212534f, 0.2297154f,
                 -0.03482731f, -0.3855509f, -0.08953504f, -0.4357197f, -0.176878f});
    sum(y * drawn({2, 3, 2}, 70)).backward();
    expect_near("dq", q.grad(),
                {0.09413048f,  0.07724511f, -0.001035088f, -0.1507996f, -0.04439296f, -0.02544263f,
                 0.03923712f,  0.09493703f, 0.008002258f,  0.01074844f, -0.01302908f, -0.005314497f,
                 -0.04132023f, 0.08277439f, 0.0842548f,    0.03941597f, -0.02068113f, 0.0241824f,
                 0.0191626f,   0.02529738f, -0.01367389f,  0.2435022f,  0.2062117f,   -0.01311837f});
    expect_near("dmask", mask.grad(),
                {0.2021145f, 0.1275809f, 0, -0.1235741f, -0.2061213f, -0.05046414f, 0.09312429f, -0.03373505f,
                 0.02607516f, -0.03500027f, -0.03861069f, 0.3793931f, 0.01800585f, -0.185823f, -0.1729653f});
}

TEST(Attention, GivesZerosWhereNoKeyIsLeft)
{
    const Tensor q = drawn({3, 4}, 1).requires_grad_(), k = drawn({2, 4}, 2).requires_grad_(),
                 v = drawn({2, 2}, 3);
    const Tensor mask = from_vector(std::vector<bool>{true, false, false, false, true, true}, {3, 2});
    const Tensor y = scaled_dot_product_attention(q, k, v, {.attn_mask = mask});
    expect_near("y", y, {0.4744612f, -0.8986436f, 0, 0, -0.03581001f, -0.5783133f});
    sum(y).backward();
    const Floats dq = q.grad().to_vector<float>();
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(dq[i], 0) << i; // one key, and none
    EXPECT_NE(dq[8], 0);
}

// Masks of each shape, at lengths with weights as matrices and without, against the same from softmax; the first query
// of the mask [T, S] sees no key. The queries are more than a tile of GPUs has.
TEST(Attention, TakesMasksOfAllBroadcastShapes)
{
    const Dim n = symbol("n");
    const auto attend = [](const Tensor& q, const Tensor& k, const Tensor& mask) {
        return scaled_dot_product_attention(q, k, k, {.attn_mask = mask, .scale = 0.5});
    };
    const std::vector<std::pair<Sizes, Shape>> of_mask = {{{1, 1, 1}, {1, 1, 1, n}},
                                                          {{1, 70}, {1, 1, 70, n}},
                                                          {{2, 1, 1}, {2, 1, 1, n}},
                                                          {{2, 2, 70}, {2, 2, 70, n}}};
    for (const auto& [leading, symbolic] : of_mask) {
        const auto program = record([&](Tensor q, Tensor k, Tensor mask) { return attend(q, k, mask); },
                                    {spec({2, 2, 70, 4}), spec({2, 2, n, 4}), spec(symbolic, boolean)});
        for (const std::int64_t keys : {1, 7, 64, 130, 513}) {
            Sizes sizes = leading;
            sizes.push_back(keys);
            const Tensor q = drawn({2, 2, 70, 4}, 1), k = drawn({2, 2, keys, 4}, 2);
            Tensor seen = drawn(sizes, 3) > -0.3;
            if (leading.size() == 2) seen = logical_and(seen, arange(70).unsqueeze(1) > 0);
            const Tensor zero = zeros({}), none = full({}, -std::numeric_limits<double>::infinity());
            const Tensor scores = where(seen, matmul(q, k.mT()) * 0.5, none);
            const Tensor hidden = sum(where(seen, ones_like(scores), zero), {-1}, true) == 0;
            const Tensor weights = where(hidden, zero, softmax(where(hidden, zero, scores), -1));
            const Floats want = matmul(weights, k).to_vector<float>();
            const std::string where_ =
                "keys " + std::to_string(keys) + ", rank " + std::to_string(sizes.size());
            const Tensor by_truth = attend(q, k, seen);
            expect_near(where_.c_str(), by_truth, want);
            expect_near(where_.c_str(), attend(q, k, where(seen, zero, none)), want);
            Shape full = symbolic;
            full.back() = keys;
            EXPECT_EQ(program(q, k, reshape(seen, full)).to_vector<float>(), by_truth.to_vector<float>())
                << where_;
        }
    }
}

// Masks whose rows are views: repeated along the keys, from the middle of a matrix, and of other integers; with the
// gradients, at lengths with weights as matrices and without.
TEST(Attention, TakesMasksThatAreViews)
{
    for (const std::int64_t keys : {6, 130, 515}) {
        const Tensor wide = drawn({2, 2, 70, keys + 5}, 3);
        for (const Tensor& mask :
             {wide.narrow(3, 0, 1), wide.narrow(3, 3, keys), cast(wide.narrow(3, 1, keys) > -0.5, i64)}) {
            const Tensor q = drawn({2, 2, 70, 4}, 1).requires_grad_(),
                         k = drawn({2, 2, keys, 4}, 2).requires_grad_();
            const Tensor dy = drawn({2, 2, 70, 4}, 5),
                         none = full({}, -std::numeric_limits<double>::infinity());
            const Tensor y = scaled_dot_product_attention(q, k, k, {.attn_mask = mask, .scale = 0.5});
            sum(y * dy).backward();
            const Floats dq = q.grad().to_vector<float>(), dk = k.grad().to_vector<float>();

            const Tensor p = q.detach().requires_grad_(), m = k.detach().requires_grad_();
            const Tensor scores = matmul(p, m.mT()) * 0.5;
            const Tensor masked = mask.dtype() == i64 ? where(mask != 0, scores, none) : scores + mask;
            const Tensor by_hand = matmul(softmax(masked, -1), m);
            sum(by_hand * dy).backward();
            const std::string what = "keys " + std::to_string(keys) + ", " + name_of(mask.dtype());
            expect_near(what.c_str(), y, by_hand.to_vector<float>());
            expect_near(what.c_str(), p.grad(), dq);
            expect_near(what.c_str(), m.grad(), dk);
        }
    }
}

// Operands of 16 bits, also views of one tensor as a transformer's, are widened as they are loaded, and results rounded
// once. Tiles compute gradients from the result that was rounded.
TEST(Attention, OfHalvesHasTheBitsOfF32)
{
    const test::PlansOfTheirOwn plans;
    const device::Capabilities& caps = test::inner(default_device()).capabilities();
    for (const DType t : {f16, bf16})
        for (const std::int64_t features : {32, 6})
            for (const bool masked : {false, true}) {
                SCOPED_TRACE(testing::Message() << name_of(t) << ' ' << features << ' ' << masked);
                const Tensor qkv = drawn({2, 70, 3, 4, features}, 1).to(t),
                             dy = drawn({2, 4, 70, features}, 2).to(t);
                const Tensor mask = masked ? drawn({70, 70}, 3).to(t) : Tensor();
                const auto results = [&](DType dtype) {
                    const Tensor leaf = qkv.to(dtype).detach().requires_grad_();
                    const auto in = unbind(leaf.permute({2, 0, 3, 1, 4}));
                    const Tensor y = scaled_dot_product_attention(
                        in[0], in[1], in[2], {.attn_mask = masked ? mask.to(dtype) : mask});
                    EXPECT_EQ(y.dtype(), dtype);
                    y.backward(dy.to(dtype));
                    return std::pair(y.to(t).to(f32).to_vector<float>(),
                                     leaf.grad().to(t).to(f32).to_vector<float>());
                };
                const auto [y, d] = results(t);
                const auto [y_of_f32, d_of_f32] = results(f32);
                EXPECT_EQ(y, y_of_f32);
                if (caps.gpu_kernels() || caps.is_cuda())
                    expect_near("gradient", from_vector(d, {static_cast<std::int64_t>(d.size())}), d_of_f32,
                                1e-2);
                else EXPECT_EQ(d, d_of_f32);
            }
}

// The numbers of what is dropped are 32 bits for four weights.
TEST(Attention, RefusesDropoutOfMoreWeightsThanHaveNumbers)
{
    const auto wide = [](const Dim& heads, std::int64_t length) {
        return expand(zeros({1, 1, 1, 4}), {heads, 1024, length, 4});
    };
    const AttentionOptions dropping{.dropout_p = 0.1};
    const Caught caught = error_of(
        [&] { return scaled_dot_product_attention(wide(4, 1024), wide(4, 4096), wide(4, 4096), dropping); });
    EXPECT_EQ(caught.kind, ErrorKind::shape);
    EXPECT_THAT(caught.text, testing::HasSubstr("(4294967296)"));
    EXPECT_THAT(caught.text, testing::HasSubstr("dropout_p"));
    EXPECT_NO_THROW(scaled_dot_product_attention(wide(4, 1023), wide(4, 4096), wide(4, 4096), dropping));
    EXPECT_NO_THROW(scaled_dot_product_attention(wide(4, 1024), wide(4, 4096), wide(4, 4096)));

    const Dim n = symbol("n");
    const auto program = record(
        [&](Tensor x) {
            const Tensor y = scaled_dot_product_attention(wide(x.size(0), 1024), wide(x.size(0), 4096),
                                                          wide(x.size(0), 4096), dropping);
            return y.narrow(0, 0, 1) + sum(x);
        },
        {spec({n})});
    const Caught at_call = error_of([&] { return program(zeros({4})); });
    EXPECT_EQ(at_call.kind, ErrorKind::shape);
    EXPECT_THAT(at_call.text, testing::HasSubstr("dropout_p"));
}

// Which way is taken is not known before the call.
TEST(Attention, TakesBothWaysInAProgramOfAnyLength)
{
    const auto step = [](const Tensor& q, const Tensor& k, const Tensor& v) {
        const Tensor loss = sum(scaled_dot_product_attention(q, k, v));
        std::vector<Tensor> all = grad({loss}, {q, k, v});
        all.insert(all.begin(), loss);
        return all;
    };
    const Dim keys = symbol("keys");
    const auto program = record(
        [&](Tensor q, Tensor k, Tensor v) {
            return step(q.detach().requires_grad_(), k.detach().requires_grad_(),
                        v.detach().requires_grad_());
        },
        {spec({2, 3, 5, 8}), spec({2, 3, keys, 8}), spec({2, 3, keys, 8})});
    for (const std::int64_t count : {512, 513, 600, 3}) {
        const Tensor q = drawn({2, 3, 5, 8}, 1), k = drawn({2, 3, count, 8}, 2),
                     v = drawn({2, 3, count, 8}, 3);
        const std::vector<Tensor> found = program(q, k, v);
        const std::vector<Tensor> want = step(Variable(q), Variable(k), Variable(v));
        for (std::size_t i = 0; i < want.size(); ++i)
            EXPECT_EQ(found[i].to_vector<float>(), want[i].to_vector<float>()) << count << " " << i;
    }
}

// The kernels for these numbers of features may differ; eager code plans with symbols for sizes that differ.
TEST(Attention, GivesTheSameBitsAfterOtherNumbersOfFeatures)
{
    const auto run = [](std::int64_t features) {
        const Tensor q = drawn({1, 1, 64, features}, 1).requires_grad_();
        const Tensor y = scaled_dot_product_attention(q, q, q, {.scale = 0.5});
        Floats out = y.to_vector<float>(); // the gradient is planned apart
        sum(square(y)).backward();
        const Floats dq = q.grad().to_vector<float>();
        out.insert(out.end(), dq.begin(), dq.end());
        return out;
    };
    const Floats first = run(4), wide = run(132);
    for (const std::int64_t features : {8, 20, 160, 12, 200}) run(features);
    EXPECT_EQ(run(4), first);
    EXPECT_EQ(run(132), wide);
}

// Whether the queries are enough for tiles on GPUs is not known before the call.
TEST(Attention, TakesBothWaysInAProgramOfAnyNumberOfQueries)
{
    const auto step = [](const Tensor& q, const Tensor& k) {
        const Tensor y = scaled_dot_product_attention(q, k, k);
        std::vector<Tensor> all = grad({sum(square(y))}, {q, k});
        all.push_back(y);
        return all;
    };
    const Dim queries = symbol("queries");
    const auto program = record(
        [&](Tensor q, Tensor k) { return step(q.detach().requires_grad_(), k.detach().requires_grad_()); },
        {spec({2, 3, queries, 8}), spec({2, 3, 70, 8})});
    for (const std::int64_t count : {15, 16, 100, 1, 0}) {
        const Tensor q = drawn({2, 3, count, 8}, 1), k = drawn({2, 3, 70, 8}, 2);
        const std::vector<Tensor> found = program(q, k), want = step(Variable(q), Variable(k));
        for (std::size_t i = 0; i < want.size(); ++i)
            EXPECT_EQ(found[i].to_vector<float>(), want[i].to_vector<float>()) << count << " " << i;
    }
}

// Of few keys, where the weights are matrices for as long as they are used.
TEST(Attention, KeepsNoMatrixForTheGradient)
{
    Tensor q = drawn({2, 8, 100, 4}, 1).requires_grad_(), k = drawn({2, 8, 100, 4}, 2),
           v = drawn({2, 8, 100, 4}, 3);
    for (const Tensor& t : {q, k, v}) t.eval();
    const Device device = default_device();
    const std::uint64_t before = device.live_bytes();
    const Tensor y = scaled_dot_product_attention(q, k, v, {.is_causal = true});
    y.eval();
    EXPECT_LT(device.live_bytes() - before, 2u * 8 * 100 * 100 * 4 / 4);
}

// No matrix of weights: what is placed for a step is far below one head's.
TEST(Attention, TakesMemoryLinearInTheLength)
{
    const std::int64_t steps = runs_kernels() ? 2048 : 640, heads = 2;
    const auto step = [](const Tensor& q, const Tensor& k, const Tensor& v) {
        return sum(square(scaled_dot_product_attention(q, k, v, {.is_causal = true})));
    };
    const auto placed = [&](const auto& run) {
        const std::uint64_t before = stats().bytes_placed;
        run();
        return stats().bytes_placed - before;
    };
    const auto matrix = static_cast<std::uint64_t>(steps * steps) * 4;
    std::vector<Tensor> in;
    for (std::uint32_t i = 0; i < 3; ++i) in.push_back(drawn({1, heads, steps, 16}, i + 1).requires_grad_());
    float eager = 0;
    EXPECT_LT(placed([&] {
                  const Tensor loss = step(in[0], in[1], in[2]);
                  loss.backward();
                  for (const Tensor& t : in) t.grad().eval();
                  eager = loss.item<float>();
              }),
              matrix / 2);

    const Dim length = symbol("length");
    const auto program = record(
        [&](Tensor q, Tensor k, Tensor v) {
            std::vector<Tensor> leaves;
            for (const Tensor& t : {q, k, v}) leaves.push_back(t.detach().requires_grad_());
            const Tensor loss = step(leaves[0], leaves[1], leaves[2]);
            std::vector<Tensor> all = grad(std::vector{loss}, leaves);
            all.insert(all.begin(), loss);
            return all;
        },
        {spec({1, heads, length, 16}), spec({1, heads, length, 16}), spec({1, heads, length, 16})});
    std::vector<Tensor> out;
    EXPECT_LT(placed([&] {
                  out = program(in[0].detach(), in[1].detach(), in[2].detach());
                  EXPECT_EQ(out[0].item<float>(), eager);
              }),
              matrix / 2);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(out[i + 1].to_vector<float>(), in[i].grad().to_vector<float>()) << i;
}

} // namespace
