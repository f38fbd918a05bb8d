// Notes which lanes access memory, to find lanes that access the same word at the same time, one of which writes it.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace reprise::simulator {

// What a lane conflicts with.
struct Conflict {
    std::uint32_t lane;
    bool written; // by the other lane
};

// Memory of a workgroup: conflicts are within an interval between two barriers.
class SharedRaces {
public:
    SharedRaces(std::uint32_t bytes, std::uint32_t unit) : unit_(unit), words_((bytes + unit - 1) / unit) {}
    void begin_group() { first_interval_ = ++interval_; }
    void pass_barrier() { ++interval_; }
    std::optional<Conflict> write(std::uint32_t lane, std::uint32_t offset, std::uint32_t bytes);
    std::optional<Conflict> read(std::uint32_t lane, std::uint32_t offset, std::uint32_t bytes);
    bool is_written(std::uint32_t offset, std::uint32_t bytes) const; // since begin_group()

private:
    static constexpr std::uint32_t several = 0xFFFF;
    struct Word {
        std::uint32_t written = 0, read = 0; // intervals
        std::uint16_t writer = 0, reader = 0;
    };
    std::uint32_t unit_, interval_ = 0, first_interval_ = 0;
    std::vector<Word> words_;
};

// Memory of the device: conflicts are within a launch, whose workgroups run in any order.
class GlobalRaces {
public:
    // Lanes are numbered through all workgroups, from 1; 0: none.
    struct Word {
        std::uint32_t writer = 0, reader = 0;
    };
    static constexpr std::uint32_t several = ~0U;
    using Words = std::vector<Word>;
    static std::optional<Conflict> write(Word* first, Word* last, std::uint32_t lane);
    static std::optional<Conflict> read(Word* first, Word* last, std::uint32_t lane);
    static bool wrote(const Word* first, const Word* last, std::uint32_t lane); // all words
};

} // namespace reprise::simulator
