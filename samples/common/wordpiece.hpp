// WordPiece, the tokenizer of BERT.  It is here because no C++ library that distributions package reads BERT's
// vocabularies (sentencepiece has other formats).
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

// Splits texts at spaces and ASCII punctuation into words, in lower case, and words into the longest pieces of a
// vocabulary; pieces that do not begin a word are written "##ing".  ASCII texts get the tokens of BERT's "uncased"
// tokenizer.  Other characters are kept as they are, where BERT's removes accents, lowers their case, and splits at
// their punctuation and around Chinese characters.
class WordPiece {
public:
    // Takes the pieces in the order of their tokens.  Throws Error(argument) unless the first is [PAD], and [UNK],
    // [CLS] and [SEP] are among them.
    explicit WordPiece(std::vector<std::string> pieces);
    // Reads a vocab.txt, one piece a line.  Throws Error(file) where it can't be read, or for pieces as above.
    static WordPiece read(const std::filesystem::path&);
    // Finds a vocabulary of at most `size` pieces (at least all characters) for these texts, by merging the most
    // frequent pairs of neighbours (Sennrich et al., 2016).
    static WordPiece train(const std::vector<std::string>& texts, std::size_t size);

    void save(const std::filesystem::path&) const;
    // Returns [CLS], the pieces' tokens and [SEP]; a longer text is cut to `longest` tokens, at least 2.
    std::vector<std::int32_t> encode(std::string_view text, std::size_t longest) const;
    const std::vector<std::string>& pieces() const { return pieces_; }

private:
    std::int32_t token(const std::string& piece) const;

    std::vector<std::string> pieces_;
    std::unordered_map<std::string, std::int32_t> tokens_;
    std::int32_t unknown_ = 0, begin_ = 0, end_ = 0;
};
