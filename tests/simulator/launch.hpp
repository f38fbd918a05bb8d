// A launch of a kernel, with the memory that it may access.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "counts.hpp"
#include "device/device.hpp"
#include "program.hpp"
#include "races.hpp"

namespace reprise::simulator {

struct Options {
    std::uint32_t subgroup_size = 32;
    bool reverses = false;    // the last workgroup of a launch, and the last launch of an epoch, run first
    bool checks_races = true; // between workgroups; within one they are always checked
    bool counts = false;      // accesses and idle lanes
    std::uint32_t sampled_groups = 0; // of each launch at most this number is run; 0: all
};

// The highest 16 bits of an address that a kernel gets name the operand, so that each access is checked against the
// operand that the address was computed from: 1 is the first operand, and the record has the number after the last one.
constexpr unsigned operand_shift = 48;
constexpr std::uint64_t tagged(device::Address a, std::size_t operand)
{
    return a == 0 ? 0 : a | static_cast<std::uint64_t>(operand + 1) << operand_shift;
}
constexpr device::Address untagged(std::uint64_t a) { return a & ((std::uint64_t{1} << operand_shift) - 1); }

// Kernels load whole words, and may access the padding to 16 bytes.
struct Region {
    device::Address begin = 0; // at a multiple of 4
    std::uint64_t bytes = 0;   // up to a multiple of 16
    std::uint64_t before = 0;  // bytes before the operand in its first word, which are only read
    bool reads = true, writes = false;
    GlobalRaces::Words* races = nullptr; // null: nothing is written here
    std::uint64_t races_offset = 0;      // bytes of memory before this region that `races` covers
};

class Launch {
public:
    // `record` has tagged addresses.
    Launch(Program&, std::span<const device::Access>, std::span<const device::Operand>,
           std::span<const std::byte> record, std::uint64_t groups, const Options&, KernelCounts*);
    void run();

    Program& program() const { return program_; }
    const Options& options() const { return options_; }
    KernelCounts* counts() const { return counts_; }
    std::uint64_t record_address() const { return tagged(regions_.back().begin, regions_.size() - 2); }
    std::size_t record_number() const { return regions_.size() - 1; }
    // The region of the number in an address; null if there is none.
    Region* region(std::uint64_t address)
    {
        const std::uint64_t number = address >> operand_shift;
        return number == 0 || number >= regions_.size() ? nullptr : &regions_[number];
    }
    std::uint32_t width() const { return width_; }
    std::uint32_t height() const { return height_; }
    // A text such as "operand 2 (64 bytes)".
    std::string describe(const Region&) const;

private:
    void find_races();

    Program& program_;
    Options options_;
    KernelCounts* counts_;
    std::vector<Region> regions_; // the first one is not used
    std::vector<std::unique_ptr<GlobalRaces::Words>> races_;
    std::uint64_t groups_;
    std::uint32_t width_ = 0, height_ = 0; // workgroups
};

} // namespace reprise::simulator
