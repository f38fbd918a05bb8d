// Collectives by the emulation of NCCL beside those by the host: ranks are threads, each with an emulated CUDA device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>

#include "support/data_parallel.hpp"
#include "support/ranks.hpp"

namespace reprise {
namespace {

using namespace distributed;
using test::even, test::on_ranks, test::Result, test::Setting, test::train;
using testing::AllOf, testing::HasSubstr, testing::StartsWith;

// Calls f(world of NCCL, world of the host, device) on each of n ranks.
void on_both(int n, const std::function<void(const World&, const World&, const Device&)>& f)
{
    const std::vector<World> host = local_worlds(n);
    on_ranks(n, [&](const World& w, const Device& d) {
        const DeviceGuard guard(d);
        use_nccl(w, d);
        f(w, host[static_cast<std::size_t>(w.rank())], d);
        w.barrier();
    });
}

// Elements [n, k], which differ by rank; small, so that products are exact in each dtype.
Tensor elements(std::int64_t n, std::int64_t k, const World& w, DType dtype)
{
    return ((arange(n * k) * 7 + 3 * w.rank()) % 5 - 1).to(dtype).reshape({n, k});
}

using Function = std::function<Tensor(const Tensor&, const World&)>;
struct Row {
    const char* name;
    Function f;
    bool takes_numbers = false, has_no_gradient = false;
};
const std::vector<Row>& collectives()
{
    static const std::vector<Row> rows = [] {
        std::vector<Row> all = {
            {"broadcast", [](const Tensor& x, const World& w) { return broadcast(x, w, w.size() - 1); }},
            {"all_gather", [](const Tensor& x, const World& w) { return all_gather(x, w); }},
            {"all_gather 1", [](const Tensor& x, const World& w) { return all_gather(x, w, 1); }},
            {"all_to_all", [](const Tensor& x, const World& w) { return all_to_all(x, w); }},
            {"send_receive in a ring",
             [](const Tensor& x, const World& w) {
                 const int n = w.size(), r = w.rank();
                 return send_receive(x, w, (r + 1) % n, (r + n - 1) % n);
             }},
            {"send_receive in a chain", [](const Tensor& x, const World& w) {
                 return send_receive(x, w, std::min(w.rank() + 1, w.size() - 1), std::max(w.rank() - 1, 0));
             }}};
        for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::product}) {
            const bool has_no_gradient = op != ReduceOp::sum;
            all.push_back({"all_reduce",
                           [op](const Tensor& x, const World& w) { return all_reduce(x, w, op); }, true,
                           has_no_gradient});
            all.push_back({"reduce_scatter",
                           [op](const Tensor& x, const World& w) { return reduce_scatter(x, w, op); }, true,
                           has_no_gradient});
        }
        return all;
    }();
    return rows;
}

class Nccl : public testing::TestWithParam<int> {}; // ranks
INSTANTIATE_TEST_SUITE_P(Ranks, Nccl, testing::Values(2, 3));

TEST_P(Nccl, HasTheBitsOfTheHost)
{
    on_both(GetParam(), [](const World& nccl, const World& host, const Device&) {
        for (const Row& row : collectives())
            for (const DType dtype : {f32, f16, bf16, f64, i64, i32, i16, i8, u8, boolean})
                for (const std::int64_t n : {0, 1, 33}) {
                    if (row.takes_numbers && dtype == boolean) continue;
                    const Tensor x = elements(n * nccl.size(), 3, nccl, dtype);
                    EXPECT_TRUE(equal(row.f(x, nccl), row.f(x, host)))
                        << row.name << " " << name_of(dtype) << " " << n;
                }
        const Tensor x = elements(2, 100'000, nccl, f32);
        EXPECT_TRUE(equal(all_reduce(x, nccl, ReduceOp::mean), all_reduce(x, host, ReduceOp::mean)));
    });
}

TEST_P(Nccl, TakesViews)
{
    on_both(GetParam(), [](const World& nccl, const World& host, const Device&) {
        const Tensor x = elements(4 * nccl.size(), 6, nccl, f32);
        const auto views = {x.transpose(0, 1).slice(0, 0, 2 * nccl.size()), x.slice(1, 1, 4),
                            x[0].expand({nccl.size(), 6})};
        for (const Tensor& v : views)
            for (const Row& row : collectives())
                EXPECT_TRUE(equal(row.f(v, nccl), row.f(v, host))) << row.name;
        EXPECT_TRUE(equal(x, elements(4 * nccl.size(), 6, nccl, f32))) << "an argument was written";
    });
}

TEST_P(Nccl, HasGradients)
{
    on_both(GetParam(), [](const World& nccl, const World& host, const Device&) {
        const auto gradient = [&](const Row& row, const World& w) {
            Variable x(elements(2 * w.size(), 3, w, f32) / 3.0);
            const Tensor y = row.f(x * x, w);
            (y * (y + w.rank())).sum().backward();
            return x.grad();
        };
        for (const Row& row : collectives()) {
            if (row.has_no_gradient) continue;
            EXPECT_TRUE(equal(gradient(row, nccl), gradient(row, host))) << row.name;
        }
    });
}

TEST_P(Nccl, ReplaysAtAnySize)
{
    on_both(GetParam(), [](const World& nccl, const World& host, const Device&) {
        const Dim n = symbol("n");
        const auto program = [&](const World& w) {
            return record([w](Tensor x) { return all_reduce(x * 2.0, w) + all_gather(x, w).sum(); },
                          {spec({n, 3})});
        };
        const auto a = program(nccl), b = program(host);
        for (const std::int64_t size : {5, 1, 0, 300}) {
            const Tensor x = elements(size, 3, nccl, f32);
            EXPECT_TRUE(equal(a(x), b(x))) << size;
        }
    });
}

// Labels go by the transport, and nothing else.
TEST_P(Nccl, CarriesTheData)
{
    on_both(GetParam(), [](const World& w, const World&, const Device&) {
        EXPECT_THAT(w.description(), HasSubstr(", NCCL 2.14.5"));
        const World::Traffic before = w.traffic();
        all_reduce(zeros({1000}), w).to_vector<float>();
        EXPECT_EQ(w.traffic().exchanges - before.exchanges, 1u);
        EXPECT_EQ(w.traffic().bytes_sent - before.bytes_sent, static_cast<std::uint64_t>(w.size() - 1));
    });
}

TEST_P(Nccl, TrainsAsTheHostDoes)
{
    const Setting settings[] = {{},
                                {.recorded = false},
                                {.bucket_bytes = 64},
                                {.accumulate = 3},
                                {.dropout = 0.3},
                                {.adam = true, .zero = true},
                                {.accumulate = 2, .zero = true, .dtype = bf16}};
    for (const Setting& s : settings) {
        SCOPED_TRACE(&s - settings);
        on_both(GetParam(), [&](const World& nccl, const World& host, const Device& d) {
            const Result a = train(nccl, d, even(nccl.size(), 26), s),
                         b = train(host, d, even(host.size(), 26), s);
            EXPECT_EQ(a.weights, b.weights);
            EXPECT_EQ(a.losses, b.losses);
        });
    }
}

} // namespace
} // namespace reprise
