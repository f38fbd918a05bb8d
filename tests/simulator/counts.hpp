// Counts of what a kernel's accesses to memory cost on a GPU, and of lanes that do nothing.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "program.hpp"

namespace reprise::simulator {

// Sizes of subgroups for which is counted.
constexpr std::array<std::uint32_t, 2> counted_sizes{32, 64};
constexpr std::uint32_t sector_bytes = 32;

// An instruction that accesses memory of the device.
struct GlobalCount {
    std::array<std::uint64_t, counted_sizes.size()> sectors{}; // that subgroups touched
    std::array<std::uint64_t, counted_sizes.size()> least{};   // that the bytes fit in
    std::uint64_t operand = 0;                                 // the first one is 1
    std::uint32_t bytes = 0;                                   // that a lane accesses
    bool stores = false;
};

// An instruction that accesses memory of a workgroup, of 32 banks of 4 bytes.
struct SharedCount {
    std::uint64_t cycles = 0, least = 0;
    std::uint32_t variable = 0; // its first byte
    std::uint32_t bytes = 0;    // that a lane accesses
    bool stores = false;
};

struct IdleCount {
    std::array<std::uint64_t, counted_sizes.size()>
        lanes{};                                            // of subgroups with an active lane, for each step
    std::array<std::uint64_t, counted_sizes.size()> idle{}; // of these
};

class KernelCounts {
public:
    // One of each for every access of the program.
    explicit KernelCounts(std::size_t accesses) : global_(accesses), shared_(accesses) {}

    // With the addresses or offsets of the active lanes, in order.
    void count_global(std::size_t number, const Access&, std::uint64_t operand, const Lanes&,
                      const std::vector<std::uint64_t>& addresses);
    void count_shared(std::size_t number, const Access&, const Lanes&,
                      const std::vector<std::uint64_t>& offsets);
    void count_steps(std::size_t steps, const Lanes&);

    std::span<const GlobalCount> global() const { return global_; }
    std::span<const SharedCount> shared() const { return shared_; }
    const IdleCount& idle() const { return idle_; }

private:
    std::vector<GlobalCount> global_;
    std::vector<SharedCount> shared_;
    IdleCount idle_;
    std::vector<std::uint64_t> sorted_, words_;
};

} // namespace reprise::simulator
