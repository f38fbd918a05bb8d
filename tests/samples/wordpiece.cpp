// BERT's tokenizer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "../../samples/common/wordpiece.hpp"
#include "shape/error_of.hpp"

namespace {

using reprise::ErrorKind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> words(const WordPiece& vocabulary, std::string_view text, std::size_t longest = 64)
{
    std::vector<std::string> out;
    for (const std::int32_t token : vocabulary.encode(text, longest))
        out.push_back(vocabulary.pieces().at(static_cast<std::size_t>(token)));
    return out;
}

const WordPiece small({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "##a", "##ff", "runn",
                       "##ing", ",", "want", "\xC3\xA4", "##\xC3\xA4"});

TEST(WordPiece, TakesTheLongestPieceInLowerCase)
{
    EXPECT_THAT(words(small, "UNaffable\t running"),
                ElementsAre("[CLS]", "un", "##aff", "##able", "runn", "##ing", "[SEP]"));
    EXPECT_THAT(words(small, "want,want"), ElementsAre("[CLS]", "want", ",", "want", "[SEP]"));
    EXPECT_THAT(words(small, "want\x01"
                             "ed want"),
                ElementsAre("[CLS]", "[UNK]", "want", "[SEP]"));
    EXPECT_THAT(words(small, "\xC3\xA4\xC3\xA4"), ElementsAre("[CLS]", "\xC3\xA4", "##\xC3\xA4", "[SEP]"));
    EXPECT_THAT(words(small, " \n"), ElementsAre("[CLS]", "[SEP]"));
    EXPECT_THAT(words(small, "un" + std::string(99, 'a')), ElementsAre("[CLS]", "[UNK]", "[SEP]"));
}

TEST(WordPiece, CutsALongText)
{
    EXPECT_THAT(words(small, "unaffable running", 4), ElementsAre("[CLS]", "un", "##aff", "[SEP]"));
    EXPECT_THAT(words(small, "want", 3), ElementsAre("[CLS]", "want", "[SEP]"));
}

TEST(WordPiece, MergesFrequentPairs)
{
    const std::vector<std::string> texts = {"low lower low", "lowest Low!"};
    const WordPiece all = WordPiece::train(texts, 1000);
    EXPECT_THAT(words(all, "low lower"), ElementsAre("[CLS]", "low", "lowe", "##r", "[SEP]"));
    EXPECT_THAT(all.pieces(), Contains("##s"));
    EXPECT_EQ(all.pieces(), WordPiece::train(texts, 1000).pieces());
    const WordPiece few = WordPiece::train(texts, 1); // all characters, and nothing merged
    EXPECT_THAT(words(few, "low"), ElementsAre("[CLS]", "l", "##o", "##w", "[SEP]"));
    EXPECT_THAT(words(WordPiece::train({"aaaa aaaa"}, 100), "aaaa"), ElementsAre("[CLS]", "aaaa", "[SEP]"));
}

TEST(WordPiece, IsSavedAndReadBack)
{
    const std::string path = testing::TempDir() + "vocab.txt";
    small.save(path);
    EXPECT_EQ(WordPiece::read(path).pieces(), small.pieces());
    EXPECT_EQ(error_of([] { return WordPiece::read("/no/such/file"); }).kind, ErrorKind::file);
    std::ofstream(path) << "[PAD]\n[CLS]\n[SEP]\n";
    const auto error = error_of([&] { return WordPiece::read(path); });
    EXPECT_EQ(error.kind, ErrorKind::file);
    EXPECT_THAT(error.text, HasSubstr("[UNK]"));
}

} // namespace
