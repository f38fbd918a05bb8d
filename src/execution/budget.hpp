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
    std::uint64_t bytes = 0;               // of an arena and outputs
    std::vector<shape::SymbolPtr> sizes{}; // that a call gives; none: all sizes are numbers
    const char* caller = "";               // whom errors name
    // Refuses what it is called with before anything is searched.
    std::function<void(const Executable&)> check = nullptr;
};

// At most four, whose drop-sets (plan/drop.hpp) contain those of the ones before: for a call, the first that fits at its
// sizes is the one of least added time.  One where all sizes are numbers.  Throws Error(out_of_memory), with the least
// that was found, where nothing fits at the smallest sizes.
std::vector<std::unique_ptr<Executable>> within_budget(const plan::Request&, const Budget&,
                                                       std::shared_ptr<device::Device>, Executable::Purpose);

} // namespace reprise::execution
