// Threads that use the classes at the same time.
#include <atomic>
#include <latch>
#include <thread>

#include <reprise/backward.hpp>

#include "dynamic/rows.hpp"
#include "support/devices.hpp"
#include "support/time_limit.hpp"

namespace reprise {
namespace {

using namespace test;

constexpr std::size_t count = 4;

template <class F> void on_threads(const F& f)
{
    std::latch all_are_there(count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
            all_are_there.arrive_and_wait();
            f(i);
        });
    for (std::thread& t : threads) t.join();
}

// Every class, with tensors of its own; all threads share one function.
std::vector<Bits> use_all(std::size_t who)
{
    static const DynamicGradientFunction product = DynamicMatMulBackward();
    const std::uint64_t seed = 10 * who;
    std::vector<Bits> out;
    for (const test::Row& r : test::rows()) {
        const auto [n, m] = r.sizes[0];
        Tensors in;
        for (const Shape& s : r.inputs(n, m)) in.push_back(Variable(random_tensor(s, seed + in.size())));
        const Tensor y = r.dynamic(n, m).call(in)[0];
        for (const Tensor& g : grad({sum(y * y)}, in)) out.push_back(bits(g));
    }
    const Tensor a = random_tensor({3, 3}, seed), b = random_tensor({3, 3}, seed + 1);
    DynamicGradientTensor t(a);
    sum(product(t.tensor(), b)).backward();
    t.accumulate_gradient(a);
    out.push_back(bits(t.get_gradient().value()));
    t.clear_gradient();

    DynamicAutogradContext context;
    context.forward(
        [](DynamicAutogradContext& c, const Tensors& in) {
            c.save_for_backward(in);
            return Tensors{matmul(in[0], in[1])};
        },
        {a, b});
    const Tensors g = context.backward(
        [](DynamicAutogradContext& c, const Tensors& dy) {
            const auto two = backward::matmul_backward(dy[0], c.get_saved_tensor(0), c.get_saved_tensor(1));
            return Tensors{two.first, two.second};
        },
        {a});
    out.push_back(bits(g[1]));

    const Dim n = symbol("n");
    const auto program = record(
        [&](Tensor x) {
            GradientAccumulatorDynamic sums;
            x.requires_grad_();
            sums.accumulate(grad(sum(product(x, b)), x), {n, 3});
            return sums.get_accumulated({n, 3}).value();
        },
        {spec({n, 3})});
    out.push_back(bits(program(a)));
    return out;
}

TEST(DynamicThreads, UseClassesOfTheirOwn)
{
    const test::TimeLimit limit(std::chrono::seconds(200));
    std::vector<std::vector<Bits>> want, got(count);
    for (std::size_t i = 0; i < count; ++i) want.push_back(use_all(i));
    on_threads([&](std::size_t i) { got[i] = use_all(i); });
    EXPECT_EQ(got, want);
}

TEST(DynamicThreads, UseClassesOnTheNullDevice)
{
    const test::TimeLimit limit(std::chrono::seconds(200));
    const test::UseDevice use(test::imitation("gpu"));
    on_threads([](std::size_t i) { use_all(i); });
}

// Whole numbers: their sum is the same in every order.
void share_an_accumulator(bool values)
{
    GradientAccumulatorDynamic sums;
    constexpr int rounds = 400;
    std::atomic<int> refused = 0;
    on_threads([&](std::size_t i) {
        for (int round = 0; round < rounds; ++round) {
            sums.accumulate(full({2, 3}, static_cast<double>(i + 1)), {2, 3});
            sums.accumulate_batched(ones({static_cast<std::int64_t>(i), 2, 3}), {2, 3});
            EXPECT_TRUE(sums.get_accumulated({2, 3}).has_value());
            try {
                sums.accumulate(ones({4}), {4});
            } catch (const Error&) {
                ++refused;
            }
        }
    });
    EXPECT_EQ(refused, rounds * static_cast<int>(count));
    const Tensor total = sums.get_accumulated({2, 3}).value();
    if (values) {
        EXPECT_EQ(bits(total), bits(full({2, 3}, rounds * (1 + 2 + 3 + 4 + 0 + 1 + 2 + 3))));
    }
    on_threads([&](std::size_t i) {
        if (i == 0) sums.reset();
        else static_cast<void>(sums.get_accumulated({2, 3}));
    });
    EXPECT_FALSE(sums.get_accumulated({2, 3}));
}

TEST(DynamicThreads, ShareAnAccumulator)
{
    const test::TimeLimit limit(std::chrono::seconds(100));
    share_an_accumulator(true);
}

TEST(DynamicThreads, ShareAnAccumulatorOnTheNullDevice)
{
    const test::TimeLimit limit(std::chrono::seconds(100));
    const test::UseDevice use(test::imitation("gpu"));
    share_an_accumulator(false);
}

} // namespace
} // namespace reprise
