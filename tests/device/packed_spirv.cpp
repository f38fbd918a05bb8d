#include <random>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../tools/build/pack_spirv.hpp"
#include "device/embedded_kernels.hpp"
#include "device/packed_spirv.hpp"

namespace reprise::device {
namespace {

using Words = std::vector<std::uint32_t>;

PackedSpirv view(const PackedText& text, const PackedSpirv* base = nullptr)
{
    return {text.bytes.data(), static_cast<std::uint32_t>(text.bytes.size()), text.inflated, base};
}

Words through(const Words& words, const Words& base)
{
    const PackedText packed_base = pack(base, {}), packed = pack(words, base);
    const PackedSpirv of = view(packed_base);
    return unpack(view(packed, &of));
}

// Instructions of all lengths whose operands are ids, literals and any words.
Words random_module(std::mt19937& random, std::size_t instructions, std::uint32_t bound)
{
    Words words = {0x07230203, 0x00010500, 0x000d000b, bound, 0};
    for (std::size_t i = 0; i < instructions; ++i) {
        const std::uint32_t length = 1 + random() % 6;
        words.push_back(length << 16 | random() % 5);
        for (std::uint32_t k = 1; k < length; ++k)
            words.push_back(random() % 8 == 0 ? static_cast<std::uint32_t>(random()) : random() % bound);
    }
    return words;
}

// The module with its ids from `first` on moved, as one more line of the shader moves them.
Words moved(Words words, std::uint32_t first, std::uint32_t by)
{
    for (std::size_t at = 5; at < words.size(); at += words[at] >> 16)
        for (std::size_t i = at + 1; i < at + (words[at] >> 16); ++i)
            if (words[i] >= first && words[i] < words[3]) words[i] += by;
    words[3] += by;
    return words;
}

TEST(PackedSpirv, EveryKernelOfTheLibraryIsAWholeModule)
{
    for (const EmbeddedKernel& kernel : embedded_kernels()) {
        const Words words = unpack(*kernel.code);
        ASSERT_GT(words.size(), spirv_header_words) << kernel.name;
        EXPECT_EQ(words[0], 0x07230203U) << kernel.name;
        EXPECT_GT(spirv_instructions(words).size(), 10U) << kernel.name;
        EXPECT_TRUE(!kernel.code->base || !kernel.code->base->base) << kernel.name;
    }
}

TEST(PackedSpirv, ComesBackWithoutABaseAndWithAnyBase)
{
    std::mt19937 random(7);
    for (int i = 0; i < 200; ++i) {
        const Words base = random_module(random, random() % 60, 1 + random() % 90);
        const Words other = random_module(random, random() % 60, 1 + random() % 90);
        const PackedText alone = pack(other, {});
        EXPECT_EQ(unpack(view(alone)), other);
        EXPECT_EQ(through(other, base), other);
        EXPECT_EQ(through(base, base), base);
    }
    const Words empty = {0x07230203, 1, 2, 1, 0};
    EXPECT_EQ(through(empty, empty), empty);
    EXPECT_EQ(unpack(view(pack(empty, {}))), empty);
}

// Moved ids cost a few bytes, instructions that are new or gone little more.
TEST(PackedSpirv, ModulesThatDifferByTheirIdsAreSmall)
{
    std::mt19937 random(3);
    const Words base = random_module(random, 2000, 1500);
    EXPECT_LT(pack(base, base).bytes.size(), 40U);
    EXPECT_GT(pack(base, {}).bytes.size(), 5000U);

    Words ids = base; // no literals, which move at random
    for (std::size_t at = 5; at < ids.size(); at += ids[at] >> 16)
        for (std::size_t i = at + 1; i < at + (ids[at] >> 16); ++i) ids[i] %= 1500;
    const Words shifted = moved(ids, 700, 20);
    EXPECT_EQ(through(shifted, ids), shifted);
    EXPECT_LT(pack(shifted, ids).bytes.size(), 200U);
}

TEST(PackedSpirv, DamagedBytesGiveNothing)
{
    std::mt19937 random(5);
    const Words base = random_module(random, 100, 80), words = moved(base, 40, 3);
    PackedText text = pack(words, base);
    const PackedText packed_base = pack(base, {});
    const PackedSpirv of = view(packed_base);
    ASSERT_EQ(unpack(view(text, &of)), words);
    EXPECT_TRUE(unpack(view(text)).empty()); // without its base
    PackedSpirv shorter = view(text, &of);
    --shorter.size;
    EXPECT_TRUE(unpack(shorter).empty());
    text.bytes[text.bytes.size() / 2] ^= 64;
    EXPECT_NE(unpack(view(text, &of)), words);
}

TEST(PackedSpirv, BrokenModulesAreRefused)
{
    EXPECT_THROW(pack(Words{1, 2}, {}), std::runtime_error);
    EXPECT_THROW(pack(Words{0x07230203, 1, 2, 3, 0, 5}, {}), std::runtime_error);           // no length
    EXPECT_THROW(pack(Words{0x07230203, 1, 2, 3, 0, 3U << 16, 1}, {}), std::runtime_error); // past the end
}

// A base has no base; what is not alike has none.
TEST(PackedSpirv, BasesAreChosenAmongWhatIsAlike)
{
    std::mt19937 random(11);
    const Words a = random_module(random, 500, 300), b = random_module(random, 500, 300);
    const auto chosen = choose_bases({a, moved(a, 100, 5), b, moved(a, 200, 9), moved(b, 50, 1)});
    EXPECT_THAT(chosen, ::testing::ElementsAre(0, 0, 2, 0, 2));
}

} // namespace
} // namespace reprise::device
