// A small network that ranks train together, each on its rows of every batch.
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>

namespace reprise::test {

struct Net : nn::Module {
    nn::Linear a{6, 16}, b{16, 16}, c{16, 3};
    nn::BatchNorm1d norm{16};
    nn::Dropout drop;
    bool normalizes;
    explicit Net(bool with_norm, double dropout = 0) : drop(dropout), normalizes(with_norm)
    {
        register_module("a", a);
        register_module("b", b);
        register_module("c", c);
        register_module("norm", norm);
        register_module("drop", drop);
    }
    Tensor forward(Tensor x) override
    {
        x = tanh(a(x));
        if (normalizes) x = norm(x);
        return c(drop(tanh(b(x))));
    }
};

struct Batch {
    Tensor x, y;
};
// Rows [begin, end) of the batch of a step.
inline Batch batch(int step, std::int64_t begin, std::int64_t end, const Device& d)
{
    std::vector<float> x;
    std::vector<std::int64_t> y;
    for (std::int64_t row = begin; row < end; ++row) {
        for (int k = 0; k < 6; ++k)
            x.push_back(static_cast<float>(std::sin(0.7 * static_cast<double>(row) + 1.3 * k + step)));
        const float first = x[x.size() - 6];
        y.push_back(first > 0.3f ? 2 : first > -0.3f ? 1 : 0);
    }
    return {from_vector(x, {end - begin, 6}, {.device = d}), from_vector(y, {end - begin}, {.device = d})};
}

// Sets parameters that every run begins with; those of rank 0 replace the others.
inline void set_parameters(nn::Module& net, int rank)
{
    std::vector<Variable> parameters = net.parameters();
    for (std::size_t p = 0; p < parameters.size(); ++p) {
        std::vector<float> v;
        for (std::int64_t i = 0; i < parameters[p].numel().value(); ++i)
            v.push_back(static_cast<float>(
                0.3 * std::sin(static_cast<double>(i) * static_cast<double>(p + 1) + rank)));
        parameters[p].assign(from_vector(v, parameters[p].shape()));
    }
}

// The rows of each rank: [begins[rank], begins[rank + 1]).
using Begins = std::vector<std::int64_t>;

struct Result {
    std::vector<double> losses{}; // over all rows, by step
    std::vector<float> weights{};
};

struct Setting {
    bool recorded = true;
    int accumulate = 1; // batches for each step
    bool adam = false;
    std::int64_t bucket_bytes = 25 << 20;
    bool zero = false; // ZeroRedundancyOptimizer
    DType dtype = f32; // of the parameters
    int steps = 20;
    double dropout = 0;
    bool ends_small = false; // the last batch of each five has a quarter of the rows
};

inline std::unique_ptr<optim::Optimizer> optimizer_of(nn::DistributedDataParallel<Net>& ddp, const Setting& s)
{
    const optim::SGD::Options sgd{.lr = 0.1, .momentum = 0.9};
    const optim::AdamW::Options adam{.lr = 0.01};
    if (s.zero && s.adam) return std::make_unique<optim::ZeroRedundancyOptimizer<optim::AdamW>>(ddp, adam);
    if (s.zero) return std::make_unique<optim::ZeroRedundancyOptimizer<optim::SGD>>(ddp, sgd);
    if (s.adam) return std::make_unique<optim::AdamW>(ddp->parameters(), adam);
    return std::make_unique<optim::SGD>(ddp->parameters(), sgd);
}

inline Result train(const distributed::World& w, const Device& d, const Begins& begins, const Setting& s)
{
    Net net(false, s.dropout);
    manual_seed(1);
    set_parameters(net, w.rank());
    net.to(d, s.dtype);
    nn::DistributedDataParallel ddp(net, w,
                                    {.bucket_bytes = s.bucket_bytes, .first_bucket_bytes = s.bucket_bytes});
    const std::unique_ptr<optim::Optimizer> optimizer = optimizer_of(ddp, s);
    const auto backward_pass = [&](Tensor x, Tensor y) {
        const Tensor loss = cross_entropy(ddp(x.to(s.dtype)).to(f32), y);
        (loss / s.accumulate).backward();
        return loss;
    };
    const Dim n = symbol("n");
    const auto update = [&] {
        optimizer->step();
        optimizer->zero_grad();
    };
    const auto step = record(
        [&](Tensor x, Tensor y) {
            const Tensor loss = backward_pass(x, y);
            update();
            return loss;
        },
        {spec({n, 6}), spec({n}, i64)}, {.device = d});
    Result r;
    const auto rank = static_cast<std::size_t>(w.rank());
    for (int i = 0; i < s.steps; ++i) {
        double loss = 0;
        const std::int64_t part = s.ends_small && i % 5 == 4 ? 4 : 1;
        for (int k = 0; k < s.accumulate; ++k) {
            const std::int64_t begin = begins[rank] / part, end = begins[rank + 1] / part;
            const Batch b = batch(i * s.accumulate + k, begin, end, d);
            const double share = static_cast<double>(end - begin) / static_cast<double>(begins.back() / part);
            const bool last = k + 1 == s.accumulate;
            if (s.recorded && s.accumulate == 1) {
                loss += share * step(b.x, b.y).item<float>();
                continue;
            }
            if (last) {
                loss += share * backward_pass(b.x, b.y).item<float>();
                update();
            } else {
                const auto local = ddp.no_sync();
                loss += share * backward_pass(b.x, b.y).item<float>();
            }
        }
        r.losses.push_back(loss / s.accumulate);
    }
    for (const Variable& p : net.parameters())
        for (const float v : p.to(f32).to_vector<float>()) r.weights.push_back(v);
    return r;
}

inline Begins even(int ranks, std::int64_t rows)
{
    Begins b;
    for (int k = 0; k <= ranks; ++k) b.push_back(rows * k / ranks);
    return b;
}

} // namespace reprise::test
