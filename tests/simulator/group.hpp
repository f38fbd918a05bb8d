// Runs a workgroup.  Each lane is in a block; the earliest block is run for the lanes that are in it.
#pragma once
#include <array>
#include <vector>

#include "counts.hpp"
#include "launch.hpp"
#include "program.hpp"
#include "races.hpp"

namespace reprise::simulator {

class Group {
public:
    explicit Group(Launch&);
    void run(std::uint32_t x, std::uint32_t y);

    // For steps.
    const Access& access(const Step& s) const { return program_.accesses[s.extra]; }
    void access_global(const Lanes&, const Step&);
    void access_shared(const Lanes&, const Step&);
    void access_lane(const Lanes&, const Step&);
    void pass_barrier(const Lanes&);
    [[noreturn]] void fail(std::uint32_t lane, const std::string& what) const;

private:
    static constexpr std::uint32_t done = ~0U;

    void set_inputs(bool all);
    void set_push_constants();
    void select_lanes();
    void end_block(const Block&);
    void go(const Block&, const Lanes&, std::uint32_t edge);
    void split(const Block&);
    std::byte* resolve(const Access&, std::uint64_t address, std::uint32_t lane);
    void move_parts(const Access&, const Lanes&);

    Launch& launch_;
    Program& program_;
    std::uint32_t x_ = 0, y_ = 0;
    Lanes lanes_;
    std::vector<std::uint32_t> at_;   // the block of each lane
    std::vector<std::uint16_t> list_; // of active lanes
    std::vector<std::uint16_t> part_; // of those that take an edge
    std::uint32_t current_ = 0, next_other_ = done;
    std::vector<std::byte*> places_; // in memory, of each active lane
    std::vector<std::uint64_t> addresses_;
    std::vector<std::byte> shared_;
    SharedRaces shared_races_;
};

} // namespace reprise::simulator
