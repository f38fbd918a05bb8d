// The header of a GGUF file, without any device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "io/gguf.hpp"

#include "io/gguf_text.hpp"
#include "io/wrong_bytes.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using namespace gguf_text;
using testing::HasSubstr;

constexpr std::uint32_t type_f32 = 0, type_q8_0 = 8;

// Reads a copy that ends where its memory ends, so that the address sanitizer finds a read beyond it.
struct Read {
    explicit Read(const std::string& content)
        : memory(std::make_unique<std::byte[]>(content.size())), size(content.size())
    {
        std::memcpy(memory.get(), content.data(), size);
        contents = io::read_gguf({memory.get(), size}, "net.gguf");
    }
    bool holds(std::span<const std::byte> part) const
    {
        return part.empty() ||
               (part.data() >= memory.get() && part.data() + part.size() <= memory.get() + size);
    }
    std::unique_ptr<std::byte[]> memory;
    std::size_t size;
    io::Contents contents;
};

std::string complaint(const std::string& content)
{
    const Caught caught = error_of([&] { return Read(content).size; });
    EXPECT_EQ(caught.kind, ErrorKind::file) << caught.text;
    EXPECT_THAT(caught.text, HasSubstr("(net.gguf)"));
    EXPECT_THAT(caught.text, testing::EndsWith("."));
    return caught.text;
}

// A file with every type of value, and tensors of numbers and of blocks.
std::string sample()
{
    return file(
        {value("general.name", type::string, text("net")), value("layers", type::u32, le<std::uint32_t>(7)),
         value("names", type::list, list_of(type::string, 2, text("a") + text("bc"))),
         value("nested", type::list, list_of(type::list, 1, list_of(type::i8, 2, "\x01\xff"))),
         value("flag", type::boolean, "\x01"), value("rate", type::f32, le(0.5f))},
        {entry("w", {4, 2}, type_f32, 0), entry("q", {32, 1}, type_q8_0, 32)}, std::string(32 + 34, 'x'));
}

TEST(Gguf, GivesTensorsRowMajor)
{
    for (const std::uint32_t version : {2u, 3u}) {
        const Read read(file({}, {entry("w", {4, 2}, type_f32, 64), entry("s", {}, type_f32, 32)},
                             std::string(96, 'x'), {.version = version}));
        const StoredTensor& w = read.contents.tensors.at("w");
        EXPECT_EQ(w.shape, (Shape{2, 4}));
        EXPECT_EQ(w.type, StoredType(DType::f32));
        EXPECT_EQ(w.bytes.data(), read.memory.get() + read.size - 32);
        EXPECT_EQ(w.bytes.size(), 32u);
        EXPECT_EQ(read.contents.tensors.at("s").shape, Shape{});
        EXPECT_EQ(read.contents.tensors.at("s").bytes.size(), 4u);
    }
}

TEST(Gguf, KnowsTheBytesOfBlocks)
{
    const Read read(file({}, {entry("q", {64, 3, 2}, type_q8_0, 0)}, std::string(6 * 68, 'x')));
    const StoredTensor& q = read.contents.tensors.at("q");
    EXPECT_EQ(q.shape, (Shape{2, 3, 64}));
    EXPECT_EQ(q.type, StoredType(BlockType::q8_0));
    EXPECT_EQ(to_string(q.type), "q8_0");
    EXPECT_EQ(q.bytes.size(), 6u * 68u);
}

TEST(Gguf, TakesAnotherAlignment)
{
    const std::string content =
        file({value("general.alignment", type::u32, le<std::uint32_t>(128))},
             {entry("w", {1}, type_f32, 128)}, std::string(132, 'x'), {.alignment = 128});
    EXPECT_EQ(Read(content).contents.tensors.at("w").bytes.size(), 4u);
}

TEST(Gguf, ReadsValuesOfEveryType)
{
    const struct {
        std::uint32_t type;
        std::string content;
        decltype(MetadataValue::value) expected;
    } rows[] = {
        {type::u8, le<std::uint8_t>(200), std::int64_t{200}},
        {type::i8, le<std::int8_t>(-100), std::int64_t{-100}},
        {type::u16, le<std::uint16_t>(60000), std::int64_t{60000}},
        {type::i16, le<std::int16_t>(-30000), std::int64_t{-30000}},
        {type::u32, le<std::uint32_t>(4000000000), std::int64_t{4000000000}},
        {type::i32, le<std::int32_t>(-5), std::int64_t{-5}},
        {type::u64, le<std::uint64_t>(5), std::int64_t{5}},
        {type::u64, le(std::numeric_limits<std::uint64_t>::max()), std::numeric_limits<std::uint64_t>::max()},
        {type::i64, le<std::int64_t>(-(std::int64_t{1} << 62)), -(std::int64_t{1} << 62)},
        {type::f32, le(0.5f), 0.5},
        {type::f64, le(0.1), 0.1},
        {type::boolean, le<std::uint8_t>(0), false},
        {type::boolean, le<std::uint8_t>(1), true},
        {type::string,
         text("Gr\xc3\xbc\xc3\x9f"
              "e"),
         std::string("Gr\xc3\xbc\xc3\x9f"
                     "e")},
    };
    for (const auto& row : rows) {
        const Read read(file({value("k", row.type, row.content)}, {}, ""));
        EXPECT_EQ(read.contents.metadata.at("k").value, row.expected) << "type " << row.type;
    }
    const Read read(sample());
    const auto& metadata = read.contents.metadata;
    EXPECT_EQ(metadata.at("names").to_list().at(1).to_text(), "bc");
    EXPECT_EQ(metadata.at("nested").to_list().at(0).to_list().at(1).to_int(), -1);
    EXPECT_EQ(metadata.at("rate").to_double(), 0.5);
    EXPECT_EQ(metadata.at("layers").to_double(), 7);
    EXPECT_TRUE(metadata.at("flag").to_bool());
    EXPECT_EQ(error_of([&] { return metadata.at("flag").to_int(); }).kind, ErrorKind::argument);
}

TEST(Gguf, NamesWhatIsWrong)
{
    constexpr std::uint64_t huge = std::uint64_t{1} << 60;
    const std::string eight(8, 'x');
    const auto with_value = [](std::uint32_t type, const std::string& content) {
        return file({value("key", type, content)}, {}, "");
    };
    const auto with_tensor = [&](const std::string& entry) {
        return file({}, {entry}, std::string(64, 'x'));
    };
    const auto aligned = [](std::uint32_t alignment) {
        return file({value("general.alignment", type::u32, le(alignment))}, {}, "");
    };
    std::string deep = list_of(type::u8, 0, "");
    for (int i = 0; i < 6; ++i) deep = list_of(type::list, 1, deep);
    const struct {
        std::string content;
        std::vector<const char*> parts;
    } rows[] = {
        {"", {"ends at byte 0", "truncated"}},
        {"GGML" + eight, {"does not begin with GGUF"}},
        {file({}, {}, "", {.version = 1}), {"version 1", "2 and 3"}},
        {file({}, {}, "", {.version = 4}), {"version 4"}},
        {file({}, {}, "", {.version = 0}), {"version 0"}},
        {file({}, {}, "", {.version = 0x03000000}), {"big-endian"}},
        {"GGUF" + le(3u) + le(huge) + le(huge) + eight, {"promises 1152921504606846976 tensors"}},
        {"GGUF" + le(3u) + le<std::uint64_t>(0) + le(huge) + eight, {"1152921504606846976 metadata values"}},
        {with_value(13, eight), {"(key)", "unknown type (13)"}},
        {with_value(type::boolean, "\x02"), {"(key)", "bool of (2)"}},
        {with_value(type::string, le(huge) + eight), {"(key)", "text of 1152921504606846976 bytes"}},
        {with_value(type::list, list_of(type::u8, huge, eight)),
         {"(key)", "list of 1152921504606846976 elements"}},
        {with_value(type::list, list_of(13, 1, eight)), {"(key)", "unknown type (13)"}},
        {with_value(type::list, deep), {"(key)", "more than 4 levels"}},
        {with_value(type::list, list_of(type::u8, (1 << 24) + 1, std::string((1 << 24) + 1, 'x'))),
         {"(key)", "more than 16777216 elements"}},
        {file({value(std::string(65536, 'k'), type::u8, "x")}, {}, ""), {"65536 bytes, more than 65535"}},
        {file({value("key", type::u8, "x"), value("key", type::u8, "x")}, {}, ""), {"(key) comes twice"}},
        {aligned(0), {"(general.alignment) is 0"}},
        {aligned(24), {"(general.alignment) is 24"}},
        {file({value("general.alignment", type::string, text("32"))}, {}, ""),
         {"(general.alignment) is no integer"}},
        {with_tensor(entry("w", {1, 1, 1, 1, 1}, type_f32, 0)), {"(w)", "5 dimensions"}},
        {with_tensor(entry("w", {1}, 9, 0)), {"(w)", "type (9)"}},
        {with_tensor(entry("w", {1}, 1000, 0)), {"(w)", "type (1000)"}},
        {with_tensor(entry("w", {1}, type_f32, 4)), {"(w)", "offset 4", "alignment 32"}},
        {with_tensor(entry("w", {1}, type_f32, 96)), {"(w)", "offset 96", "64 bytes of data"}},
        {with_tensor(entry("w", {17}, type_f32, 0)), {"(w)", "68 bytes", "64 bytes of data", "truncated"}},
        {with_tensor(entry("w", {1}, type_f32, ~std::uint64_t{31})), {"(w)", "18446744073709551584"}},
        {with_tensor(entry("w", {~std::uint64_t{0}}, type_f32, 0)), {"(w)", "size (18446744073709551615)"}},
        {with_tensor(entry("w", {1u << 31, 1u << 31}, type_f32, 0)), {"(w)", "2^63 - 1"}},
        {with_tensor(entry("w", {33}, type_q8_0, 0)), {"(w)", "rows of 33 elements", "q8_0 with 32"}},
        {with_tensor(entry("w", {}, type_q8_0, 0)), {"(w)", "rows of 1 elements"}},
        {with_tensor(le(huge) + eight + eight), {"tensor 0", "text of 1152921504606846976 bytes"}},
        {file({}, {entry("w", {1}, type_f32, 0), entry("w", {1}, type_f32, 32)}, std::string(64, 'x')),
         {"(w) comes twice"}},
        {file({}, {entry("a", {9}, type_f32, 0), entry("b", {1}, type_f32, 32)}, std::string(64, 'x')),
         {"(a), which ends at the offset 36", "(b), which begins at 32, overlap"}},
    };
    for (const auto& row : rows) {
        const std::string text = complaint(row.content);
        for (const char* part : row.parts) EXPECT_THAT(text, HasSubstr(part));
    }
}

TEST(Gguf, AcceptsEmptyTensorsAndFiles)
{
    EXPECT_TRUE(Read(file({}, {}, "")).contents.tensors.empty());
    const Read read(file({}, {entry("e", {0, 3}, type_f32, 0), entry("w", {1}, type_f32, 0)}, "1234"));
    EXPECT_EQ(read.contents.tensors.at("e").shape, (Shape{3, 0}));
    EXPECT_EQ(read.contents.tensors.at("w").bytes.size(), 4u);
}

TEST(Gguf, RefusesTruncationAtEveryByte)
{
    const std::string whole = sample();
    EXPECT_EQ(Read(whole).contents.tensors.size(), 2u);
    for (std::size_t length = 0; length < whole.size(); ++length) complaint(whole.substr(0, length));
}

// Whatever the bytes are, the result is an error of the file, or tensors that lie in it.
TEST(Gguf, SurvivesWrongBytes)
{
    const std::string whole = sample();
    std::size_t accepted = 0;
    const auto attempt = [&](const std::string& content) {
        try {
            const Read read(content);
            for (const auto& [name, t] : read.contents.tensors) EXPECT_TRUE(read.holds(t.bytes)) << name;
            ++accepted;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::file) << error.what();
        }
    };
    test::each_wrong_content(whole, 20000, attempt);
    EXPECT_GT(accepted, 100u);
}

} // namespace
