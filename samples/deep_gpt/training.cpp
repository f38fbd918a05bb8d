#include "training.hpp"

#include <chrono>
#include <random>

#include "../common/gpt.hpp"

namespace deep_gpt {

namespace {

constexpr std::int64_t symbols = 17;

using Clock = std::chrono::steady_clock;

// Each row is a, a + b, a + 2 b, ... modulo 17, so that its first two numbers determine the others.
struct Batch {
    rp::Tensor input, target; // [batch, length]
};
Batch sequences(const Options& o, std::mt19937_64& random)
{
    std::vector<std::int32_t> in, next;
    for (std::int64_t row = 0; row < o.batch; ++row) {
        const std::uint64_t start = random() % symbols, step = 1 + random() % (symbols - 1);
        for (std::int64_t i = 0; i < o.length; ++i) {
            const auto at = static_cast<std::uint64_t>(i);
            in.push_back(static_cast<std::int32_t>((start + step * at) % symbols));
            next.push_back(static_cast<std::int32_t>((start + step * (at + 1)) % symbols));
        }
    }
    return {rp::from_vector(in, {o.batch, o.length}), rp::from_vector(next, {o.batch, o.length})};
}

class Training {
public:
    Training(const Options& o, bool checkpoints, std::optional<std::uint64_t> budget)
        : net_({.symbols = symbols, .longest = o.length, .features = o.features, .layers = o.layers})
    {
        if (checkpoints)
            for (std::size_t i = 0; i < net_.blocks.size(); ++i)
                nn::checkpoint_module(net_.blocks.at(i), "block");
        const rp::Shape shape{o.batch, o.length};
        program = rp::record(
            [&](rp::Tensor x, rp::Tensor y) {
                const rp::Tensor loss = rp::cross_entropy(net_(x).reshape({-1, symbols}), y.reshape({-1}));
                optimizer_.zero_grad();
                loss.backward();
                optimizer_.step();
                return loss.detach();
            },
            {rp::spec(shape, rp::i32), rp::spec(shape, rp::i32)}, {.memory_budget = budget});
    }
    std::int64_t parameters() const
    {
        std::int64_t n = 0;
        for (const rp::Variable& p : net_.parameters()) n += p.numel().value();
        return n;
    }
    Step held() const { return {program.memory({}), program.memory_by_launch({})}; }

    rp::Program program;

private:
    gpt::Gpt net_;
    rp::optim::AdamW optimizer_{net_.parameters(), {.lr = 1e-3}};
};

} // namespace

History train(const Options& o, const Reporter& reporter)
{
    History h;
    const auto bytes = static_cast<std::uint64_t>(o.budget * 1024 * 1024);
    h.without = Training(o, false, std::nullopt).held();
    h.checkpoints = Training(o, true, std::nullopt).held();
    rp::manual_seed(o.seed);
    const Training within(o, false, bytes);
    h.within = within.held();
    h.parameters = within.parameters();
    reporter.recorded(h);

    std::mt19937_64 random(o.seed);
    const Clock::time_point start = Clock::now();
    double smoothed = 0;
    while (static_cast<std::int64_t>(h.loss.size()) < o.steps) {
        if (reporter.stop()) {
            h.interrupted = true;
            break;
        }
        const Batch b = sequences(o, random);
        h.loss.push_back(within.program(b.input, b.target).item<float>());
        h.train_seconds = std::chrono::duration<double>(Clock::now() - start).count();
        smoothed = h.loss.size() == 1 ? h.loss[0] : 0.9 * smoothed + 0.1 * h.loss.back();
        const auto done = static_cast<double>(h.loss.size());
        reporter.step({.step = static_cast<std::int64_t>(h.loss.size()),
                       .steps = o.steps,
                       .loss = smoothed,
                       .more = {},
                       .rate = done * static_cast<double>(o.batch) / h.train_seconds,
                       .unit = "sequences",
                       .seconds_left = h.train_seconds / done * (static_cast<double>(o.steps) - done)});
    }
    return h;
}

} // namespace deep_gpt
