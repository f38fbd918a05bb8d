// Workloads: each corresponds to one of torch_bench.py with the same name.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>

namespace bench {

// A program and its inputs, to be timed.  A call may return before the device has finished.
struct Run {
    reprise::Program program;
    std::vector<reprise::Tensor> inputs;
    std::shared_ptr<void> owner{}; // of the program's state
    void operator()() const { program.call(inputs); }
};

// Steps that cycle through sizes.
struct Cycle {
    double record_seconds = 0;
    std::vector<std::int64_t> lengths;
    std::vector<std::function<void()>> steps; // one per length
};

struct Workload {
    std::string name;
    double flops = 0; // per run
    double bytes = 0; // if each operand is read once and each result written once
    std::function<Run()> make = nullptr;
    std::function<Cycle()> cycle = nullptr; // set instead of `make`
};

// A training step to be recorded with a symbolic size.
struct OpenStep {
    std::string name;
    std::function<reprise::TracedFunction()> make; // creates a new network
    std::function<std::vector<reprise::Spec>(const reprise::Dim&)> specs;
    std::int64_t min_size, max_size; // range of sizes to call it with
};
std::vector<reprise::Tensor> data(const std::vector<reprise::Spec>&); // evaluated tensors of constant sizes

// A workload that takes its own measurements.
using Measurements = std::vector<std::pair<std::string, double>>;
struct Report {
    std::string name;
    std::function<Measurements(const reprise::Device&, bool quick)> measure;
};

std::vector<Workload> op_workloads();
std::vector<Workload> training_workloads();
std::vector<OpenStep> open_training_steps();
std::vector<Workload> gpt_workloads();
std::vector<Workload> minilm_workloads();
OpenStep open_gpt_step();
OpenStep gpt8_step(); // with a symbolic number of rows
std::vector<Report> call_reports();
std::vector<Report> eager_reports();
double thread_seconds(); // CPU time of this thread
std::vector<Report> fusion_reports();
std::vector<Report> checkpoint_reports();
std::vector<Report> budget_reports();
std::vector<Report> exchange_reports();
std::vector<Report> collective_reports(); // of a world of several ranks
// Draws when the device computes and when exchanges happen in a step whose exchanges are delayed.
void draw_exchanges(const std::filesystem::path& svg, const reprise::Device&);

inline reprise::RecordOptions recording;  // options for recording all workloads
inline reprise::distributed::World world; // the ranks that share the batch of a training step
inline std::int64_t parts = 1;            // number of equal parts of a batch, of which a process computes one

// Returns the rows of this process's part of a batch.
inline std::int64_t part_of(std::int64_t rows)
{
    if (rows % parts != 0)
        throw std::invalid_argument("A batch of " + std::to_string(rows) + " rows has no " +
                                    std::to_string(parts) + " equal parts.");
    return rows / parts;
}

// Returns the learning rate of a step: 0 where ranks exchange, as the sums of an Echo are no gradients.
inline double learning_rate(double usual) { return world.size() > 1 ? 0 : usual; }

// Lets a backward pass exchange the gradients of the module, while the returned object exists.
template <class Net> std::shared_ptr<void> data_parallel(Net& net)
{
    return std::make_shared<reprise::nn::DistributedDataParallel<Net>>(
        net, world, reprise::nn::DistributedDataParallelOptions{.broadcast_buffers = false});
}

inline reprise::Tensor normal(const reprise::Shape& s) { return reprise::randn(s); }

inline std::vector<reprise::Spec> specs_of(const std::vector<reprise::Tensor>& inputs)
{
    std::vector<reprise::Spec> specs;
    for (const reprise::Tensor& t : inputs) {
        t.eval();
        specs.push_back(reprise::spec(t.shape(), t.dtype()));
    }
    return specs;
}

// Records the function for the inputs' shapes, to be called with them repeatedly.
template <class F> Run replayed(F f, std::vector<reprise::Tensor> inputs)
{
    return {reprise::record(std::move(f), specs_of(inputs), recording), inputs};
}

} // namespace bench
