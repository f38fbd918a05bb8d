// Collectives on threads, each with a device of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>

#include "support/ranks.hpp"

namespace reprise {
namespace {

using namespace distributed;
using test::on_ranks;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

std::vector<float> values(const Tensor& t) { return t.to(f32).contiguous().to_vector<float>(); }

// The x of a rank: rank * 100, rank * 100 + 1, ...
Tensor counted(const Shape& shape, int rank, const Device& device, DType dtype = f32)
{
    std::int64_t n = 1;
    for (const Dim& d : shape) n *= d.value();
    std::vector<float> v;
    for (std::int64_t i = 0; i < n; ++i) v.push_back(static_cast<float>(100 * rank + i));
    return from_vector(v, shape, {.device = device}).to(dtype);
}

class Collectives : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Collectives, testing::Values(1, 2, 3));

TEST_P(Collectives, ReduceToAllRanks)
{
    on_ranks(GetParam(), [](const World& w, const Device& d) {
        const auto n = static_cast<float>(w.size());
        for (const std::int64_t size : {0, 1, 2, 5, 1000}) {
            const Tensor x = counted({size}, w.rank(), d);
            std::vector<float> sum, mean, min, max, product;
            for (std::int64_t i = 0; i < size; ++i) {
                float s = 0, p = 1;
                for (int k = 0; k < w.size(); ++k) {
                    s += static_cast<float>(100 * k + i);
                    p *= static_cast<float>(100 * k + i);
                }
                sum.push_back(s);
                mean.push_back(s / n);
                product.push_back(p);
                min.push_back(static_cast<float>(i));
                max.push_back(static_cast<float>(100 * (w.size() - 1) + i));
            }
            EXPECT_THAT(values(all_reduce(x, w)), ElementsAreArray(sum));
            EXPECT_THAT(values(all_reduce(x, w, ReduceOp::mean)), ElementsAreArray(mean));
            EXPECT_THAT(values(all_reduce(x, w, ReduceOp::min)), ElementsAreArray(min));
            EXPECT_THAT(values(all_reduce(x, w, ReduceOp::max)), ElementsAreArray(max));
            EXPECT_THAT(values(all_reduce(x, w, ReduceOp::product)), ElementsAreArray(product));
        }
        EXPECT_EQ(all_reduce(full({}, 2.0, {.device = d}), w).item<float>(), 2 * n);
    });
}

TEST_P(Collectives, MoveParts)
{
    on_ranks(GetParam(), [](const World& w, const Device& d) {
        const int n = w.size(), rank = w.rank();
        EXPECT_THAT(values(broadcast(counted({3}, rank, d), w, n - 1)),
                    ElementsAre(100 * (n - 1), 100 * (n - 1) + 1, 100 * (n - 1) + 2));
        const Tensor x = counted({2, 3}, rank, d);
        const Tensor gathered = all_gather(x, w), beside = all_gather(x, w, -1);
        EXPECT_EQ(gathered.shape(), Shape({2 * n, 3}));
        EXPECT_EQ(beside.shape(), Shape({2, 3 * n}));
        for (int k = 0; k < n; ++k) {
            EXPECT_EQ(values(narrow(gathered, 0, 2 * k, 2)), values(counted({2, 3}, k, d)));
            EXPECT_EQ(values(narrow(beside, 1, 3 * k, 3)), values(counted({2, 3}, k, d)));
        }
        const Tensor parts = counted({2, n * 2}, rank, d);
        Tensor sum = zeros({2, n * 2}, {.device = d});
        for (int k = 0; k < n; ++k) sum = sum + counted({2, n * 2}, k, d);
        EXPECT_EQ(values(reduce_scatter(parts, w, ReduceOp::sum, 1)), values(narrow(sum, 1, 2 * rank, 2)));
        const Tensor swapped = all_to_all(parts, w, -1);
        for (int k = 0; k < n; ++k)
            EXPECT_EQ(values(narrow(swapped, 1, 2 * k, 2)),
                      values(narrow(counted({2, n * 2}, k, d), 1, 2 * rank, 2)));
        const int next = (rank + 1) % n, before = (rank + n - 1) % n;
        EXPECT_EQ(values(send_receive(x, w, next, before)), values(counted({2, 3}, before, d)));
    });
}

TEST_P(Collectives, TakeAllDtypes)
{
    on_ranks(GetParam(), [](const World& w, const Device& d) {
        const float n = static_cast<float>(w.size());
        for (const DType t : {f32, f16, bf16, f64, i32, i64, i16, i8, u8}) {
            const device::Capabilities& c = test::inner(d).capabilities();
            if ((t == f64 && !c.float64) || (t == i64 && !c.int64)) continue;
            const Tensor x = full({5}, 3, {.dtype = t, .device = d});
            const Tensor y = all_reduce(x, w);
            EXPECT_EQ(y.dtype(), t);
            EXPECT_THAT(values(y), testing::Each(3 * n)) << name_of(t);
            EXPECT_THAT(values(all_gather(x, w)), testing::Each(3));
        }
        const Tensor flags =
            from_vector(std::vector<std::int32_t>{1, 0, w.rank() == 0}, {3}, {.device = d}).to(boolean);
        EXPECT_THAT(values(broadcast(flags, w, w.size() - 1)), ElementsAre(1, 0, w.size() == 1 ? 1 : 0));
    });
}

// Transposed, repeated and offset views.
TEST_P(Collectives, TakeViews)
{
    on_ranks(GetParam(), [](const World& w, const Device& d) {
        const auto n = static_cast<float>(w.size());
        const Tensor x = from_vector(std::vector<float>{0, 1, 2, 3, 4, 5}, {2, 3}, {.device = d});
        EXPECT_THAT(values(all_reduce(x.transpose(0, 1), w)),
                    ElementsAre(0, 3 * n, 1 * n, 4 * n, 2 * n, 5 * n));
        EXPECT_THAT(values(all_reduce(narrow(x, 1, 1, 1), w)), ElementsAre(1 * n, 4 * n));
        EXPECT_THAT(values(all_reduce(expand(narrow(x, 1, 1, 1), {2, 2}), w)),
                    ElementsAre(1 * n, 1 * n, 4 * n, 4 * n));
    });
}

TEST_P(Collectives, HaveGradients)
{
    on_ranks(GetParam(), [](const World& w, const Device& d) {
        const int n = w.size(), rank = w.rank();
        // The loss of a rank is the sum of (rank + 1) * factors * y; factors are 1, 2, 3, ...
        const auto gradient = [&](const Shape& shape, auto&& f) {
            Tensor x = counted(shape, rank, d).requires_grad_();
            const Tensor y = f(x);
            const Tensor factors =
                arange(1, y.numel().value() + 1, 1, {.dtype = f32, .device = d}).reshape(y.shape());
            (y * factors * (rank + 1)).sum().backward();
            return values(x.grad());
        };
        const auto ranks = static_cast<float>(n * (n + 1) / 2);
        EXPECT_THAT(gradient({2}, [&](Tensor x) { return all_reduce(x, w); }), ElementsAre(ranks, 2 * ranks));
        EXPECT_THAT(gradient({2}, [&](Tensor x) { return all_reduce(x, w, ReduceOp::mean); }),
                    ElementsAre(testing::FloatEq(ranks / static_cast<float>(n)),
                                testing::FloatEq(2 * ranks / static_cast<float>(n))));
        const bool is_root = rank == n - 1;
        EXPECT_THAT(gradient({2}, [&](Tensor x) { return broadcast(x, w, n - 1); }),
                    ElementsAre(is_root ? ranks : 0, is_root ? 2 * ranks : 0));
        const float first = static_cast<float>(2 * rank + 1);
        EXPECT_THAT(gradient({2}, [&](Tensor x) { return all_gather(x, w); }),
                    ElementsAre(first * ranks, (first + 1) * ranks));
        std::vector<float> expected;
        for (int k = 0; k < n; ++k)
            for (int i = 0; i < 2; ++i) expected.push_back(static_cast<float>((i + 1) * (k + 1)));
        EXPECT_THAT(gradient({2 * n}, [&](Tensor x) { return reduce_scatter(x, w); }),
                    ElementsAreArray(expected));
        const int next = (rank + 1) % n, before = (rank + n - 1) % n;
        EXPECT_THAT(gradient({2}, [&](Tensor x) { return send_receive(x, w, next, before); }),
                    ElementsAre(next + 1, 2 * (next + 1)));
        // Gradients of gradients.
        Tensor x = counted({2}, rank, d).requires_grad_();
        const Tensor y = (all_reduce(x * x, w) * all_reduce(x, w)).sum();
        const Tensor g = grad(y, x, {.create_graph = true});
        grad(g.sum(), x);
    });
}

TEST_P(Collectives, OfExtremaHaveNoGradient)
{
    on_ranks(GetParam(), [](const World& w, const Device& d) {
        Tensor x = counted({2}, w.rank(), d).requires_grad_();
        const Tensor most = all_reduce(x * 2, w, ReduceOp::max);
        EXPECT_FALSE(most.requires_grad() && w.size() > 1);
        EXPECT_EQ(most.to_vector<float>()[0], 200.0f * static_cast<float>(w.size() - 1));
    });
}

// The result is another tensor also in a world of one.
TEST_P(Collectives, LeaveTheirArgumentAlone)
{
    on_ranks(GetParam(), [](const World& w, const Device& d) {
        const Tensor x = full({2}, 3, {.device = d});
        Tensor y = broadcast(x, w);
        y.mul_(2);
        EXPECT_THAT(values(x), ElementsAre(3, 3));
        EXPECT_THAT(values(y), ElementsAre(6, 6));
    });
}

// A barrier waits for the collectives that were submitted before it.
TEST_P(Collectives, EndBeforeABarrierDoes)
{
    on_ranks(GetParam(), [](const World& w, const Device& d) {
        for (int i = 0; i < 20; ++i) {
            const Tensor y = all_reduce(full({100}, i, {.device = d}), w);
            w.barrier();
            EXPECT_TRUE(w.size() == 1 || y.is_ready());
        }
    });
}

// Larger numbers would cancel otherwise.
TEST(CollectivesOf, SumInTheOrderOfRanks)
{
    on_ranks(3, [](const World& w, const Device& d) {
        const float mine[] = {1e8f, 1.0f, -1e8f};
        const Tensor x = full({7}, mine[w.rank()], {.device = d});
        const float expected = (mine[0] + mine[1]) + mine[2];
        EXPECT_THAT(values(all_reduce(x, w)), testing::Each(expected));
        EXPECT_THAT(values(all_reduce(x.to(bf16), w)), testing::Each(0));
    });
}

// A recorded program with collectives at several sizes: nothing is recorded again, and bits equal those of eager code.
TEST_P(Collectives, ArePartsOfRecordedPrograms)
{
    on_ranks(GetParam(), [](const World& w, const Device& d) {
        const auto f = [&](Tensor x) {
            const Tensor y = all_reduce(tanh(x) * 3, w);
            const Tensor beside = exp(x * -1).sum({1});
            return tanh(y + 1).sum({1}) + all_gather(beside, w).sum() + beside;
        };
        const Dim n = symbol("n");
        const auto program = record([&](Tensor x) { return f(x); }, {spec({n, 7})}, {.device = d});
        const auto input = [&](std::int64_t size) { return counted({size, 7}, w.rank(), d) * 0.001; };
        for (const std::int64_t size : {1, 3, 64, 3, 700}) {
            const Tensor x = from_vector(values(input(size)), {size, 7}, {.device = d});
            const std::uint64_t before = stats(d).recordings;
            const Tensor y = program(x);
            EXPECT_EQ(stats(d).recordings, before) << "a call recorded something";
            EXPECT_EQ(values(y), values(f(x))) << size;
        }
    });
}

TEST_P(Collectives, CountBytes)
{
    on_ranks(GetParam(), [](const World& w, const Device& d) {
        const auto n = static_cast<std::uint64_t>(w.size());
        const std::uint64_t before = w.traffic().bytes_sent;
        values(all_reduce(zeros({1200}, {.device = d}), w));
        EXPECT_EQ(w.traffic().bytes_sent - before, 2 * (n - 1) * 4800 / n);
        EXPECT_EQ(w.traffic().bytes_received - before, 2 * (n - 1) * 4800 / n);
    });
}

TEST_P(Collectives, RefuseWrongArguments)
{
    on_ranks(GetParam(), [](const World& w, const Device& d) {
        const auto kind_of = [](auto&& f) {
            try {
                f();
            } catch (const Error& e) {
                return e.kind();
            }
            return ErrorKind::internal;
        };
        const Tensor x = zeros({7, 2}, {.device = d});
        EXPECT_EQ(kind_of([&] { broadcast(x, w, w.size()); }), ErrorKind::argument);
        EXPECT_EQ(kind_of([&] { send_receive(x, w, -1, 0); }), ErrorKind::argument);
        EXPECT_EQ(kind_of([&] { all_gather(x, w, 2); }), ErrorKind::argument);
        EXPECT_EQ(kind_of([&] { all_gather(zeros({}, {.device = d}), w); }), ErrorKind::shape);
        EXPECT_EQ(kind_of([&] { all_reduce(x.to(i32), w, ReduceOp::mean); }), ErrorKind::dtype);
        if (w.size() > 1) {
            EXPECT_EQ(kind_of([&] { reduce_scatter(narrow(x, 0, 0, 1), w); }), ErrorKind::shape);
            EXPECT_EQ(kind_of([&] { all_reduce(x.to(boolean), w); }), ErrorKind::dtype);
        }
        EXPECT_EQ(kind_of([] { local_worlds(0); }), ErrorKind::argument);
    });
}

std::string failure(const std::function<void(const World&, const Device&)>& f)
{
    std::string text;
    on_ranks(3, [&](World w, const Device& d) {
        w.set_timeout(std::chrono::milliseconds(400));
        try {
            f(w, d);
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::distributed) << e.what();
            if (w.rank() == 0) text = e.what();
        }
    });
    return text;
}

TEST(CollectivesOf, RanksThatDifferFail)
{
    EXPECT_THAT(
        failure([](const World& w, const Device& d) {
            values(all_reduce(zeros({w.rank() == 1 ? 4 : 5}, {.device = d}), w));
        }),
        testing::AllOf(HasSubstr("Rank (1) has begun the exchange (all_reduce sum f32 [4], number 0)"),
                       HasSubstr("this rank (all_reduce sum f32 [5], number 0)")));
    EXPECT_THAT(
        failure([](const World& w, const Device& d) {
            if (w.rank() != 1) values(all_reduce(zeros({4}, {.device = d}), w));
            else std::this_thread::sleep_for(std::chrono::seconds(1));
        }),
        HasSubstr(
            "Rank (1) has not taken part in the exchange (all_reduce sum f32 [4], number 0) for (0.4) s"));
    EXPECT_THAT(failure([](const World& w, const Device& d) {
                    if (w.rank() != 1) values(all_reduce(zeros({4}, {.device = d}), w));
                }),
                HasSubstr("Rank (1) is gone"));
}

TEST(CollectivesOf, ThatFailedFailAgain)
{
    on_ranks(2, [](World w, const Device& d) {
        w.set_timeout(std::chrono::milliseconds(300));
        if (w.rank() == 1) return;
        for (int i = 0; i < 2; ++i) EXPECT_THROW(values(all_reduce(ones({3}, {.device = d}), w)), Error);
        EXPECT_THROW(w.barrier(), Error);
    });
}

TEST(CollectivesOf, BarriersWaitForAll)
{
    std::atomic<int> arrived = 0;
    on_ranks(3, [&](const World& w, const Device&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20 * w.rank()));
        ++arrived;
        w.barrier();
        EXPECT_EQ(arrived, 3);
    });
}

} // namespace
} // namespace reprise
