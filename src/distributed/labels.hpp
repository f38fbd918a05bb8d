// The errors of exchanges, which name the rank that is at fault.
#pragma once
#include <chrono>
#include <cstddef>
#include <vector>

#include <reprise/distributed/world.hpp>

namespace reprise::distributed {

// Throws Error(distributed) unless both labels are the same; `theirs` is that of the other rank, `rank`.
void require_same(const Transport::Label& ours, const Transport::Label& theirs, int rank);
[[noreturn]] void fail_sizes(const Transport::Label&, int rank, std::size_t sent, std::size_t expected);
[[noreturn]] void fail_gone(const Transport::Label&, int rank);
[[noreturn]] void fail_late(const Transport::Label&, const std::vector<int>& ranks,
                            std::chrono::milliseconds);
[[noreturn]] void fail_again(); // after an exchange that has failed

} // namespace reprise::distributed
