// Measures what a call of a program costs the calling thread, and compares a size's first call with later ones.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <random>
#include <tuple>

#include "pairs.hpp"
#include "workload.hpp"

namespace bench {

namespace rp = reprise;
using rp::Tensor;

namespace {

using Clock = std::chrono::steady_clock;

double wall(Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); }

Tensor filled(const rp::Spec& spec)
{
    if (spec.dtype != rp::i32) return normal(spec.shape);
    std::int64_t count = 1;
    for (const rp::Dim& d : spec.shape) count *= d.value();
    std::vector<std::int32_t> v(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<std::int32_t>(i * 7 % 10);
    return rp::from_vector(v, spec.shape);
}

class CallCost {
public:
    CallCost(const OpenStep& step, const rp::Device& device, bool quick)
        : step_(step), device_(device), rounds_(quick ? 2 : 6), function_(step.make())
    {
        const auto start = Clock::now();
        program_ = rp::record_function(function_, step.specs(rp::symbol("n")), recording);
        device_.synchronize();
        record_ = wall(start);
        for (std::int64_t n = step.min_size; n <= step.max_size; ++n) inputs_.push_back(data(step.specs(n)));
        device_.synchronize();
    }

    Measurements measure()
    {
        call(inputs_.back()); // grows the arena to its largest size
        std::vector<std::size_t> order(inputs_.size() - 1);
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), std::mt19937(1));
        for (std::size_t i :
             order) { // later calls follow directly, so that both run under the same load of the machine
            first(i);
            for (int round = 0; round < rounds_; ++round) later(i);
        }

        std::vector<double> seen, added, ratios;
        for (std::size_t i : order) {
            const double cost = median(cost_[i]);
            seen.push_back(cost);
            added.push_back(first_cost_[i] - cost);
            ratios.push_back(first_time_[i] / median(time_[i]));
        }
        const auto launches = static_cast<double>(program_.launches());
        const Pairs steady = against_eager();
        return {{"launches", launches},
                {"record_s", record_},
                {"seen_us", median(seen) * 1e6},
                {"seen_most_us", *std::max_element(seen.begin(), seen.end()) * 1e6},
                {"allowed_us", 30 + 0.25 * launches},
                {"unseen_adds_us", median(added) * 1e6},
                {"unseen_adds_most_us", *std::max_element(added.begin(), added.end()) * 1e6},
                {"first_over_later", median(ratios)},
                {"first_over_later_most", *std::max_element(ratios.begin(), ratios.end())},
                {"replay_ms", steady.a * 1e3},
                {"eager_ms", steady.b * 1e3},
                {"replay_over_eager", steady.ratio},
                {"in_flight_ms", each(Read::none) * 1e3},
                {"read_last_ms", each(Read::last) * 1e3},
                {"read_own_ms", each(Read::own) * 1e3}};
    }

private:
    // Returns the CPU time of this thread, and the time until the device has finished, in seconds.
    std::pair<double, double> call(const std::vector<Tensor>& in)
    {
        const auto start = Clock::now();
        const double before = thread_seconds();
        const std::vector<Tensor> out = program_.call(in);
        const double cost = thread_seconds() - before;
        device_.synchronize();
        return {cost, wall(start)};
    }
    void first(std::size_t i) { std::tie(first_cost_[i], first_time_[i]) = call(inputs_[i]); }
    void later(std::size_t i)
    {
        const auto [cost, time] = call(inputs_[i]);
        cost_[i].push_back(cost);
        time_[i].push_back(time);
    }
    enum class Read { none, last, own }; // after each call: no loss, the previous call's loss, or its own
    double each(Read read)
    {
        const int calls = 8 * rounds_;
        Tensor before;
        const auto start = Clock::now();
        for (int i = 0; i < calls; ++i) {
            const Tensor loss = program_.call(inputs_.back()).at(0);
            if (read == Read::own) loss.to_vector<float>();
            else if (read == Read::last && before.defined()) before.to_vector<float>();
            before = loss;
        }
        device_.synchronize();
        return wall(start) / calls;
    }
    // Compares a call with the same function in eager code, at the largest size.
    Pairs against_eager()
    {
        const auto replayed = [this] { call(inputs_.back()); };
        const auto eager = [this] {
            function_(inputs_.back())[0].eval();
            device_.synchronize();
        };
        return in_turn(replayed, device_.name() == "null" ? std::function<void()>(replayed) : eager,
                       rounds_ * 2);
    }

    OpenStep step_;
    rp::Device device_;
    int rounds_;
    rp::TracedFunction function_;
    rp::Program program_;
    double record_ = 0;
    std::vector<std::vector<Tensor>> inputs_;
    std::map<std::size_t, double> first_cost_, first_time_;
    std::map<std::size_t, std::vector<double>> cost_, time_;
};

// A function of `length` matrix products, for about as many launches.
OpenStep chain(int length)
{
    return {"chain" + std::to_string(length),
            [length] {
                const Tensor w = normal({8, 8});
                w.eval();
                return rp::TracedFunction([w, length](const std::vector<Tensor>& in) {
                    Tensor x = in[0];
                    for (int i = 0; i < length; ++i) x = rp::matmul(x, w);
                    return std::vector<Tensor>{x};
                });
            },
            [](const rp::Dim& n) {
                return std::vector<rp::Spec>{rp::spec({n, 8})};
            },
            1, 21};
}

} // namespace

double thread_seconds()
{
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::vector<Tensor> data(const std::vector<rp::Spec>& specs)
{
    std::vector<Tensor> out;
    for (const rp::Spec& s : specs) {
        out.push_back(filled(s));
        out.back().eval();
    }
    return out;
}

std::vector<Report> call_reports()
{
    std::vector<OpenStep> steps = open_training_steps();
    steps.push_back(open_gpt_step());
    steps.push_back(chain(16));
    steps.push_back(chain(512));
    std::vector<Report> out;
    for (const OpenStep& s : steps)
        out.push_back({"call_cost_" + s.name, [s](const rp::Device& device, bool quick) {
                           return CallCost(s, device, quick).measure();
                       }});
    return out;
}

} // namespace bench
