// A workload: what torch_bench.py measures under the same name.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
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

std::vector<Workload> op_workloads();
std::vector<Workload> training_workloads();
std::vector<Workload> gpt_workloads();

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
