// A workload: what torch_bench.py measures under the same name.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <reprise/reprise.hpp>

namespace bench {

// What is timed: a program and its inputs.  A call may return before the device is done.
struct Run {
    reprise::Program program;
    std::vector<reprise::Tensor> inputs;
    std::shared_ptr<void> kept{}; // what the program's state belongs to
    void operator()() const { program.call(inputs); }
};

// Steps at sizes in turn.
struct Cycle {
    double record_seconds = 0;
    std::vector<std::int64_t> lengths;
    std::vector<std::function<void()>> steps; // one a length
};

struct Workload {
    std::string name;
    double flops = 0; // of one run
    double bytes = 0; // each operand read once and each result written once
    std::function<Run()> make = nullptr;
    std::function<Cycle()> cycle = nullptr; // instead
};

// A training step to be recorded with a size left open.
struct OpenStep {
    std::string name;
    std::function<reprise::TracedFunction()> make; // of a new network
    std::function<std::vector<reprise::Spec>(const reprise::Dim&)> specs;
    std::int64_t least, most; // sizes to call it with
};
std::vector<reprise::Tensor> data(const std::vector<reprise::Spec>&); // of fixed sizes: computed

// A workload that measures itself.
using Figures = std::vector<std::pair<std::string, double>>;
struct Report {
    std::string name;
    std::function<Figures(const reprise::Device&, bool quick)> measure;
};

std::vector<Workload> op_workloads();
std::vector<Workload> training_workloads();
std::vector<OpenStep> open_training_steps();
std::vector<Workload> gpt_workloads();
OpenStep open_gpt_step();
OpenStep gpt8_step(); // any number of rows
std::vector<Report> call_reports();
std::vector<Report> eager_reports();
double thread_seconds(); // CPU time of this thread
std::vector<Report> fusion_reports();
std::vector<Report> checkpoint_reports();
std::vector<Report> budget_reports();

inline reprise::RecordOptions recording; // what all workloads are recorded with

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

// The function recorded for the inputs' shapes, called with them again and again.
template <class F> Run replayed(F f, std::vector<reprise::Tensor> inputs)
{
    return {reprise::record(std::move(f), specs_of(inputs), recording), inputs};
}

} // namespace bench
