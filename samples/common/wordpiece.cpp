#include "wordpiece.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>

#include <reprise/error.hpp>
#include <reprise/path_text.hpp>
#include <reprise/whole_file.hpp>

namespace rp = reprise;

namespace {

constexpr std::size_t longest_word = 100; // bytes; longer words are [UNK]

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 128; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_control(char c) { return is_ascii(c) && (c < ' ' || c == 127) && !is_space(c); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

std::vector<std::string> words_of(std::string_view text)
{
    std::vector<std::string> words;
    bool open = false; // whether the next character belongs to the last word
    for (const char c : text) {
        if (is_control(c)) continue;
        if (is_space(c)) {
            open = false;
            continue;
        }
        const bool punctuation = is_ascii(c) && !is_letter(c);
        if (punctuation || !open) words.emplace_back();
        words.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        open = !punctuation;
    }
    return words;
}

// Returns the characters of a word (UTF-8), all but the first with ##.
std::vector<std::string> characters_of(const std::string& word)
{
    std::vector<std::string> out;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const bool continues = (static_cast<unsigned char>(word[i]) & 0xC0) == 0x80;
        if (i == 0) out.emplace_back();
        else if (!continues) out.emplace_back("##");
        out.back() += word[i];
    }
    return out;
}

// The words of a text as pieces, which are merged.
class Merging {
public:
    explicit Merging(const std::vector<std::string>& texts)
    {
        std::map<std::string, std::int64_t> counts;
        for (const std::string& text : texts)
            for (const std::string& word : words_of(text))
                if (word.size() <= longest_word) ++counts[word];
        for (const auto& [word, count] : counts) {
            words_.push_back({characters_of(word), count});
            alphabet_.insert(words_.back().pieces.begin(), words_.back().pieces.end());
        }
        for (std::size_t i = 0; i < words_.size(); ++i) add(i, 1);
    }
    const std::set<std::string>& alphabet() const { return alphabet_; }

    // Merges the most frequent pair wherever it is, and returns the new piece; nullopt if no pair occurs twice.
    std::optional<std::string> merge()
    {
        while (!queue_.empty()) {
            const auto [count, pair] = queue_.top();
            queue_.pop();
            const auto found = pairs_.find(pair);
            if (found == pairs_.end() || found->second.count != count) continue; // has changed since
            if (count < 2) return std::nullopt;
            const std::string piece = pair.first + pair.second.substr(2);
            for (const std::size_t word : std::set(found->second.words)) {
                add(word, -1);
                replace(words_[word].pieces, pair, piece);
                add(word, 1);
            }
            return piece;
        }
        return std::nullopt;
    }

private:
    using Pair = std::pair<std::string, std::string>;
    struct Word {
        std::vector<std::string> pieces;
        std::int64_t count;
    };
    struct Occurrence {
        std::int64_t count = 0;
        std::set<std::size_t> words; // that contain the pair
    };

    // Counts the pairs of a word (sign 1) or takes them away (-1).
    void add(std::size_t number, int sign)
    {
        const Word& word = words_[number];
        for (std::size_t i = 1; i < word.pieces.size(); ++i) {
            const Pair pair(word.pieces[i - 1], word.pieces[i]);
            Occurrence& occurrence = pairs_[pair];
            occurrence.count += sign * word.count;
            if (sign > 0) occurrence.words.insert(number);
            else occurrence.words.erase(number);
            if (occurrence.count > 0) queue_.push({occurrence.count, pair});
        }
    }

    static void replace(std::vector<std::string>& pieces, const Pair& pair, const std::string& merged)
    {
        std::vector<std::string> out;
        for (std::string& piece : pieces) {
            if (!out.empty() && out.back() == pair.first && piece == pair.second) out.back() = merged;
            else out.push_back(std::move(piece));
        }
        pieces = std::move(out);
    }

    struct Later { // the more frequent pair first; of equal ones the first in the alphabet
        bool operator()(const std::pair<std::int64_t, Pair>& a, const std::pair<std::int64_t, Pair>& b) const
        {
            return std::tie(a.first, b.second) < std::tie(b.first, a.second);
        }
    };

    std::vector<Word> words_;
    std::set<std::string> alphabet_;
    std::map<Pair, Occurrence> pairs_;
    std::priority_queue<std::pair<std::int64_t, Pair>, std::vector<std::pair<std::int64_t, Pair>>, Later>
        queue_;
};

} // namespace

WordPiece::WordPiece(std::vector<std::string> pieces) : pieces_(std::move(pieces))
{
    for (std::size_t i = 0; i < pieces_.size(); ++i)
        tokens_.insert_or_assign(pieces_[i], static_cast<std::int32_t>(i));
    if (pieces_.empty() || pieces_[0] != "[PAD]")
        throw rp::Error(rp::ErrorKind::argument, "The first piece of a vocabulary must be [PAD].");
    unknown_ = token("[UNK]");
    begin_ = token("[CLS]");
    end_ = token("[SEP]");
}

std::int32_t WordPiece::token(const std::string& piece) const
{
    const auto found = tokens_.find(piece);
    if (found == tokens_.end())
        throw rp::Error(rp::ErrorKind::argument, "The vocabulary has no piece " + piece + ".");
    return found->second;
}

WordPiece WordPiece::read(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw rp::Error(rp::ErrorKind::file, "The vocabulary (" + rp::path_text(path) + ") can't be read.");
    std::vector<std::string> pieces;
    for (std::string line; std::getline(file, line);) {
        if (line.ends_with('\r')) line.pop_back();
        pieces.push_back(line);
    }
    try {
        return WordPiece(std::move(pieces));
    } catch (const rp::Error& error) {
        throw rp::Error(rp::ErrorKind::file, rp::path_text(path) + ": " + error.what());
    }
}

WordPiece WordPiece::train(const std::vector<std::string>& texts, std::size_t size)
{
    Merging merging(texts);
    std::vector<std::string> pieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    pieces.insert(pieces.end(), merging.alphabet().begin(), merging.alphabet().end());
    std::set<std::string> known(pieces.begin(), pieces.end());
    while (pieces.size() < size) {
        const std::optional<std::string> piece = merging.merge();
        if (!piece) break;
        if (known.insert(*piece).second) pieces.push_back(*piece);
    }
    return WordPiece(std::move(pieces));
}

void WordPiece::save(const std::filesystem::path& path) const
{
    std::string content;
    for (const std::string& piece : pieces_) content += piece + "\n";
    rp::WholeFile file(path);
    file.write(content);
    file.commit();
}

std::vector<std::int32_t> WordPiece::encode(std::string_view text, std::size_t longest) const
{
    std::vector<std::int32_t> out = {begin_};
    for (const std::string& word : words_of(text)) {
        if (out.size() + 1 >= longest) break;
        const std::size_t before = out.size();
        for (std::size_t at = 0; at < word.size();) {
            std::size_t length = word.size() > longest_word ? 0 : word.size() - at;
            auto found = tokens_.end();
            for (; length > 0 && found == tokens_.end(); length -= found == tokens_.end() ? 1 : 0)
                found = tokens_.find((at == 0 ? "" : "##") + word.substr(at, length));
            if (found == tokens_.end()) { // no piece fits: the whole word is unknown
                out.resize(before);
                out.push_back(unknown_);
                break;
            }
            out.push_back(found->second);
            at += length;
        }
    }
    out.resize(std::min(out.size(), longest - 1));
    out.push_back(end_);
    return out;
}
