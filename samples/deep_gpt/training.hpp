// A step of training, recorded without and with a memory budget.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include <reprise/reprise.hpp>

#include "../common/progress.hpp"
#include "options.hpp"

namespace deep_gpt {

namespace rp = reprise;
namespace nn = reprise::nn;

// What a step holds.
struct Step {
    rp::CallMemory memory;
    std::vector<std::uint64_t> by_launch; // bytes
};
struct History {
    std::int64_t parameters = 0;
    Step without, checkpoints, within; // of the budget
    std::vector<double> loss;
    double train_seconds = 0;
    bool interrupted = false;
};

struct Reporter {
    std::function<void(const History&)> recorded;
    std::function<void(const Progress&)> step;
    std::function<bool()> stop;
};
// Throws Error(out_of_memory) where no plan fits the budget.
History train(const Options&, const Reporter&);

} // namespace deep_gpt
