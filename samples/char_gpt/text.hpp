// Tokenizes the lines of a text by character, and builds batches of them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

namespace char_gpt {

// Token 0 marks both the beginning and the end of a line. The other tokens are the characters, ordered by their codes.
class Text {
public:
    // Skips empty lines. Throws Error(argument) if no line is left.
    explicit Text(const std::string& content);
    static Text read(const std::filesystem::path&);

    const std::vector<std::vector<std::int32_t>>& lines() const { return lines_; } // without token 0
    std::int64_t characters() const { return static_cast<std::int64_t>(alphabet_.size()); }
    std::int64_t longest() const; // length of the longest line, including its end
    std::string text(const std::vector<std::int32_t>&) const;

private:
    std::string alphabet_; // characters by token
    std::vector<std::vector<std::int32_t>> lines_;
};

struct Batch {
    reprise::Tensor input, target,
        counts;              // [lines, longest line]; counts: 1 inside a line, 0 in its padding
    std::int64_t characters; // of all ranks' lines
};

// Puts lines of similar length into one batch, and shuffles the batches. The last lines may form a smaller batch.
std::vector<std::vector<std::size_t>> batches_of(const Text&, std::int64_t batch, std::uint64_t seed);
// Makes the part of a rank: its lines, padded to the longest line of all ranks.  One without lines gets a line that
// does not count.
Batch make_batch(const Text&, const std::vector<std::size_t>& lines, int rank = 0, int ranks = 1);

} // namespace char_gpt
