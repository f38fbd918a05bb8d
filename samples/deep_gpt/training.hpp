// Trains by a step that is recorded without and with a memory budget.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include <reprise/reprise.hpp>

#include "options.hpp"

namespace deep_gpt {

namespace rp = reprise;
namespace nn = reprise::nn;

// The memory of a step.
struct Step {
    rp::CallMemory memory;
    std::vector<std::uint64_t> by_launch; // bytes in use at each launch
};
struct History {
    std::int64_t parameters = 0;
    Step without, checkpoints, within; // without and within the budget
    std::vector<double> loss;
    double train_seconds = 0;
    bool interrupted = false;
};

struct Reporter {
    std::function<void(const History&)> recorded;
    std::function<void(const reprise::train::Progress&)> step;
    std::function<bool()> stop;
};
// Trains within the budget. Throws Error(out_of_memory) if no plan fits it.
History train(const Options&, const Reporter&);

} // namespace deep_gpt
