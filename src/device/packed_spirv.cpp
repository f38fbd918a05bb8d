#include "device/packed_spirv.hpp"

#include <bit>
#include <zlib.h>

namespace reprise::device {

namespace {

using Words = std::vector<std::uint32_t>;

// Reads numbers; past the end they are 0, and `failed` is set.
class Reader {
public:
    explicit Reader(std::span<const std::uint8_t> text) : text_(text) {}

    bool at_end() const { return at_ == text_.size(); }
    bool failed() const { return failed_; }
    std::uint32_t number()
    {
        std::uint32_t value = 0;
        for (unsigned shift = 0; shift < 35; shift += 7) {
            if (at_end()) break;
            const std::uint8_t byte = text_[at_++];
            value |= std::uint32_t{byte & 127U} << shift;
            if (byte < 128) return value;
        }
        failed_ = true;
        return 0;
    }
    std::uint32_t signed_number()
    {
        const std::uint32_t n = number();
        return n % 2 == 0 ? n / 2 : ~(n / 2);
    }

private:
    std::span<const std::uint8_t> text_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

std::vector<std::uint8_t> inflated(const PackedSpirv& packed)
{
    std::vector<std::uint8_t> text(packed.inflated);
    uLongf size = packed.inflated;
    if (uncompress(text.data(), &size, packed.bytes, packed.size) != Z_OK || size != text.size()) return {};
    return text;
}

bool own_instructions(Reader& in, std::size_t end, Words& out)
{
    for (std::uint32_t left = in.number(); left > 0; --left) {
        const std::uint32_t first = in.number(), length = first >> 16;
        if (in.failed() || length == 0 || length > end - out.size()) return false;
        out.push_back(first);
        for (std::uint32_t i = 1; i < length; ++i) out.push_back(in.number());
    }
    return !in.failed();
}

struct Base {
    const Words& words;
    const Words& begins; // of instructions
    std::uint32_t next;  // first instruction after the last run
    SpirvRenaming renaming;
};

bool run_of_base(Reader& in, Base& base, std::size_t end, Words& out)
{
    const std::uint32_t count = in.number(), first = base.next + in.signed_number();
    std::uint32_t corrections = in.number(), right = corrections > 0 ? in.number() : 0;
    if (in.failed() || base.begins.empty() || first >= base.begins.size() ||
        count >= base.begins.size() - first)
        return false;
    base.next = first + count;
    if (base.begins[base.next] - base.begins[first] > end - out.size()) return false;
    for (std::uint32_t i = first; i < base.next; ++i) {
        out.push_back(base.words[base.begins[i]]);
        for (std::uint32_t at = base.begins[i] + 1; at < base.begins[i + 1]; ++at) {
            const std::uint32_t word = base.words[at];
            std::uint32_t actual = base.renaming.expected(word);
            if (corrections > 0 && right-- == 0) {
                actual += in.signed_number();
                right = --corrections > 0 ? in.number() : 0;
            }
            base.renaming.learn(word, actual);
            out.push_back(actual);
        }
    }
    return corrections == 0 && !in.failed();
}

} // namespace

std::uint32_t SpirvRenaming::expected(std::uint32_t word) const
{
    if (word >= moved_.size()) return word;
    std::size_t at = word / 64;
    std::uint64_t below = learned_[at] & ~std::uint64_t{0} >> (63 - word % 64);
    while (below == 0 && at > 0) below = learned_[--at];
    if (below == 0) return word;
    return word + moved_[at * 64 + static_cast<std::size_t>(std::bit_width(below)) - 1];
}

void SpirvRenaming::learn(std::uint32_t word, std::uint32_t actual)
{
    if (word >= moved_.size() || (learned_[word / 64] >> word % 64 & 1) != 0) return;
    learned_[word / 64] |= std::uint64_t{1} << word % 64;
    moved_[word] = actual - word;
}

Words unpack(const PackedSpirv& packed)
{
    constexpr std::uint32_t bound = 3; // index of the header's upper bound of ids
    Words base_words, begins;
    if (packed.base) {
        base_words = unpack(*packed.base);
        if (base_words.empty()) return {};
        begins = spirv_instructions(base_words);
    }
    const std::vector<std::uint8_t> text = inflated(packed);
    Reader in(text);
    const std::size_t end = in.number();
    if (end < spirv_header_words || end / 256 > text.size() + base_words.size()) return {};
    Words out;
    out.reserve(end);
    out.push_back(spirv_magic);
    while (out.size() < spirv_header_words) out.push_back(in.number());
    Base base{base_words, begins, 0, SpirvRenaming(base_words.empty() ? 0 : base_words[bound])};
    while (out.size() < end) {
        if (!own_instructions(in, end, out)) return {};
        if (out.size() < end && !run_of_base(in, base, end, out)) return {};
    }
    return in.at_end() && !in.failed() ? out : Words{};
}

} // namespace reprise::device
