#include "pack_spirv.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <zlib.h>

#include "device/packed_spirv.hpp"

namespace reprise::device {

namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::size_t shortest_run = 6; // instructions; found by their first words, which contain no ids

// A module, split into instructions.
struct Module {
    explicit Module(std::span<const std::uint32_t> all) : words(all), begins(spirv_instructions(all))
    {
        if (!all.empty() && (all.size() < spirv_header_words || begins.empty()))
            throw std::runtime_error("a module whose instructions do not fill it");
        if (all.empty()) begins = {0};
    }
    std::size_t size() const { return begins.size() - 1; }
    std::uint32_t first_word(std::size_t i) const { return words[begins[i]]; }
    std::uint64_t hash(std::size_t i, std::size_t count) const
    {
        std::uint64_t h = 0xcbf29ce484222325;
        for (std::size_t k = i; k < i + count; ++k) h = (h ^ first_word(k)) * 0x100000001b3;
        return h;
    }
    std::span<const std::uint32_t> words;
    Words begins;
};

class Writer {
public:
    void number(std::uint32_t n)
    {
        for (; n >= 128; n >>= 7) text_.push_back(static_cast<std::uint8_t>(n % 128 + 128));
        text_.push_back(static_cast<std::uint8_t>(n));
    }
    void signed_number(std::uint32_t n) { number(n >> 31 == 0 ? n << 1 : ~n << 1 | 1); }
    void append(const Writer& w) { text_.insert(text_.end(), w.text_.begin(), w.text_.end()); }

    PackedText deflated() const
    {
        PackedText packed;
        packed.inflated = static_cast<std::uint32_t>(text_.size());
        uLongf size = compressBound(static_cast<uLong>(text_.size()));
        packed.bytes.resize(size);
        if (compress2(packed.bytes.data(), &size, text_.data(), static_cast<uLong>(text_.size()),
                      Z_BEST_COMPRESSION) != Z_OK)
            throw std::runtime_error("zlib can't deflate a module");
        packed.bytes.resize(size);
        return packed;
    }

private:
    std::vector<std::uint8_t> text_;
};

class Packer {
public:
    Packer(const Module& module, const Module& base)
        : module_(module), base_(base), renaming_(base.size() > 0 ? base.words[3] : 0)
    {
        for (std::size_t i = 0; i + shortest_run <= base.size(); ++i)
            positions_[base.hash(i, shortest_run)].push_back(i);
    }

    PackedText pack()
    {
        out_.number(static_cast<std::uint32_t>(module_.words.size()));
        for (std::size_t i = 1; i < spirv_header_words; ++i) out_.number(module_.words[i]);
        std::size_t own = 0; // the first instruction that is not written yet
        for (std::size_t at = 0; at < module_.size();) {
            const auto [from, count] = longest_run(at, next_ + (at - own));
            if (count < shortest_run) {
                ++at;
                continue;
            }
            own_instructions(own, at);
            run(at, from, count);
            own = at += count;
        }
        if (own < module_.size()) own_instructions(own, module_.size());
        return out_.deflated();
    }

private:
    // Returns the longest run of the base as (first instruction, count); among equally long ones, the nearest to
    // `expected`.
    std::pair<std::size_t, std::size_t> longest_run(std::size_t at, std::size_t expected) const
    {
        std::pair<std::size_t, std::size_t> best{0, 0};
        if (at + shortest_run > module_.size()) return best;
        const auto found = positions_.find(module_.hash(at, shortest_run));
        if (found == positions_.end()) return best;
        const auto distance = [&](std::size_t i) { return i > expected ? i - expected : expected - i; };
        constexpr std::ptrdiff_t tried = 12;
        std::vector<std::size_t> positions = found->second;
        const auto nearest = positions.size() > tried ? positions.begin() + tried : positions.end();
        std::partial_sort(positions.begin(), nearest, positions.end(), [&](std::size_t a, std::size_t b) {
            return std::pair(distance(a), a) < std::pair(distance(b), b);
        });
        for (auto position = positions.begin(); position != nearest; ++position) {
            std::size_t count = 0;
            while (at + count < module_.size() && *position + count < base_.size() &&
                   module_.first_word(at + count) == base_.first_word(*position + count))
                ++count;
            if (count > best.second) best = {*position, count};
        }
        return best;
    }

    void own_instructions(std::size_t first, std::size_t end)
    {
        out_.number(static_cast<std::uint32_t>(end - first));
        for (std::size_t at = module_.begins[first]; at < module_.begins[end]; ++at)
            out_.number(module_.words[at]);
    }

    void run(std::size_t at, std::size_t from, std::size_t count)
    {
        Writer corrections;
        std::uint32_t corrected = 0, right = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t length = module_.first_word(at + i) >> 16;
            for (std::uint32_t k = 1; k < length; ++k) {
                const std::uint32_t word = base_.words[base_.begins[from + i] + k],
                                    actual = module_.words[module_.begins[at + i] + k],
                                    expected = renaming_.expected(word);
                renaming_.learn(word, actual);
                if (actual == expected) {
                    ++right;
                    continue;
                }
                corrections.number(std::exchange(right, 0));
                corrections.signed_number(actual - expected);
                ++corrected;
            }
        }
        out_.number(static_cast<std::uint32_t>(count));
        out_.signed_number(static_cast<std::uint32_t>(from - next_));
        out_.number(corrected);
        out_.append(corrections);
        next_ = from + count;
    }

    const Module& module_;
    const Module& base_;
    SpirvRenaming renaming_;
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> positions_; // in the base, by hash of a run
    std::size_t next_ = 0; // the base's instruction after the last run
    Writer out_;
};

// Returns the sorted hashes of every four consecutive instructions: the similarity of modules is the number they share.
std::vector<std::uint64_t> fours(const Module& m)
{
    std::vector<std::uint64_t> hashes;
    for (std::size_t i = 0; i + 4 <= m.size(); ++i) hashes.push_back(m.hash(i, 4));
    std::sort(hashes.begin(), hashes.end());
    return hashes;
}

} // namespace

PackedText pack(std::span<const std::uint32_t> words, std::span<const std::uint32_t> base)
{
    const Module module(words), of(base);
    return Packer(module, of).pack();
}

std::vector<std::size_t> choose_bases(const std::vector<Words>& modules)
{
    constexpr double worth = 0.25; // upper bound for the packed size, relative to the size without a base
    constexpr std::size_t tried = 2;
    std::vector<std::vector<std::uint64_t>> parts;
    for (const Words& words : modules) parts.push_back(fours(Module(words)));
    const auto shared = [&](std::size_t a, std::size_t b) {
        std::vector<std::uint64_t> both;
        std::set_intersection(parts[a].begin(), parts[a].end(), parts[b].begin(), parts[b].end(),
                              std::back_inserter(both));
        return both.size();
    };
    std::vector<std::size_t> base_of, bases;
    for (std::size_t i = 0; i < modules.size(); ++i) {
        std::vector<std::pair<std::size_t, std::size_t>> candidates; // (number of shared hashes, base)
        for (const std::size_t base : bases) candidates.emplace_back(shared(i, base), base);
        std::sort(candidates.rbegin(), candidates.rend());
        candidates.resize(std::min(candidates.size(), tried));
        std::size_t best = i;
        auto least = static_cast<std::size_t>(worth * static_cast<double>(pack(modules[i], {}).bytes.size()));
        for (const auto& [shared_hashes, base] : candidates) {
            const std::size_t size = pack(modules[i], modules[base]).bytes.size();
            if (size < least) std::tie(least, best) = std::pair(size, base);
        }
        base_of.push_back(best);
        if (best == i) bases.push_back(i);
    }
    return base_of;
}

} // namespace reprise::device
