// The header of a safetensors file, and the index of several, without any device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "io/safetensors_header.hpp"
#include "io/wrong_bytes.hpp"

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using io::TensorEntry;
using testing::HasSubstr;

std::string complaint(const std::string& json, std::uint64_t data_bytes)
{
    const Caught caught = error_of([&] { return io::parse_header(json, data_bytes, "net.safetensors"); });
    EXPECT_EQ(caught.kind, ErrorKind::file) << json;
    EXPECT_THAT(caught.text, HasSubstr("(net.safetensors)")) << json;
    EXPECT_THAT(caught.text, testing::EndsWith(".")) << json;
    return caught.text;
}

std::vector<TensorEntry> entries_of(const std::string& json, std::uint64_t data_bytes)
{
    return io::parse_header(json, data_bytes, "f").entries;
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets)
{
    return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}";
}

TEST(SafetensorsHeader, IsWrittenAsTheFormatHasIt)
{
    std::vector<TensorEntry> entries{{"bb", DType::f64, {3}, 0, 0}, {"a", DType::f16, {2, 2}, 0, 0}};
    const std::string header = io::make_header(entries);
    EXPECT_EQ(header, R"({"bb":{"dtype":"F64","shape":[3],"data_offsets":[0,24]},)"
                      R"("a":{"dtype":"F16","shape":[2,2],"data_offsets":[24,32]}})" +
                          std::string(7, ' '));
    EXPECT_EQ(header.size() % 8, 0u);
    EXPECT_EQ(entries[1].begin, 24u);
    EXPECT_EQ(entries[1].end, 32u);
}

TEST(SafetensorsHeader, ReadsWhatItWrites)
{
    std::vector<TensorEntry> entries{{"scalar", DType::f32, {}, 0, 0},
                                     {"empty", DType::i64, {4, 0, 2}, 0, 0},
                                     {"a \"quoted\" \xc3\xa9 name", DType::boolean, {5}, 0, 0}};
    const std::string header = io::make_header(entries);
    const auto read = entries_of(header, 9);
    ASSERT_EQ(read.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(read[i].name, entries[i].name);
        EXPECT_EQ(read[i].dtype, entries[i].dtype);
        EXPECT_EQ(read[i].shape, entries[i].shape);
        EXPECT_EQ(read[i].begin, entries[i].begin);
        EXPECT_EQ(read[i].end, entries[i].end);
    }
}

TEST(SafetensorsHeader, KnowsEveryDtype)
{
    for (const DType dtype : {f32, f16, bf16, f64, i32, i64, i16, i8, u8, boolean}) {
        std::vector<TensorEntry> entries{{"t", dtype, {3}, 0, 0}};
        const std::string header = io::make_header(entries);
        EXPECT_EQ(entries_of(header, 3 * size_of(dtype)).at(0).dtype, dtype) << header;
    }
}

TEST(SafetensorsHeader, GivesTheOrderOfTheData)
{
    const auto read = entries_of(
        "{" + entry("late", "U8", "[1]", "[4,5]") + "," + entry("early", "F32", "[1]", "[0,4]") + "}", 5);
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(read[0].name, "early");
    EXPECT_EQ(read[1].name, "late");
}

TEST(SafetensorsHeader, AcceptsMetadataAndAnEmptySet)
{
    EXPECT_TRUE(entries_of(R"({"__metadata__":{"format":"pt"}}   )", 0).empty());
    EXPECT_TRUE(entries_of("{}", 0).empty());
}

TEST(SafetensorsHeader, RefusesWhatIsNoJsonObject)
{
    EXPECT_THAT(complaint("", 0), HasSubstr("does not start with {"));
    EXPECT_THAT(complaint("[]", 0), HasSubstr("does not start with {"));
    EXPECT_THAT(complaint(" {}", 0), HasSubstr("does not start with {"));
    EXPECT_THAT(complaint("{", 0), HasSubstr("no JSON"));
    EXPECT_THAT(complaint("{} x", 0), HasSubstr("no JSON"));
    EXPECT_THAT(complaint("{\"\xff\":1}", 0), HasSubstr("no JSON"));
    EXPECT_THAT(complaint(std::string("{}\0\0", 4), 0), HasSubstr("no JSON"));
}

// Deep enough that recursion over it would end the process.
TEST(SafetensorsHeader, RefusesDeepNestingWithoutACrash)
{
    const std::string open(1'000'000, '['), deep = open + std::string(1'000'000, ']');
    EXPECT_THAT(complaint("{\"a\":" + open, 0), HasSubstr("nested"));
    EXPECT_THAT(complaint("{\"a\":" + deep + "}", 0), HasSubstr("nested"));
    EXPECT_THAT(complaint(R"({"a":{"dtype":)" + deep + "}}", 0), HasSubstr("nested"));
    EXPECT_THAT(complaint("{" + entry("a", "F32", deep, "[0,4]") + "}", 4), HasSubstr("nested"));
    EXPECT_THAT(complaint("{" + entry("a", "F32", "[1]", deep) + "}", 4), HasSubstr("nested"));
}

TEST(SafetensorsHeader, RefusesWrongFields)
{
    const auto with = [](const std::string& inner) { return complaint("{\"w\":" + inner + "}", 4); };
    EXPECT_THAT(with("1"), HasSubstr("(w) is no object"));
    EXPECT_THAT(with("{}"), HasSubstr("(w) has no dtype"));
    EXPECT_THAT(with(R"({"dtype":"F32"})"), HasSubstr("(w) has no shape"));
    EXPECT_THAT(with(R"({"dtype":"F32","shape":[1]})"), HasSubstr("(w) has no data_offsets"));
    EXPECT_THAT(with(R"({"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,4]})"), HasSubstr("F8_E4M3"));
    EXPECT_THAT(with(R"({"dtype":32,"shape":[1],"data_offsets":[0,4]})"), HasSubstr("dtype (32)"));
    EXPECT_THAT(with(R"({"dtype":"F32","shape":1,"data_offsets":[0,4]})"), HasSubstr("no list"));
    EXPECT_THAT(with(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), HasSubstr("(-1)"));
    EXPECT_THAT(with(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})"), HasSubstr("(1.5)"));
    EXPECT_THAT(with(R"({"dtype":"F32","shape":["1"],"data_offsets":[0,4]})"), HasSubstr("no count"));
    EXPECT_THAT(with(R"({"dtype":"F32","shape":[1],"data_offsets":[0]})"), HasSubstr("no pair"));
    EXPECT_THAT(with(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4,8]})"), HasSubstr("no pair"));
    EXPECT_THAT(with(R"({"dtype":"F32","shape":[1],"data_offsets":4})"), HasSubstr("no pair"));
    EXPECT_THAT(with(R"({"dtype":"F32","shape":[1],"data_offsets":[0,null]})"), HasSubstr("no count"));
}

TEST(SafetensorsHeader, RefusesWrongOffsets)
{
    const auto with = [](const std::string& shape, const std::string& offsets, std::uint64_t bytes) {
        return complaint("{" + entry("w", "F32", shape, offsets) + "}", bytes);
    };
    EXPECT_THAT(with("[2]", "[0,8]", 7), HasSubstr("truncated"));
    EXPECT_THAT(with("[1]", "[4,0]", 4), HasSubstr("[4, 0]"));
    EXPECT_THAT(with("[2]", "[0,4]", 4), HasSubstr("4 bytes where its shape and dtype need 8"));
    EXPECT_THAT(with("[1]", "[4,8]", 8), HasSubstr("hole"));
    EXPECT_THAT(with("[1]", "[0,4]", 8), HasSubstr("end at byte 4"));
    EXPECT_THAT(with("[1]", "[18446744073709551612,18446744073709551616]", 8), HasSubstr("no count"));
    EXPECT_THAT(with("[1]", "[18446744073709551611,18446744073709551615]", 8), HasSubstr("do not lie"));
}

TEST(SafetensorsHeader, RefusesOverlappingTensors)
{
    const std::string json =
        "{" + entry("a", "F32", "[2]", "[0,8]") + "," + entry("b", "F32", "[2]", "[4,12]") + "}";
    EXPECT_THAT(complaint(json, 12), HasSubstr("overlap"));
    EXPECT_THAT(
        complaint("{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("b", "F32", "[1]", "[0,4]") + "}", 4),
        HasSubstr("overlap"));
}

TEST(SafetensorsHeader, RefusesSizesThatOverflow)
{
    EXPECT_THAT(complaint("{" + entry("a", "F32", "[4294967296,4294967296]", "[0,0]") + "}", 0),
                HasSubstr("2^63 - 1"));
    EXPECT_THAT(complaint("{" + entry("a", "F32", "[9223372036854775807]", "[0,0]") + "}", 0),
                HasSubstr("2^63 - 1"));
    EXPECT_THAT(complaint("{" + entry("a", "F32", "[18446744073709551615]", "[0,0]") + "}", 0),
                HasSubstr("2^63 - 1"));
    // Strides would overflow, also of an empty tensor.
    EXPECT_THAT(complaint("{" + entry("a", "F32", "[0,9223372036854775807,8]", "[0,0]") + "}", 0),
                HasSubstr("2^63 - 1"));
    EXPECT_EQ(entries_of("{" + entry("a", "F32", "[0,2147483647,8]", "[0,0]") + "}", 0).size(), 1u);
}

TEST(SafetensorsHeader, RefusesNamesThatComeTwice)
{
    EXPECT_THAT(
        complaint("{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("a", "U8", "[1]", "[1,2]") + "}", 2),
        HasSubstr("(a) comes twice"));
    EXPECT_THAT(complaint(R"({"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1),
                HasSubstr("(dtype) comes twice"));
    EXPECT_THAT(complaint(R"({"__metadata__":{},"__metadata__":{}})", 0), HasSubstr("comes twice"));
    // The same key in two objects is no repetition.
    EXPECT_EQ(entries_of("{" + entry("dtype", "U8", "[1]", "[0,1]") + "," +
                             entry("shape", "U8", "[1]", "[1,2]") + "}",
                         2)
                  .size(),
              2u);
}

TEST(SafetensorsHeader, RefusesMetadataThatIsNoText)
{
    EXPECT_THAT(complaint(R"({"__metadata__":{"steps":3}})", 0), HasSubstr("__metadata__"));
    EXPECT_THAT(complaint(R"({"__metadata__":[]})", 0), HasSubstr("__metadata__"));
}

TEST(SafetensorsHeader, KeepsMetadata)
{
    std::vector<TensorEntry> entries{{"t", DType::u8, {1}, 0, 0}};
    const std::map<std::string, std::string> metadata{{"format", "pt"}, {"note", "\xc3\xa9"}};
    EXPECT_EQ(io::parse_header(io::make_header(entries, metadata), 1, "f").metadata, metadata);
}

// Whatever the bytes are, the result is an error of the file, or tensors that lie in it.
TEST(SafetensorsHeader, SurvivesWrongBytes)
{
    std::vector<TensorEntry> entries{{"w", DType::f32, {2, 1}, 0, 0}, {"b", DType::u8, {3}, 0, 0}};
    const std::string header = io::make_header(entries, {{"format", "pt"}});
    const std::string whole =
        static_cast<char>(header.size()) + std::string(7, '\0') + header + "12345678abc";
    std::size_t accepted = 0;
    const auto attempt = [&](const std::string& content) {
        // The copy ends where its memory ends, so that the address sanitizer finds a read beyond it.
        const auto memory = std::make_unique<std::byte[]>(content.size());
        std::memcpy(memory.get(), content.data(), content.size());
        try {
            for (const auto& [name, t] : io::read_safetensors({memory.get(), content.size()}, "f").tensors)
                EXPECT_TRUE(t.bytes.data() >= memory.get() &&
                            t.bytes.data() + t.bytes.size() <= memory.get() + content.size());
            ++accepted;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::file) << error.what();
        }
    };
    test::each_wrong_content(whole, 5000, attempt);
    EXPECT_GT(accepted, 100u);
}

TEST(SafetensorsIndex, ReadsWhatItWrites)
{
    const io::WeightMap files{{"a", "m-00001-of-00002.safetensors"}, {"b", "m-00002-of-00002.safetensors"}};
    const std::string index = io::make_index(files, 12);
    EXPECT_EQ(io::parse_index(index, "f"), files);
    EXPECT_THAT(index, HasSubstr("\"total_size\": 12"));
}

TEST(SafetensorsIndex, NamesWhatIsWrong)
{
    const struct {
        const char* json;
        const char* part;
    } rows[] = {
        {"", "no JSON"},
        {"[]", "without a weight_map"},
        {"{}", "without a weight_map"},
        {R"({"weight_map":[]})", "weight_map is no object of texts"},
        {R"({"weight_map":{"a":1}})", "weight_map is no object of texts"},
        {R"({"weight_map":{"a":"x","a":"y"}})", "(a) comes twice"},
        {R"({"weight_map":{"a":""}})", "(a) in ()"},
        {R"({"weight_map":{"a":".."}})", "(a) in (..)"},
        {R"({"weight_map":{"a":"../x.safetensors"}})", "(a) in (../x.safetensors)"},
        {R"({"weight_map":{"a":"/etc/x.safetensors"}})", "(a) in (/etc/x.safetensors)"},
        {R"({"weight_map":{"a":"sub/x.safetensors"}})", "(a) in (sub/x.safetensors)"},
    };
    for (const auto& row : rows) {
        const Caught caught = error_of([&] { return io::parse_index(row.json, "net.index.json"); });
        EXPECT_EQ(caught.kind, ErrorKind::file) << row.json;
        EXPECT_THAT(caught.text, HasSubstr("(net.index.json)"));
        EXPECT_THAT(caught.text, HasSubstr(row.part));
    }
}

TEST(SafetensorsHeader, RefusesToWriteANameThatIsNoText)
{
    std::vector<TensorEntry> entries{{"\xff", DType::f32, {1}, 0, 0}};
    const Caught caught = error_of([&] { return io::make_header(entries); });
    EXPECT_EQ(caught.kind, ErrorKind::argument);
    EXPECT_THAT(caught.text, HasSubstr("UTF-8"));
}

} // namespace
