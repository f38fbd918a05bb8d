// reprise_bench: prints one JSON line per workload, with the same names as torch_bench.py.  In
// reprise_bench_mpi, under mpirun, the training steps are data parallel, each rank computes its part of the batch, and
// rank 0 prints.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include <CLI/CLI.hpp>

#include "echo.hpp"
#include "pairs.hpp"
#include "profile.hpp"
#include "workload.hpp"

#ifdef REPRISE_BENCH_HAS_MPI
#include <reprise/distributed/mpi.hpp>
#endif

namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); }

reprise::distributed::World launched; // the processes that mpirun has started
reprise::distributed::World echoes;   // of as many ranks, with --echo

// Returns what rank 0 says: all ranks make the same number of runs, and begin them together.
bool agreed(bool own)
{
    if (launched.size() == 1) return own;
    return reprise::distributed::broadcast(reprise::full({1}, own ? 1 : 0), launched).item<float>() > 0;
}

struct Timing {
    double median = 0, min = 0, first = 0;
    std::vector<double> runs{};                           // in the order in which they ran
    std::vector<double> echo_runs{};                      // each after one of the above, with --echo
    double exchanges = 0, bytes_sent = 0, exchanging = 0; // of each run: counts, and the seconds of exchanges
};

Timing measure(const bench::Workload& w, const reprise::Device& device, bool quick)
{
    const double budget = quick ? 0.3 : 1.5, warm = quick ? 0.1 : 0.3;
    const std::size_t min_runs = quick ? 5 : 9, max_runs = 400;
    Timing t;
    Clock::time_point start = Clock::now();
    const bench::Run run = w.make();
    run();
    device.synchronize();
    t.first = seconds(start);
    std::optional<bench::Run> echo;
    if (launched.size() > 1 && echoes.size() > 1) {
        bench::world = echoes;
        echo = w.make();
        bench::world = launched;
        (*echo)();
    }
    start = Clock::now();
    do { // a GPU lowers its clock while the host compiles, and needs a while to raise it
        run();
        device.synchronize();
    } while (agreed(seconds(start) < warm));
    std::vector<double>& times = t.runs;
    start = Clock::now();
    const auto goes_on = [&] {
        if (seconds(start) > 60 && times.size() >= 5) return false;
        return times.size() < min_runs || (seconds(start) < budget && times.size() < max_runs);
    };
    while (agreed(goes_on())) {
        const auto before = bench::world.traffic();
        const Clock::time_point one = Clock::now();
        run();
        device.synchronize();
        times.push_back(seconds(one));
        const auto after = bench::world.traffic();
        t.exchanges += static_cast<double>(after.exchanges - before.exchanges);
        t.bytes_sent += static_cast<double>(after.bytes_sent - before.bytes_sent);
        t.exchanging += after.seconds - before.seconds;
        if (!echo || !agreed(true)) continue;
        const Clock::time_point two = Clock::now();
        (*echo)();
        device.synchronize();
        t.echo_runs.push_back(seconds(two));
    }
    const auto count = static_cast<double>(times.size());
    for (double* sum : {&t.exchanges, &t.bytes_sent, &t.exchanging}) *sum /= count;
    t.median = bench::median(times);
    t.min = *std::min_element(times.begin(), times.end());
    return t;
}

// The time of each step of the first cycle, of the whole second cycle, and of the mean step of each later cycle.
struct CycleTiming {
    double record = 0, second = 0;
    std::vector<std::int64_t> lengths;
    std::vector<double> first, steps;
};

CycleTiming measure_cycle(const bench::Workload& w, const reprise::Device& device, bool quick)
{
    const bench::Cycle cycle = w.cycle();
    CycleTiming t{.record = cycle.record_seconds, .lengths = cycle.lengths};
    device.synchronize();
    for (const auto& step : cycle.steps) {
        const Clock::time_point start = Clock::now();
        step();
        device.synchronize();
        t.first.push_back(seconds(start));
    }
    const auto whole = [&] {
        const Clock::time_point start = Clock::now();
        for (const auto& step : cycle.steps) step();
        device.synchronize();
        return seconds(start);
    };
    t.second = whole();
    for (int i = 0; i < (quick ? 5 : 9); ++i)
        t.steps.push_back(whole() / static_cast<double>(cycle.steps.size()));
    std::sort(t.steps.begin(), t.steps.end());
    return t;
}

void print_cycle(const bench::Workload& w, const CycleTiming& t, const std::string& device, bool json)
{
    double total = 0;
    for (const double s : t.first) total += s;
    const double median = t.steps[t.steps.size() / 2];
    if (!json) {
        std::printf("%-32s %10.3f ms  recorded in %.3f s, first cycle %.3f s, second %.3f s\n",
                    w.name.c_str(), median * 1e3, t.record, total, t.second);
    } else {
        std::ostringstream first, lengths;
        for (std::size_t i = 0; i < t.first.size(); ++i) {
            first << (i ? ", " : "") << t.first[i];
            lengths << (i ? ", " : "") << t.lengths[i];
        }
        std::printf("{\"name\": \"%s\", \"mode\": \"replay\", \"ms\": %.4g, \"min_ms\": %.4g, "
                    "\"record_s\": %.4g, \"first_cycle_s\": [%s], \"first_cycle_total_s\": %.4g, "
                    "\"second_cycle_s\": %.4g, \"lens\": [%s], \"device\": \"%s\"}\n",
                    w.name.c_str(), median * 1e3, t.steps.front() * 1e3, t.record, first.str().c_str(), total,
                    t.second, lengths.str().c_str(), device.c_str());
    }
    std::fflush(stdout);
}

void print(const bench::Workload& w, const Timing& t, const std::string& device, bool json, bool all_times)
{
    const double flops =
        bench::parts == launched.size() ? w.flops : 0; // those of the whole batch, of all processes
    if (!json) {
        std::printf("%-32s %10.3f ms", w.name.c_str(), t.median * 1e3);
        if (flops > 0) std::printf("  %8.2f GFLOP/s", flops / t.median / 1e9);
        if (w.bytes > 0) std::printf("  %8.2f GB/s", w.bytes / t.median / 1e9);
        if (t.exchanges > 0)
            std::printf("  %g exchanges of %.3f ms together, %.3f MB sent", t.exchanges, t.exchanging * 1e3,
                        t.bytes_sent / 1e6);
        std::printf("\n");
    } else {
        std::printf("{\"name\": \"%s\", \"mode\": \"replay\", \"ms\": %.4g, \"min_ms\": %.4g, \"iters\": "
                    "%zu, \"first_s\": %.4g",
                    w.name.c_str(), t.median * 1e3, t.min * 1e3, t.runs.size(), t.first);
        if (all_times) {
            for (const auto& [name, runs] :
                 {std::pair("times_ms", &t.runs), {"echo_times_ms", &t.echo_runs}}) {
                std::printf(", \"%s\": [", name);
                for (std::size_t i = 0; i < runs->size(); ++i)
                    std::printf(i ? ", %.4g" : "%.4g", (*runs)[i] * 1e3);
                std::printf("]");
            }
        }
        if (t.exchanges > 0)
            std::printf(", \"exchanges\": %.4g, \"bytes_sent\": %.6g, \"exchanges_ms\": %.4g", t.exchanges,
                        t.bytes_sent, t.exchanging * 1e3);
        if (flops > 0) std::printf(", \"gflops\": %.4g", flops / t.median / 1e9);
        if (w.bytes > 0) std::printf(", \"gbps\": %.4g", w.bytes / t.median / 1e9);
        std::printf(", \"device\": \"%s\"}\n", device.c_str());
    }
    std::fflush(stdout);
}

void print(const std::string& name, const bench::Measurements& measurements, const std::string& device,
           bool json)
{
    std::printf(json ? "{\"name\": \"%s\"" : "%s", name.c_str());
    for (const auto& [figure, value] : measurements)
        std::printf(json ? ", \"%s\": %.4g" : "\n    %-28s %10.4g", figure.c_str(), value);
    if (json) std::printf(", \"device\": \"%s\"}", device.c_str());
    std::printf("\n");
    std::fflush(stdout);
}

// Lets the processes that mpirun has started share each batch.
void join_world(std::int64_t parts, bool echo)
{
#ifdef REPRISE_BENCH_HAS_MPI
    launched = reprise::distributed::mpi_world();
#endif
    bench::parts = launched.size() > 1 ? launched.size() : parts;
    if (echo)
        echoes = reprise::distributed::World(std::make_shared<bench::Echo>(static_cast<int>(bench::parts)));
    bench::world = launched.size() > 1 ? launched : echoes;
}

bool chosen(const std::string& name, const std::vector<std::string>& only, bool exact)
{
    return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& o) {
               return exact ? name == o : name.find(o) != std::string::npos;
           });
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app{
        "Times Reprise's ops and training steps.  bench/torch_bench.py times the same names in PyTorch."};
    std::vector<std::string> only;
    std::string device_name, profile, plan, timeline;
    std::int64_t parts = 1;
    bool json = false, echo = false, exact = false, quick = false, list = false, all_times = false;
    app.add_option("--only", only, "Names, or parts of names")->delimiter(',');
    app.add_option("--device", device_name, "A name that `reprise devices` lists");
    app.add_option("--profile", profile, "Print what each launch of this workload takes");
    app.add_option("--plan", plan, "Print the plan of this workload, with flops and bytes of each launch");
    app.add_option("--timeline", timeline, "Draw a step with delayed exchanges (SVG)");
    app.add_option("--parts", parts,
                   "Compute one of N parts of each training step's batch; under mpirun N is the "
                   "number of processes")
        ->check(CLI::PositiveNumber);
    app.add_flag(
        "--echo", echo,
        "Exchange with ranks that take no time and give back what was sent; under mpirun each run of a "
        "training step is followed by such a one, and all processes print");
    app.add_flag("--json", json, "One JSON line for each workload");
    app.add_flag("--all-times", all_times,
                 "With --json: the times of all runs, and with --echo those of the others");
    app.add_flag("--exact", exact, "Take --only as whole names");
    app.add_flag("--quick", quick, "Fewer runs");
    app.add_flag("!--no-fuse", bench::recording.fuse, "Record without the fuser");
    app.add_flag("--list", list, "Print the names");
    CLI11_PARSE(app, argc, argv);

    std::vector<bench::Workload> all = bench::op_workloads();
    for (bench::Workload& w : bench::training_workloads()) all.push_back(std::move(w));
    for (bench::Workload& w : bench::gpt_workloads()) all.push_back(std::move(w));
    for (bench::Workload& w : bench::minilm_workloads()) all.push_back(std::move(w));
    std::vector<bench::Report> reports = bench::call_reports();
    for (bench::Report& r : bench::eager_reports()) reports.push_back(std::move(r));
    for (bench::Report& r : bench::fusion_reports()) reports.push_back(std::move(r));
    for (bench::Report& r : bench::checkpoint_reports()) reports.push_back(std::move(r));
    for (bench::Report& r : bench::budget_reports()) reports.push_back(std::move(r));
    for (bench::Report& r : bench::exchange_reports()) reports.push_back(std::move(r));
    try {
        if (list) {
            for (const bench::Workload& w : all) std::printf("%s\n", w.name.c_str());
            for (const bench::Report& r : reports) std::printf("%s\n", r.name.c_str());
            return 0;
        }
        join_world(parts, echo);
        for (bench::Report& r : bench::collective_reports()) reports.push_back(std::move(r));
        const reprise::Device device =
            device_name.empty() ? reprise::distributed::local_device(launched) : reprise::Device(device_name);
        reprise::set_default_device(device);
        if (!profile.empty()) return bench::print_profile(all, profile, device);
        if (!plan.empty()) return bench::print_plan(all, plan, device);
        if (!timeline.empty()) return bench::draw_exchanges(timeline, device), 0;
        const bool prints = launched.rank() == 0 || echo;
        for (const bench::Workload& w : all) {
            if (!chosen(w.name, only, exact)) continue;
            if (w.cycle) {
                const CycleTiming t = measure_cycle(w, device, quick);
                if (prints) print_cycle(w, t, device.description(), json);
            } else {
                const Timing t = measure(w, device, quick);
                if (prints) print(w, t, device.description(), json, all_times);
            }
        }
        if (echo) bench::world = echoes;
        for (const bench::Report& r : reports) {
            if (!chosen(r.name, only, exact)) continue;
            const bench::Measurements m = r.measure(device, quick);
            if (prints) print(r.name, m, device.description(), json);
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "reprise_bench: %s\n", e.what());
        return 1;
    }
    return 0;
}
