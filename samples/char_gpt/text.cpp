#include "text.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include <reprise/path_text.hpp>

#include "../common/batches.hpp"

namespace char_gpt {

namespace rp = reprise;

Text::Text(const std::string& content)
{
    alphabet_ = content + "\n";
    std::erase(alphabet_, '\r');
    std::sort(alphabet_.begin(), alphabet_.end(),
              [](char a, char b) { return static_cast<unsigned char>(a) < static_cast<unsigned char>(b); });
    alphabet_.erase(std::unique(alphabet_.begin(), alphabet_.end()), alphabet_.end());
    std::erase(alphabet_, '\n');
    alphabet_.insert(alphabet_.begin(), '\n');
    std::vector<std::int32_t> number(256);
    for (std::size_t i = 0; i < alphabet_.size(); ++i)
        number[static_cast<unsigned char>(alphabet_[i])] = static_cast<std::int32_t>(i);
    std::istringstream stream(content);
    for (std::string line; std::getline(stream, line);) {
        std::erase(line, '\r');
        if (line.empty()) continue;
        lines_.emplace_back();
        for (const char c : line) lines_.back().push_back(number[static_cast<unsigned char>(c)]);
    }
    if (lines_.empty()) throw rp::Error(rp::ErrorKind::argument, "The text has no line to learn from.");
}

Text Text::read(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) throw rp::Error(rp::ErrorKind::file, "The text (" + rp::path_text(path) + ") can't be read.");
    return Text({std::istreambuf_iterator<char>(file), {}});
}

std::int64_t Text::longest() const
{
    std::size_t longest = 0;
    for (const auto& line : lines_) longest = std::max(longest, line.size());
    return static_cast<std::int64_t>(longest) + 1;
}

std::string Text::text(const std::vector<std::int32_t>& numbers) const
{
    std::string out;
    for (const std::int32_t n : numbers) out += alphabet_.at(static_cast<std::size_t>(n));
    return out;
}

std::vector<std::vector<std::size_t>> batches_of(const Text& text, std::int64_t batch, std::uint64_t seed)
{
    std::vector<std::size_t> lengths;
    for (const auto& line : text.lines()) lengths.push_back(line.size());
    return batches_by_length(lengths, batch, seed);
}

Batch make_batch(const Text& text, const std::vector<std::size_t>& lines, int rank, int ranks)
{
    std::size_t length = 0, total = 0;
    for (const std::size_t i : lines) {
        length = std::max(length, text.lines()[i].size() + 1);
        total += text.lines()[i].size() + 1;
    }
    const auto k = static_cast<std::size_t>(rank), n = static_cast<std::size_t>(ranks);
    const std::size_t begin = lines.size() * k / n, end = lines.size() * (k + 1) / n;
    const std::size_t rows = std::max<std::size_t>(end - begin, 1);
    std::vector<std::int32_t> input(rows * length), target(input.size());
    std::vector<float> counts(input.size());
    for (std::size_t row = 0; row < end - begin; ++row) {
        const auto& line = text.lines()[lines[begin + row]];
        for (std::size_t i = 0; i <= line.size(); ++i) {
            input[row * length + i] = i == 0 ? 0 : line[i - 1];
            target[row * length + i] = i == line.size() ? 0 : line[i];
            counts[row * length + i] = 1;
        }
    }
    const rp::Shape shape = {rows, length};
    return {rp::from_vector(input, shape), rp::from_vector(target, shape), rp::from_vector(counts, shape),
            static_cast<std::int64_t>(total)};
}

} // namespace char_gpt
