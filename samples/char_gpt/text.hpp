// Lines of a text as sequences of character numbers, and batches of them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

namespace char_gpt {

// Number 0 is the end of a line, which also begins it; the others are the characters in the order of their codes.
class Text {
public:
    // Empty lines are left out.  Error(argument) where nothing is left.
    explicit Text(const std::string& content);
    static Text read(const std::filesystem::path&);

    const std::vector<std::vector<std::int32_t>>& lines() const { return lines_; } // without ends
    std::int64_t characters() const { return static_cast<std::int64_t>(alphabet_.size()); }
    std::int64_t longest() const; // line with its end
    std::string text(const std::vector<std::int32_t>&) const;

private:
    std::string alphabet_; // by number
    std::vector<std::vector<std::int32_t>> lines_;
};

struct Batch {
    reprise::Tensor input, target,
        counts;              // [lines, longest of them]; counts: 1 inside of a line, 0 behind it
    std::int64_t characters; // that count
};

// Lines of like length stand together, batches come in any order; the last lines make a smaller batch.
std::vector<std::vector<std::size_t>> batches_of(const Text&, std::int64_t batch, std::uint64_t seed);
Batch make_batch(const Text&, const std::vector<std::size_t>& lines);

} // namespace char_gpt
