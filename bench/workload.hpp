// A workload: what torch_bench.py measures under the same name.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

namespace bench {

struct Workload {
    std::string name;
    double flops = 0; // of one run
    double bytes = 0; // each operand read once and each result written once
    // Prepares and gives what is timed: one call, which may return before the device is done.
    std::function<std::function<void()>()> make;
};

std::vector<Workload> op_workloads();
std::vector<Workload> training_workloads();

inline reprise::RecordOptions recording; // what all workloads are recorded with

inline reprise::Tensor normal(const reprise::Shape& s) { return reprise::randn(s); }

// The function recorded for the inputs' shapes, called with them again and again.
template <class F> std::function<void()> replayed(F f, std::vector<reprise::Tensor> inputs)
{
    std::vector<reprise::Spec> specs;
    for (const reprise::Tensor& t : inputs) {
        t.eval();
        specs.push_back(reprise::spec(t.shape(), t.dtype()));
    }
    reprise::Program p = reprise::record(std::move(f), specs, recording);
    return [p, inputs] { p.call(inputs); };
}

} // namespace bench
