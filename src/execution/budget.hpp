// Executables of one request that stay within a memory budget.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "execution/executable.hpp"
#include "shape/expression.hpp"

namespace reprise::execution {

struct Budget {
    std::uint64_t bytes = 0;               // of arena and outputs
    std::vector<shape::SymbolPtr> sizes{}; // the size symbols of a call; none: all sizes are constant
    const char* caller = "";               // the name in errors
    // Called with the executable without drops before the search; throws to refuse it.
    std::function<void(const Executable&)> check = nullptr;
};

// Returns at most four executables.  The drop set of each (plan/drop.hpp) contains that of the one before it, so that
// for a call, the first one that fits at its sizes has the least added time.  Returns one where all sizes are constant.
// Throws Error(out_of_memory), with the least memory that was found, where nothing fits at the smallest sizes.
std::vector<std::unique_ptr<Executable>> within_budget(const plan::Request&, const Budget&,
                                                       std::shared_ptr<device::Device>, Executable::Purpose);

} // namespace reprise::execution
