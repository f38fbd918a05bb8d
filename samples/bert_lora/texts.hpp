// Texts by topic, as sequences of tokens.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

#include "../common/wordpiece.hpp"

namespace bert_lora {

// Texts by the name of their topic.
using Texts = std::map<std::string, std::vector<std::string>>;

// Reads a folder with a file for each topic, in the format of fortune: lines of "%" separate the texts.  Files with an
// extension other than .txt are left out.  Throws Error(file) where the folder or a file can't be read, and
// Error(argument) where it has no texts.
Texts read_texts(const std::filesystem::path& folder);
// Moves these topics out of `texts`.  Throws Error(argument) for one that is not there; the error lists those that are.
Texts take(Texts& texts, const std::vector<std::string>& topics);

struct Example {
    std::vector<std::int32_t> tokens;
    std::int32_t topic = 0;
    const std::string* text = nullptr;
};
inline constexpr std::size_t texts_needed = 5; // of each topic: every fifth is for the test
struct Examples {
    std::vector<std::string> topics;
    std::vector<Example> train, test;
};
// The texts must exist as long as the result.  Throws Error(argument) for fewer than two topics, and
// for a topic of fewer than five texts.
Examples encode(const Texts&, const WordPiece&, std::int64_t longest);

struct Batch {
    reprise::Tensor tokens, topics; // i32 [texts, longest text], padded with bert::padding; i32 [texts]
};
Batch make_batch(const std::vector<Example>&, const std::vector<std::size_t>& numbers);
std::vector<std::vector<std::size_t>> batches_of(const std::vector<Example>&, std::int64_t batch,
                                                 std::uint64_t seed);

} // namespace bert_lora
