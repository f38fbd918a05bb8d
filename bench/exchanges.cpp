// What exchanges cost: a training step of one of two ranks, whose exchanges each take a known time.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include <reprise/distributed.hpp>
#include <reprise/profiler.hpp>
#include <reprise/train.hpp>

#include "../samples/common/gpt.hpp"
#include "echo.hpp"
#include "pairs.hpp"
#include "workload.hpp"

namespace bench {

namespace rp = reprise;
using rp::Tensor;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t classes = 96, length = 128, batch = 16;

double seconds(Clock::time_point from, Clock::time_point to)
{
    return std::chrono::duration<double>(to - from).count();
}

struct Training {
    Training(const rp::distributed::World& world, std::int64_t bucket_bytes)
        : ddp(net, world, {.bucket_bytes = bucket_bytes, .first_bucket_bytes = bucket_bytes})
    {
        const rp::Dim rows = rp::symbol("rows");
        step = rp::record(
            [&](Tensor in, Tensor target) {
                const Tensor loss = rp::cross_entropy(ddp(in).reshape({-1, classes}), target.reshape({-1}));
                optimizer.zero_grad();
                loss.backward();
                optimizer.step();
                return loss;
            },
            {rp::spec({rows, length}, rp::i32), rp::spec({rows, length}, rp::i32)}, recording);
    }
    void operator()() const { step(x, y); }

    gpt::Gpt net{{.symbols = classes, .longest = length, .features = 128, .layers = 4}};
    rp::nn::DistributedDataParallel<gpt::Gpt> ddp;
    rp::optim::AdamW optimizer{net.parameters(), {.lr = 0}}; // the sums of Echo are no gradients
    rp::Program step{};
    Tensor x = rp::zeros({batch, length}, {.dtype = rp::i32}), y = x;
};

double call_cost(const Training& t, const rp::Device& device, bool quick)
{
    std::vector<double> costs;
    for (int i = 0; i < (quick ? 5 : 30); ++i) {
        const double before = thread_seconds();
        t();
        costs.push_back(thread_seconds() - before);
        device.synchronize();
    }
    return median(costs);
}

Measurements measure(const rp::Device& device, bool quick)
{
    const auto echo = std::make_shared<Echo>(2);
    Training alone(rp::distributed::World(), 256 << 10), two(rp::distributed::World(echo), 256 << 10);
    const auto wait = [&](const Training& t) {
        return [&] {
            t();
            device.synchronize();
        };
    };
    wait(alone)();
    wait(two)();
    echo->take();
    wait(two)();
    const auto exchanges = static_cast<double>(echo->take().size());
    const double buckets =
        (exchanges - 2) / 2; // a bucket is two exchanges, the share of the samples two more
    const double plain_cost = call_cost(alone, device, quick), cost = call_cost(two, device, quick);
    const Pairs undelayed = in_turn(wait(two), wait(alone), quick ? 3 : 11);
    const double all_delays = undelayed.a * 0.5;
    const auto delayed_step = [&] {
        echo->delay = std::chrono::microseconds(std::lround(all_delays * 1e6 / exchanges));
        wait(two)();
    };
    const auto undelayed_step = [&] {
        echo->delay = std::chrono::microseconds(0);
        wait(two)();
    };
    delayed_step();
    echo->take();
    delayed_step();
    double slept = 0; // longer than asked for
    for (const Echo::Interval& i : echo->take()) slept += seconds(i.begin, i.end);
    const Pairs delayed = in_turn(delayed_step, undelayed_step, quick ? 5 : 25);
    return {{"buckets", buckets},
            {"alone_ms", undelayed.b * 1e3},
            {"undelayed_ms", delayed.b * 1e3},
            {"delays_ms", slept * 1e3},
            {"delayed_ms", delayed.a * 1e3},
            {"hidden_share", 1 - (delayed.ratio - 1) * delayed.b / slept},
            {"call_us", cost * 1e6},
            {"call_of_bucket_us", (cost - plain_cost) * 1e6 / buckets}};
}

} // namespace

std::vector<Report> exchange_reports() { return {{"exchanges_gptmini", measure}}; }

void draw_exchanges(const std::filesystem::path& path, const rp::Device& device)
{
    const auto echo = std::make_shared<Echo>(2);
    Training training(rp::distributed::World(echo), 256 << 10);
    training();
    device.synchronize();
    echo->take();
    const Clock::time_point undelayed = Clock::now();
    training();
    device.synchronize();
    const double step = seconds(undelayed, Clock::now());
    echo->delay =
        std::chrono::microseconds(std::lround(step * 0.5e6 / static_cast<double>(echo->take().size())));
    rp::Profiler profiler;
    const Clock::time_point begin = Clock::now();
    training();
    device.synchronize();
    const Clock::time_point end = Clock::now();
    profiler.stop();
    rp::train::Series launches{.label = "the device computes"}, exchanges{.label = "exchanges of two ranks"};
    const auto add = [](rp::train::Series& s, double from, double to, double y) {
        constexpr double none = std::numeric_limits<double>::quiet_NaN();
        s.x.insert(s.x.end(), {from, to, none});
        s.y.insert(s.y.end(), {y, y, none});
    };
    for (const rp::ProfiledLaunch& l : profiler.launches())
        if (l.label.find("all_reduce") == std::string::npos) // the time of these is that of waiting
            add(launches, l.begin / 1e3, l.end / 1e3, 0);
    double together = 0;
    const std::vector<Echo::Interval> intervals = echo->take();
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        const double from = seconds(begin, intervals[i].begin), to = seconds(begin, intervals[i].end);
        add(exchanges, from * 1e3, to * 1e3, 1 + static_cast<double>(i / 2));
        together += to - from;
    }
    std::string title = "A step of " + std::to_string(std::lround(seconds(begin, end) * 1e3)) + " ms (" +
                        std::to_string(std::lround(step * 1e3)) + " without delays), exchanges of " +
                        std::to_string(std::lround(together * 1e3)) + " ms";
    rp::train::save_svg(path, {.title = std::move(title),
                               .panels = {{.title = device.description(),
                                           .x_label = "time (ms)",
                                           .y_label = "0: the device, 1: samples, others: buckets",
                                           .series = {launches, exchanges},
                                           .y_min = -1,
                                           .y_max = 1 + static_cast<double>(intervals.size() / 2)}}});
}

} // namespace bench
