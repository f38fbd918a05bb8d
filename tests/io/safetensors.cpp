// Tensors through files, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include <reprise/reprise.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;

using Tensors = std::map<std::string, Tensor>;

std::vector<std::byte> bytes(const std::vector<int>& values)
{
    std::vector<std::byte> out;
    for (const int v : values) out.push_back(static_cast<std::byte>(v));
    return out;
}

// The device under test, or the reference for element types that it does not take.
Device device_for(DType dtype)
{
    try {
        zeros({1}, {.dtype = dtype}).eval();
        return default_device();
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
        return Device("reference");
    }
}

struct SafetensorsTest : testing::Test {
    Scratch scratch;
    std::filesystem::path path = scratch / "t.safetensors";

    std::string complaint(const std::string& content)
    {
        write_text(path, content);
        const Caught caught = error_of([&] { load_safetensors(path); });
        EXPECT_EQ(caught.kind, ErrorKind::file) << caught.text;
        EXPECT_THAT(caught.text, HasSubstr(path_text(path)));
        return caught.text;
    }
};

TEST_F(SafetensorsTest, WritesWhatTheFormatSays)
{
    save_safetensors(path,
                     {{"w", from_vector<float>({1, -2}, {2, 1})}, {"n", from_vector<std::int32_t>({7}, {})}});
    std::string header = R"({"n":{"dtype":"I32","shape":[],"data_offsets":[0,4]},)"
                         R"("w":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]}})";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    std::string expected(1, static_cast<char>(header.size()));
    expected += std::string(7, '\0') + header + std::string("\x07\0\0\0\0\0\x80\x3f\0\0\0\xc0", 12);
    EXPECT_EQ(read_text(path), expected);
    EXPECT_EQ(scratch.files(), 1u);
}

TEST_F(SafetensorsTest, EveryDtypeComesBackByteForByte)
{
    std::vector<int> pattern(48), flags(48);
    std::iota(pattern.begin(), pattern.end(), 1);
    for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = i % 3 == 0;
    for (const DType dtype : {f32, f16, bf16, f64, i32, i64, i16, i8, u8, boolean}) {
        const Device device = device_for(dtype);
        const std::vector<std::byte> content = bytes(dtype == boolean ? flags : pattern);
        const Shape shape{2, static_cast<long long>(24 / size_of(dtype))};
        save_safetensors(path, {{"t", from_bytes(content, shape, {.dtype = dtype, .device = device})}});
        const Tensor t = load_safetensors(path, device).at("t");
        EXPECT_EQ(t.dtype(), dtype);
        EXPECT_EQ(t.shape(), shape) << name_of(dtype);
        EXPECT_EQ(to_bytes(t), content) << name_of(dtype);
        EXPECT_EQ(read_text(path).substr(read_text(path).size() - 48),
                  std::string(reinterpret_cast<const char*>(content.data()), 48));
    }
    const std::vector<std::int64_t> wide{-3, 1, 2147483647, 3000000000, std::int64_t{-1} << 62};
    save_safetensors(path, {{"t", from_vector(wide, {5})}});
    EXPECT_EQ(load_safetensors(path).at("t").to_vector<std::int64_t>(), wide);
}

TEST_F(SafetensorsTest, WhatTheDeviceLacksIsNamed)
{
    const Device reference("reference");
    save_safetensors(path,
                     {{"fine", ones({2})}, {"layer.wide", ones({2}, {.dtype = f64, .device = reference})}});
    EXPECT_EQ(load_safetensors(path, reference).size(), 2u);
    if (device_for(f64) == default_device()) return;
    const Caught refused = error_of([&] { return load_safetensors(path); });
    EXPECT_EQ(refused.kind, ErrorKind::unsupported);
    for (const char* part : {"[load_safetensors]", "(layer.wide)", "has no f64 arithmetic"})
        EXPECT_THAT(refused.text, testing::HasSubstr(part));
    EXPECT_THAT(refused.text, testing::HasSubstr(path_text(path)));
}

TEST_F(SafetensorsTest, SeveralDtypesInOneFile)
{
    const Tensors tensors{{"a", from_vector<std::int32_t>({-1, 5}, {2})},
                          {"b", cast(from_vector<float>({1.5, -2, 3}, {3}), f16)},
                          {"c", from_vector(std::vector<bool>{true, false, true}, {3})},
                          {"d", randn({3, 5})}};
    save_safetensors(path, tensors);
    const Tensors loaded = load_safetensors(path);
    ASSERT_EQ(loaded.size(), tensors.size());
    for (const auto& [name, tensor] : tensors) {
        EXPECT_EQ(loaded.at(name).dtype(), tensor.dtype()) << name;
        EXPECT_EQ(loaded.at(name).shape(), tensor.shape()) << name;
        EXPECT_EQ(to_bytes(loaded.at(name)), to_bytes(tensor)) << name;
    }
}

// All bit patterns but the signalling NaNs, which reading as float may quiet.
TEST_F(SafetensorsTest, HalfsKeepTheirBits)
{
    for (const DType dtype : {f16, bf16}) {
        std::vector<std::uint16_t> bits;
        for (std::uint32_t b = 0; b < 65536; ++b) {
            const std::uint32_t exponent = dtype == f16 ? 0x7c00 : 0x7f80;
            const bool nan = (b & exponent) == exponent && (b & ~exponent & 0x7fff) != 0;
            if (!nan) bits.push_back(static_cast<std::uint16_t>(b));
        }
        const auto raw = std::as_bytes(std::span<const std::uint16_t>(bits));
        const Tensor t = from_bytes(raw, {static_cast<long long>(bits.size())},
                                    {.dtype = dtype, .device = device_for(dtype)});
        const auto back = to_bytes(t);
        ASSERT_EQ(back.size(), raw.size());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < back.size(); ++i) wrong += back[i] != raw[i];
        EXPECT_EQ(wrong, 0u) << name_of(dtype);
    }
}

TEST_F(SafetensorsTest, EmptyTensorsAndEmptyFiles)
{
    save_safetensors(path, {});
    EXPECT_TRUE(load_safetensors(path).empty());
    save_safetensors(path, {{"e", zeros({3, 0})}});
    EXPECT_EQ(load_safetensors(path).at("e").shape(), (Shape{3, 0}));
}

TEST_F(SafetensorsTest, ViewsAreWrittenRowMajor)
{
    const Tensor t = from_vector<float>({1, 2, 3, 4, 5, 6}, {2, 3});
    save_safetensors(path, {{"t", t.t()}, {"n", t.narrow(1, 1, 2)}, {"e", full({1}, 7).expand({2})}});
    const Tensors loaded = load_safetensors(path);
    EXPECT_THAT(loaded.at("t").to_vector<float>(), ElementsAre(1, 4, 2, 5, 3, 6));
    EXPECT_THAT(loaded.at("n").to_vector<float>(), ElementsAre(2, 3, 5, 6));
    EXPECT_THAT(loaded.at("e").to_vector<float>(), ElementsAre(7, 7));
}

TEST_F(SafetensorsTest, LoadsOnAGivenDevice)
{
    save_safetensors(path, {{"t", ones({2})}});
    const Device reference("reference");
    EXPECT_EQ(load_safetensors(path, reference).at("t").device(), reference);
    EXPECT_EQ(load_safetensors(path).at("t").device(), default_device());
}

TEST_F(SafetensorsTest, CarriesAModuleAndItsOptimizer)
{
    nn::Linear net(3, 2), other(3, 2);
    optim::Adam adam(net.parameters());
    net(ones({1, 3})).sum().backward();
    adam.step();
    save_safetensors(path, net.state_dict());
    other.load_state_dict(load_safetensors(path));
    EXPECT_EQ(other.weight.to_vector<float>(), net.weight.to_vector<float>());
    save_safetensors(path, adam.state_dict());
    optim::Adam again(other.parameters());
    again.load_state_dict(load_safetensors(path));
    EXPECT_EQ(again.state_dict().at("1.exp_avg").to_vector<float>(),
              adam.state_dict().at("1.exp_avg").to_vector<float>());
}

TEST_F(SafetensorsTest, AFailedSaveLeavesTheOldFile)
{
    save_safetensors(path, {{"t", ones({2})}});
    const std::string before = read_text(path);
    EXPECT_EQ(error_of([&] { save_safetensors(path, {{"t", Tensor()}}); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([&] {
                  save_safetensors(path, {{"__metadata__", ones({1})}});
              }).kind,
              ErrorKind::argument);
    EXPECT_EQ(error_of([&] { save_safetensors(path, {{"\xff", ones({1})}}); }).kind, ErrorKind::argument);
    EXPECT_EQ(read_text(path), before);
    EXPECT_EQ(scratch.files(), 1u);
    EXPECT_EQ(error_of([&] {
                  save_safetensors(scratch / "no" / "t", {{"t", ones({1})}});
              }).kind,
              ErrorKind::file);
}

TEST_F(SafetensorsTest, RefusesTruncationAtEveryByte)
{
    save_safetensors(path, {{"w", from_vector<float>({1, 2}, {2})}});
    const std::string whole = read_text(path);
    for (std::size_t length = 0; length < whole.size(); ++length) complaint(whole.substr(0, length));
    EXPECT_THAT(complaint(whole + "x"), HasSubstr("end at byte 8"));
}

TEST_F(SafetensorsTest, RefusesWrongLengths)
{
    EXPECT_THAT(complaint("1234567"), HasSubstr("fewer than the 8"));
    EXPECT_THAT(complaint(std::string("\x03\0\0\0\0\0\0\0{}", 10)),
                HasSubstr("should have 3 bytes, but only 2"));
    EXPECT_THAT(complaint(std::string(8, '\xff') + "{}"), HasSubstr("18446744073709551615"));
    EXPECT_THAT(complaint(std::string(8, '\0') + "{}"), HasSubstr("does not start with {"));
}

TEST_F(SafetensorsTest, RefusesMissingFilesAndFolders)
{
    for (const auto& where : {scratch / "nothing", scratch.path()}) {
        const Caught caught = error_of([&] { load_safetensors(where); });
        EXPECT_EQ(caught.kind, ErrorKind::file);
        EXPECT_THAT(caught.text, HasSubstr("can't be opened"));
    }
}

// As the Python package safetensors 0.8 writes {"a": bf16 [2], "b": f64 [1]} with {"format": "pt"}.
TEST_F(SafetensorsTest, ReadsAFileOfThePythonPackage)
{
    std::string header =
        R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},)"
        R"("a":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]}})";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    std::string content(1, static_cast<char>(header.size()));
    content += std::string(7, '\0') + header + std::string("\0\0\0\0\0\0\xf8\x3f\x80\x3f\x00\xc0", 12);
    write_text(path, content);
    const Tensors loaded = load_safetensors(path, device_for(f64));
    EXPECT_EQ(loaded.at("b").item<double>(), 1.5);
    EXPECT_THAT(loaded.at("a").to_vector<float>(), ElementsAre(1, -2));
}

} // namespace
