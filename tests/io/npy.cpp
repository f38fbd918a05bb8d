// NumPy's arrays and archives.  The bytes below were written by NumPy 2.4.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <reprise/reprise.hpp>

#include "io/scratch.hpp"
#include "io/wrong_bytes.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;

// numpy.savez(a=[[0, 1, 2], [3, 4, 5]] in Fortran's order, b=[True, False])
constexpr const char* stored_archive =
    "504b03042d000000000000002100ce2ce0d3ffffffffffffffff05001400612e6e7079010010009800000000"
    "0000009800000000000000934e554d5059010076007b276465736372273a20273c6634272c2027666f727472"
    "616e5f6f72646572273a20547275652c20277368617065273a2028322c2033292c207d202020202020202020"
    "2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "2020202020200a00000000000040400000803f00008040000000400000a040504b03042d0000000000000021"
    "00ee19bb5dffffffffffffffff05001400622e6e70790100100082000000000000008200000000000000934e"
    "554d5059010076007b276465736372273a20277c6231272c2027666f727472616e5f6f72646572273a204661"
    "6c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020200a0100504b0102"
    "2d032d000000000000002100ce2ce0d39800000098000000050000000000000000000000800100000000612e"
    "6e7079504b01022d032d000000000000002100ee19bb5d820000008200000005000000000000000000000080"
    "01cf000000622e6e7079504b0506000000000200020066000000880100000000";
// numpy.savez_compressed(a=zeros((4, 8), "f4"), s=7)
constexpr const char* deflated_archive =
    "504b03042d000000080000002100fc4ad960ffffffffffffffff05001400612e6e7079010010000001000000"
    "00000049000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f5452"
    "9498179f5f94920a12774bcc294e058a17672416a402f91a263a0a169a3a0ab50a64032e86010600504b0304"
    "2d00000008000000210023b8f06cffffffffffffffff05001400732e6e707901001000880000000000000046"
    "000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f54529498179f"
    "5f94920a12774bcc294e058a17672416a402f91a9a3a0ab50a14012e7606080000504b01022d032d00000008"
    "0000002100fc4ad9604900000000010000050000000000000000000000800100000000612e6e7079504b0102"
    "2d032d00000008000000210023b8f06c4600000088000000050000000000000000000000800180000000732e"
    "6e7079504b0506000000000200020066000000fd0000000000";

std::string from_hex(const std::string& hex)
{
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

std::string array(const std::string& header, const std::string& data)
{
    std::string text = header;
    text.resize(117, ' ');
    return std::string("\x93NUMPY\1\0v\0", 10) + text + "\n" + data;
}

// The device under test, or the reference for dtypes that it does not hold.
Device holder(DType dtype)
{
    try {
        zeros({1}, {.dtype = dtype});
        return default_device();
    } catch (const Error&) {
        return Device("reference");
    }
}

template <class F> Error error_of_file(const F& f)
{
    try {
        f();
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "no error";
    return {ErrorKind::internal, ""};
}

TEST(Npy, HasTheHeaderOfNumPy)
{
    const Scratch scratch;
    save_npy(scratch / "a.npy", tensor({1., 2.}));
    const std::string two("\0\0\x80\x3f\0\0\0\x40", 8);
    EXPECT_EQ(read_text(scratch / "a.npy"),
              array("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", two));
    save_npy(scratch / "b.npy", zeros({0, 3}, u8));
    EXPECT_EQ(read_text(scratch / "b.npy"),
              array("{'descr': '|u1', 'fortran_order': False, 'shape': (0, 3), }", ""));
    save_npy(scratch / "c.npy", full({}, 1, boolean));
    EXPECT_EQ(read_text(scratch / "c.npy"),
              array("{'descr': '|b1', 'fortran_order': False, 'shape': (), }", "\1"));
}

TEST(Npy, ReturnsAllDtypes)
{
    const Scratch scratch;
    for (const DType dtype : {f32, f64, f16, i64, i32, i16, i8, u8, boolean}) {
        const Device device = holder(dtype);
        const Tensor x = tensor({{0., 1., 2.}, {3., 1., 0.}}).to(device).to(dtype);
        save_npy(scratch / "x.npy", x);
        const Tensor y = load_npy(scratch / "x.npy", device);
        EXPECT_EQ(y.dtype(), dtype);
        EXPECT_TRUE(equal(x, y)) << dtype;
        for (const bool compressed : {false, true}) {
            save_npz(scratch / "x.npz", {{"x", x}, {"y/z", x}}, compressed);
            const auto all = load_npz(scratch / "x.npz", device);
            ASSERT_EQ(all.size(), 2u);
            EXPECT_TRUE(equal(all.at("y/z"), x)) << dtype;
        }
    }
    EXPECT_EQ(error_of_file([&] { save_npy(scratch / "b.npy", zeros({1}, bf16)); }).kind(), ErrorKind::dtype);
}

TEST(Npy, ReadsFortransOrderAndBigEndianNumbers)
{
    const Scratch scratch;
    write_text(scratch / "x.npy", array("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }",
                                        std::string("\0\1\0\4\0\2\0\5\0\3\1\0", 12)));
    const Tensor x = load_npy(scratch / "x.npy", Device("reference"));
    EXPECT_TRUE(same(x.shape(), Shape{2, 3}));
    EXPECT_THAT(x.to(i32).to_vector<int>(), ElementsAre(1, 2, 3, 4, 5, 256));
}

TEST(Npy, ReadsArchivesOfNumPy)
{
    const Scratch scratch;
    write_text(scratch / "stored.npz", from_hex(stored_archive));
    const auto stored = load_npz(scratch / "stored.npz");
    ASSERT_EQ(stored.size(), 2u);
    EXPECT_TRUE(same(stored.at("a").shape(), Shape{2, 3}));
    EXPECT_THAT(stored.at("a").to_vector<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(stored.at("b").to(i32).to_vector<int>(), ElementsAre(1, 0));
    write_text(scratch / "deflated.npz", from_hex(deflated_archive));
    const auto deflated = load_npz(scratch / "deflated.npz", Device("reference"));
    EXPECT_TRUE(equal(deflated.at("a"), zeros({4, 8}, {.device = Device("reference")})));
    EXPECT_EQ(deflated.at("s").item<std::int64_t>(), 7);
}

// Two entries of the directory name the same data.
TEST(Npy, RefusesEntriesThatShareData)
{
    const Scratch scratch;
    std::string bytes = from_hex(stored_archive);
    constexpr std::size_t second =
        0x188 + 46 + 5 + 42; // where the directory has the offset of the second entry
    for (std::size_t i = 0; i < 4; ++i) bytes[second + i] = '\0';
    write_text(scratch / "x.npz", bytes);
    const Error error = error_of_file([&] { load_npz(scratch / "x.npz"); });
    EXPECT_EQ(error.kind(), ErrorKind::file);
    EXPECT_THAT(error.what(), HasSubstr("have the same data"));
}

TEST(Npy, NamesTypesThatTheLibraryLacks)
{
    const Scratch scratch;
    for (const char* descr : {"'<u2'", "'<U5'", "'|O'", "[('a', '<f4')]"}) {
        const std::string header =
            std::string("{'descr': ") + descr + ", 'fortran_order': False, 'shape': (0,), }";
        write_text(scratch / "x.npy", array(header, ""));
        EXPECT_EQ(error_of_file([&] { load_npy(scratch / "x.npy"); }).kind(), ErrorKind::dtype) << descr;
    }
}

// Changed and cut files are read, or are an Error.
TEST(Npy, SurvivesWrongBytes)
{
    const Scratch scratch;
    const Device host("reference");
    const auto attempt = [&](const std::string& content, bool archive) {
        write_text(scratch / "x", content);
        try {
            if (archive) load_npz(scratch / "x", host);
            else load_npy(scratch / "x", host);
        } catch (const Error& error) {
            EXPECT_NE(error.kind(), ErrorKind::internal) << error.what();
        }
    };
    const std::string one = array("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }", "12345678");
    test::each_wrong_content(one, 500, [&](const std::string& content) { attempt(content, false); });
    save_npz(scratch / "whole.npz", {{"x", tensor({1., 2.})}}, true);
    test::each_wrong_content(read_text(scratch / "whole.npz"), 500,
                             [&](const std::string& content) { attempt(content, true); });
}

// Files for tests/io/check_npy.py, which reads them by NumPy.
TEST(Npy, WritesFilesForNumPy)
{
    const Scratch scratch;
    const char* given = std::getenv("REPRISE_NPY_FOLDER");
    const std::filesystem::path folder = given ? std::filesystem::path(given) : scratch.path();
    std::filesystem::create_directories(folder);
    const Device host("reference");
    std::map<std::string, Tensor> all;
    for (const DType dtype : {f32, f64, f16, i64, i32, i16, i8, u8, boolean})
        all[name_of(dtype)] = arange(12, {.dtype = i32, .device = host}).reshape({3, 4}).to(dtype);
    for (const auto& [name, value] : all) save_npy(folder / (name + ".npy"), value);
    save_npz(folder / "stored.npz", all);
    save_npz(folder / "deflated.npz", all, true);
    EXPECT_EQ(load_npz(folder / "deflated.npz", host).size(), all.size());
}

} // namespace
