// Models in safetensors files, in shards and in GGUF files, loaded tensor by tensor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include <reprise/reprise.hpp>

#include "io/gguf_text.hpp"
#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path models = std::filesystem::path(REPRISE_SOURCE_DIR) / "tests/io/models";

std::vector<std::string> names_in(const ModelFile& file)
{
    std::vector<std::string> out;
    for (const auto& [name, tensor] : file.tensors()) out.push_back(name);
    return out;
}

// An index for files in the folder of the scratch.
std::string index_of(const std::map<std::string, std::string>& files)
{
    std::string out;
    for (const auto& [name, file] : files) out += (out.empty() ? "\"" : ",\"") + name + "\":\"" + file + "\"";
    return "{\"weight_map\":{" + out + "}}";
}

TEST(ModelFile, ReadsASafetensorsFileWhereAsked)
{
    const Scratch scratch;
    const auto path = scratch / "net.safetensors";
    save_safetensors(path, {{"w", from_vector<float>({1, -2, 3, 4.5}, {2, 2})}, {"n", full({1}, 7, i32)}},
                     {.metadata = {{"format", "pt"}}});
    const ModelFile file(path);
    EXPECT_THAT(names_in(file), ElementsAre("n", "w"));
    EXPECT_EQ(file.path(), path);
    EXPECT_EQ(file.at("w").shape, (Shape{2, 2}));
    EXPECT_EQ(to_string(file.at("w").type), "f32");
    EXPECT_EQ(file.at("w").bytes.size(), 16u);
    EXPECT_EQ(file.metadata("format").to_text(), "pt");

    EXPECT_THAT(file.load("w").to_vector<float>(), ElementsAre(1, -2, 3, 4.5));
    EXPECT_EQ(file.load("w").device(), default_device());
    const Tensor half = file.load("w", {.dtype = f16, .requires_grad = true});
    EXPECT_EQ(half.dtype(), f16);
    EXPECT_TRUE(half.requires_grad() && half.is_leaf());
    EXPECT_THAT(half.to_vector<float>(), ElementsAre(1, -2, 3, 4.5));
    const Device reference("reference");
    EXPECT_EQ(file.load("w", {.device = reference}).device(), reference);
    EXPECT_THAT(file.load("n", {.dtype = f32}).to_vector<float>(), ElementsAre(7));
}

TEST(ModelFile, CopiesKeepTheBytes)
{
    const Scratch scratch;
    save_safetensors(scratch / "net.safetensors", {{"w", full({3}, 2, u8)}});
    std::optional<ModelFile> first(scratch / "net.safetensors");
    const ModelFile copy = *first;
    const std::span<const std::byte> bytes = first->at("w").bytes;
    first.reset();
    EXPECT_THAT(bytes, ElementsAre(std::byte{2}, std::byte{2}, std::byte{2}));
    EXPECT_EQ(copy.at("w").bytes.data(), bytes.data());
}

TEST(ModelFile, CastsWhatTheDeviceLacksOnTheHost)
{
    const Scratch scratch;
    const auto path = scratch / "net.safetensors";
    save_safetensors(path, {{"w", full({2}, 0.5, {.dtype = f64, .device = Device("reference")})}});
    EXPECT_THAT(ModelFile(path).load("w", {.dtype = f32}).to_vector<float>(), ElementsAre(0.5, 0.5));
}

TEST(ModelFile, ErrorsNameFileAndTensor)
{
    const Scratch scratch;
    save_safetensors(scratch / "net.safetensors", {{"w", ones({2})}});
    const ModelFile file(scratch / "net.safetensors");
    const Caught rows[] = {error_of([&] { return file.at("v"); }), error_of([&] { return file.load("v"); }),
                           error_of([&] { return file.load_blocks("v"); }),
                           error_of([&] { return file.metadata("v"); })};
    for (const Caught& caught : rows) {
        EXPECT_EQ(caught.kind, ErrorKind::argument);
        EXPECT_THAT(caught.text, HasSubstr("net.safetensors"));
        EXPECT_THAT(caught.text, HasSubstr("(v)"));
    }
    EXPECT_EQ(error_of([&] { return file.load_blocks("w"); }).kind, ErrorKind::dtype);
    for (const auto& path : {scratch / "none.gguf", scratch / "none.safetensors", scratch.path()}) {
        const Caught caught = error_of([&] { return ModelFile(path).path(); });
        EXPECT_EQ(caught.kind, ErrorKind::file);
        EXPECT_THAT(caught.text, HasSubstr("can't be opened"));
    }
    write_text(scratch / "empty.gguf", "");
    EXPECT_THAT(error_of([&] { return ModelFile(scratch / "empty.gguf").path(); }).text,
                HasSubstr("it has 0 bytes"));
}

TEST(ModelFile, ReadsAGgufFile)
{
    const Scratch scratch;
    using namespace gguf_text;
    write_text(scratch / "net.gguf",
               file({value("general.name", type::string, text("net"))},
                    {entry("w", {2, 1}, 0, 0), entry("q", {32, 2, 3}, 8, 32)},
                    le(1.5f) + le(-2.f) + std::string(24, '\0') + std::string(6 * 34, 'x')));
    const ModelFile model(scratch / "net.gguf");
    EXPECT_EQ(model.metadata("general.name").to_text(), "net");
    EXPECT_EQ(model.load("w").shape(), (Shape{1, 2}));
    EXPECT_THAT(model.load("w").to_vector<float>(), ElementsAre(1.5, -2));
    const Tensor blocks = model.load_blocks("q");
    EXPECT_EQ(blocks.dtype(), u8);
    EXPECT_EQ(blocks.shape(), (Shape{3, 2, 34}));
    EXPECT_THAT(blocks.to_vector<std::uint8_t>(), testing::Each('x'));
    const Caught caught = error_of([&] { return model.load("q", {.dtype = f32}); });
    EXPECT_EQ(caught.kind, ErrorKind::dtype);
    for (const char* part : {"(q)", "(q8_0)", "load_blocks()", "net.gguf"})
        EXPECT_THAT(caught.text, HasSubstr(part));
    EXPECT_THAT(error_of([&] { load_safetensors(scratch / "net.gguf"); }).text, HasSubstr("is a GGUF file"));
}

// ---- files of the official packages: scripts/make_model_fixtures.py ----

TEST(ModelFile, ReadsEveryTypeOfTheOfficialGgufWriter)
{
    const ModelFile file(models / "types.gguf");
    const auto expected = [&](const char* name, DType dtype, const Shape& shape) {
        EXPECT_EQ(file.at(name).type, StoredType(dtype)) << name;
        const Tensor t = file.load(name, {.device = Device("reference")});
        EXPECT_EQ(t.shape(), shape) << name;
        std::vector<double> values(static_cast<std::size_t>(t.numel().value()));
        std::iota(values.begin(), values.end(), -3);
        EXPECT_EQ(t.to(f64).to_vector<double>(), values) << name;
    };
    const std::pair<const char*, DType> rows[] = {{"float32", f32}, {"float16", f16}, {"float64", f64},
                                                  {"int8", i8},     {"int16", i16},   {"int32", i32},
                                                  {"int64", i64}};
    for (const auto& [name, dtype] : rows) expected(name, dtype, {2, 3, 4});
    expected("bfloat16", bf16, {5});
    const std::tuple<const char*, BlockType, Shape> blocks[] = {{"Q8_0", BlockType::q8_0, {3, 68}},
                                                                {"Q4_0", BlockType::q4_0, {3, 36}},
                                                                {"Q4_K", BlockType::q4_k, {3, 288}}};
    for (const auto& [name, type, shape] : blocks) {
        EXPECT_EQ(file.at(name).type, StoredType(type)) << name;
        EXPECT_EQ(file.load_blocks(name).shape(), shape) << name;
    }
    // A block of q8_0 is an f16 scale and 32 i8: the first row begins with -1 and the scale is 1 / 127.
    EXPECT_EQ(std::to_integer<int>(file.at("Q8_0").bytes[2]), 256 - 127);
    EXPECT_EQ(file.load_blocks("Q4_K").to_vector<std::uint8_t>()[300], 300 % 251);
}

TEST(ModelFile, LoadsMatricesThatProductsTakeAsTheyAre)
{
    const ModelFile file(models / "types.gguf");
    for (const auto& [name, bound] : {std::pair{"Q8_0", 1.0 / 127}, std::pair{"Q4_0", 1.0 / 7}}) {
        const QuantizedTensor q = file.load_quantized(name);
        EXPECT_EQ(q.shape(), (Shape{3, 64}));
        const auto values = dequantize(q).to_vector<float>();
        for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_NEAR(values[i], static_cast<double>(i) / 64 - 1, bound) << name << ' ' << i;
    }
    EXPECT_EQ(file.load_quantized("Q4_K").shape(), (Shape{3, 512}));
    const Caught caught = error_of([&] { return file.load_quantized("float32").shape(); });
    EXPECT_EQ(caught.kind, ErrorKind::dtype);
    EXPECT_THAT(caught.text, HasSubstr("The tensor (float32) of the file"));
    EXPECT_THAT(caught.text, HasSubstr("has the type (f32), but products take q8_0, q4_0 and q4_k"));
}

TEST(ModelFile, ReadsEveryValueOfTheOfficialGgufWriter)
{
    const ModelFile file(models / "types.gguf");
    const std::pair<const char*, std::int64_t> integers[] = {{"u8", 200},
                                                             {"i8", -100},
                                                             {"u16", 60000},
                                                             {"i16", -30000},
                                                             {"u32", 4000000000},
                                                             {"i32", -2000000000},
                                                             {"i64", -(std::int64_t{1} << 62)}};
    for (const auto& [key, value] : integers) EXPECT_EQ(file.metadata(key).to_int(), value) << key;
    EXPECT_EQ(std::get<std::uint64_t>(file.metadata("u64").value), (std::uint64_t{1} << 63) + 1);
    EXPECT_THAT(error_of([&] { return file.metadata("u64").to_int(); }).text,
                HasSubstr("9223372036854775809"));
    EXPECT_EQ(file.metadata("f32").to_double(), 0.5);
    EXPECT_EQ(file.metadata("f64").to_double(), 0.1);
    EXPECT_TRUE(file.metadata("bool").to_bool());
    EXPECT_EQ(file.metadata("text").to_text(), "Gr\xc3\xbc\xc3\x9f"
                                               "e");
    EXPECT_EQ(file.metadata("general.architecture").to_text(), "test");
    EXPECT_EQ(file.metadata("texts").to_list().at(2).to_text(), "bc");
    EXPECT_EQ(file.metadata("integers").to_list().at(1).to_int(), -2);
    EXPECT_EQ(file.metadata("numbers").to_list().at(1).to_double(), -1.5);
}

TEST(ModelFile, ReadsShardsOfTheOfficialWriter)
{
    for (const auto& path : {models / "shards", models / "shards" / "model.safetensors.index.json"}) {
        const ModelFile file(path);
        EXPECT_THAT(names_in(file), ElementsAre("a.bias", "a.weight", "b.weight"));
        EXPECT_THAT(file.load("a.weight").to_vector<float>(), ElementsAre(-3, -2, -1, 0, 1, 2));
        EXPECT_THAT(file.load("b.weight").to_vector<std::int64_t>(), ElementsAre(-3, -2, -1, 0));
        EXPECT_EQ(file.metadata("format").to_text(), "pt");
        EXPECT_EQ(load_safetensors(path).size(), 3u);
    }
}

// ---- shards ----

TEST(Shards, AreWrittenAndReadBack)
{
    const Scratch scratch;
    std::map<std::string, Tensor> tensors;
    for (int i = 0; i < 5; ++i) tensors.emplace("t" + std::to_string(i), full({4}, i));
    tensors.emplace("big", full({100}, 9));
    save_safetensors(scratch / "model.safetensors", tensors, {.max_shard_bytes = 40});
    EXPECT_EQ(scratch.files(), 5u); // big, t0 and t1, t2 and t3, t4; the index
    for (const char* name : {"model-00001-of-00004.safetensors", "model-00004-of-00004.safetensors"})
        EXPECT_TRUE(std::filesystem::exists(scratch / name)) << name;
    EXPECT_EQ(load_safetensors(scratch / "model-00002-of-00004.safetensors").size(), 2u);
    const auto loaded = load_safetensors(scratch.path());
    ASSERT_EQ(loaded.size(), tensors.size());
    for (const auto& [name, tensor] : tensors) EXPECT_EQ(to_bytes(loaded.at(name)), to_bytes(tensor)) << name;

    save_safetensors(scratch / "model.safetensors", tensors, {.max_shard_bytes = 1000});
    EXPECT_EQ(load_safetensors(scratch / "model.safetensors").size(), tensors.size());
    EXPECT_THAT(error_of([&] { load_safetensors(scratch.path()); }).text, HasSubstr("has both"));
}

TEST(Shards, AnUndefinedTensorIsRefusedBeforeAFileIsWritten)
{
    const Scratch scratch;
    EXPECT_EQ(error_of([&] {
                  save_safetensors(scratch / "m.safetensors", {{"a", ones({4})}, {"b", Tensor()}},
                                   {.max_shard_bytes = 1});
              }).kind,
              ErrorKind::argument);
    EXPECT_EQ(scratch.files(), 0u);
}

TEST(Shards, NameWhatIsWrong)
{
    const Scratch scratch;
    const auto index = scratch / "model.safetensors.index.json";
    save_safetensors(scratch / "one", {{"a", ones({1})}, {"b", ones({1})}});
    save_safetensors(scratch / "two", {{"b", ones({1})}, {"c", ones({1})}});
    const struct {
        std::map<std::string, std::string> files;
        std::vector<const char*> parts;
    } rows[] = {
        {{{"a", "one"}, {"d", "gone"}}, {"(gone)", "is missing"}},
        {{{"a", "one"}, {"d", "one"}}, {"(d) in the file (one)", "does not contain it"}},
        {{{"a", "one"}, {"c", "two"}}, {"(b) is in two files", "in (one) and in (two)"}},
        {{{"a", "../one"}}, {"(a) in (../one)"}},
        {{{"a", "model.safetensors.index.json"}}, {"no valid safetensors file"}},
    };
    for (const auto& row : rows) {
        write_text(index, index_of(row.files));
        const Caught caught = error_of([&] { return ModelFile(index).path(); });
        EXPECT_EQ(caught.kind, ErrorKind::file);
        EXPECT_THAT(caught.text, HasSubstr(path_text(index)));
        for (const char* part : row.parts) EXPECT_THAT(caught.text, HasSubstr(part));
    }
    write_text(index, index_of({{"c", "two"}})); // b of the file counts, too
    EXPECT_THAT(names_in(ModelFile(index)), ElementsAre("b", "c"));
}

} // namespace
