// IDX files, plain and compressed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <zlib.h>

#include <reprise/data.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using data::read_idx;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string idx(const std::vector<std::uint32_t>& sizes, const std::string& bytes)
{
    std::string out{'\0', '\0', '\x08', static_cast<char>(sizes.size())};
    for (const std::uint32_t size : sizes)
        for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift & 0xff);
    return out + bytes;
}

struct IdxTest : testing::Test {
    Scratch scratch;

    std::filesystem::path plain(const std::string& name, const std::string& content)
    {
        write_text(scratch / name, content);
        return scratch / name;
    }
    std::filesystem::path gz(const std::string& name, const std::string& content)
    {
        z_stream stream{};
        constexpr int gzip_header = 16, window_bits = 15, memory_level = 8;
        deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits + gzip_header, memory_level,
                     Z_DEFAULT_STRATEGY);
        std::string input = content, out(deflateBound(&stream, static_cast<uLong>(content.size())), '\0');
        stream.next_in = reinterpret_cast<Bytef*>(input.data());
        stream.avail_in = static_cast<uInt>(input.size());
        stream.next_out = reinterpret_cast<Bytef*>(out.data());
        stream.avail_out = static_cast<uInt>(out.size());
        deflate(&stream, Z_FINISH);
        out.resize(stream.total_out);
        deflateEnd(&stream);
        return plain(name, out);
    }
    std::string complaint(const std::filesystem::path& path)
    {
        const Caught caught = error_of([&] { return read_idx(path); });
        EXPECT_EQ(caught.kind, ErrorKind::file);
        EXPECT_THAT(caught.text, HasSubstr(path_text(path)));
        return caught.text;
    }
};

TEST_F(IdxTest, ReadsPlainAndCompressed)
{
    const std::string content = idx({2, 3}, "abcdef");
    for (const auto& path : {plain("a", content), gz("a.gz", content)}) {
        const data::IdxArray array = read_idx(path);
        EXPECT_THAT(array.sizes, ElementsAre(2, 3));
        EXPECT_EQ(std::string(array.bytes.begin(), array.bytes.end()), "abcdef");
    }
}

TEST_F(IdxTest, ReadsEmptyArrays)
{
    EXPECT_TRUE(read_idx(plain("a", idx({0, 28, 28}, ""))).bytes.empty());
    EXPECT_THAT(read_idx(plain("b", idx({0}, ""))).sizes, ElementsAre(0));
    EXPECT_TRUE(read_idx(plain("c", idx({4294967295u, 0}, ""))).bytes.empty());
}

TEST_F(IdxTest, SizesAreBigEndianAndUnsigned)
{
    const std::string bytes(300, 'x');
    EXPECT_THAT(read_idx(plain("a", idx({300}, bytes))).sizes, ElementsAre(300));
}

TEST_F(IdxTest, RefusesTruncatedFiles)
{
    const std::string whole = idx({2, 3}, "abcdef");
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_THAT(complaint(plain("a", whole.substr(0, length))), HasSubstr("truncated")) << length;
    EXPECT_THAT(complaint(plain("b", idx({1000}, "abc"))), HasSubstr("3 of the 1000 bytes"));
}

TEST_F(IdxTest, RefusesTruncatedCompressedFiles)
{
    std::string noise;
    for (unsigned i = 0; i < 5000; ++i) noise += static_cast<char>(i * i * 2654435761u >> 24);
    const std::string whole = read_text(gz("a.gz", idx({5000}, noise)));
    for (std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{30},
                               whole.size() / 2, whole.size() - 9, whole.size() - 1})
        complaint(plain("b.gz", whole.substr(0, length)));
}

TEST_F(IdxTest, RefusesDamagedCompressedFiles)
{
    std::string whole = read_text(gz("a.gz", idx({6}, "abcdef")));
    whole[whole.size() - 8] ^= 1; // its checksum
    EXPECT_THAT(complaint(plain("b.gz", whole)), HasSubstr("can't be read"));
}

TEST_F(IdxTest, RefusesWhatIsLongerThanItSays)
{
    EXPECT_THAT(complaint(plain("a", idx({3}, "abcd"))), HasSubstr("longer"));
    EXPECT_THAT(complaint(gz("a.gz", idx({3}, "abcd"))), HasSubstr("longer"));
}

TEST_F(IdxTest, RefusesOtherFormats)
{
    EXPECT_THAT(complaint(plain("a", "PNG and so on")), HasSubstr("no IDX file"));
    EXPECT_THAT(complaint(plain("b", std::string("\0\0\x08\0", 4))), HasSubstr("no IDX file"));
    std::string floats = idx({1}, "abcd");
    floats[2] = 0x0d;
    EXPECT_THAT(complaint(plain("c", floats)), HasSubstr("element type (13)"));
}

TEST_F(IdxTest, AWrongHeaderAllocatesNothingHuge)
{
    EXPECT_THAT(complaint(plain("a", idx({4294967295u, 4294967295u, 4294967295u}, "x"))), HasSubstr("2^40"));
    EXPECT_THAT(complaint(plain("b", idx({4294967295u, 200}, "x"))), HasSubstr("truncated"));
}

TEST_F(IdxTest, RefusesMissingFilesAndFolders)
{
    EXPECT_THAT(complaint(scratch / "nothing"), HasSubstr("can't be opened"));
    EXPECT_THAT(complaint(scratch.path()), HasSubstr("can't be opened"));
}

TEST_F(IdxTest, PairsImagesWithLabels)
{
    const auto images = plain("i", idx({2, 1, 3}, "abcdef"));
    const data::ImageDataset set =
        data::read_idx_images(images, plain("l", idx({2}, std::string("\x07\x09", 2))));
    EXPECT_EQ(set.size(), 2);
    EXPECT_EQ(set.channels, 1);
    EXPECT_EQ(set.height, 1);
    EXPECT_EQ(set.width, 3);
    EXPECT_THAT(set.labels, ElementsAre(7, 9));
    const auto wrong = [&](const std::filesystem::path& i, const std::filesystem::path& l) {
        const Caught caught = error_of([&] { return data::read_idx_images(i, l); });
        EXPECT_EQ(caught.kind, ErrorKind::file);
        return caught.text;
    };
    EXPECT_THAT(wrong(images, plain("m", idx({3}, "abc"))), HasSubstr("2 images and 3 labels"));
    EXPECT_THAT(wrong(images, images), HasSubstr("labels have 1"));
    EXPECT_THAT(wrong(plain("n", idx({2}, "ab")), images), HasSubstr("images have 3"));
}

TEST_F(IdxTest, FirstTakesAtMostAll)
{
    data::ImageDataset set{1, 1, 2, {1, 2, 3, 4, 5, 6}, {7, 8, 9}};
    EXPECT_THAT(set.first(2).pixels, ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(set.first(2).labels, ElementsAre(7, 8));
    EXPECT_EQ(set.first(0).size(), 0);
    EXPECT_EQ(set.first(100).size(), 3);
    EXPECT_EQ(error_of([&] { return set.first(-1); }).kind, ErrorKind::argument);
}

// ---- Fashion-MNIST ----

struct FashionMnistTest : IdxTest {
    void put(const std::string& part, std::uint32_t count, char label, std::uint32_t size = 28)
    {
        plain(part + "-images-idx3-ubyte", idx({count, size, size}, std::string(count * size * size, 'p')));
        gz(part + "-labels-idx1-ubyte.gz", idx({count}, std::string(count, label)));
    }
    Caught failure()
    {
        return error_of([&] { return data::fashion_mnist(scratch.path()); });
    }
};

TEST_F(FashionMnistTest, ReadsAFolder)
{
    put("train", 3, 9);
    put("t10k", 2, 0);
    const data::TrainTest sets = data::fashion_mnist(scratch.path());
    EXPECT_EQ(sets.train.size(), 3);
    EXPECT_EQ(sets.test.size(), 2);
    EXPECT_THAT(sets.train.labels, ElementsAre(9, 9, 9));
    EXPECT_EQ(sets.train.pixels.size(), 3u * 28 * 28);
}

TEST_F(FashionMnistTest, SaysWhatToPutWhere)
{
    put("train", 1, 0);
    const Caught caught = failure();
    EXPECT_EQ(caught.kind, ErrorKind::file);
    for (const char* part : {"t10k-labels-idx1-ubyte.gz", "train-images-idx3-ubyte", "dataset-fashion-mnist",
                             "/usr/share/datasets/fashion-mnist"})
        EXPECT_THAT(caught.text, HasSubstr(part));
    EXPECT_THAT(caught.text, HasSubstr(path_text(scratch.path())));
}

TEST_F(FashionMnistTest, RefusesOtherImages)
{
    put("train", 1, 0, 32);
    put("t10k", 1, 0);
    EXPECT_THAT(failure().text, HasSubstr("32 x 32"));
}

TEST_F(FashionMnistTest, RefusesOtherClasses)
{
    put("train", 1, 10);
    put("t10k", 1, 0);
    EXPECT_THAT(failure().text, HasSubstr("label (10)"));
    EXPECT_EQ(failure().kind, ErrorKind::file);
}

TEST_F(FashionMnistTest, ReadsDebiansPackage)
{
    if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist"))
        GTEST_SKIP() << "the package is not installed";
    const data::TrainTest sets = data::fashion_mnist();
    EXPECT_EQ(sets.train.size(), 60'000);
    EXPECT_EQ(sets.test.size(), 10'000);
    std::vector<int> count(10);
    for (const std::int32_t y : sets.train.labels) ++count[static_cast<std::size_t>(y)];
    EXPECT_THAT(count, testing::Each(6000));
    double sum = 0;
    for (const std::uint8_t p : sets.train.pixels) sum += p;
    EXPECT_NEAR(sum / static_cast<double>(sets.train.pixels.size()) / 255, 0.2860, 1e-4);
}

struct Cifar10Test : IdxTest {
    // Record i of a file has the label i % 10 and pixels i.
    std::string records(int count)
    {
        std::string out;
        for (int i = 0; i < count; ++i)
            out += static_cast<char>(i % 10) + std::string(3072, static_cast<char>(i));
        return out;
    }
    void write(const std::string& folder)
    {
        std::filesystem::create_directories(scratch / folder);
        for (int i = 1; i <= 5; ++i) {
            const std::string name = folder + "data_batch_" + std::to_string(i) + ".bin";
            i == 3 ? gz(name + ".gz", records(i)) : plain(name, records(i));
        }
        plain(folder + "test_batch.bin", records(12));
    }
};

TEST_F(Cifar10Test, ReadsItsFilesInOrder)
{
    for (const std::string folder : {"here/", "root/cifar-10-batches-bin/"}) {
        write(folder);
        const data::TrainTest set = data::cifar10(scratch / folder.substr(0, folder.find('/')));
        EXPECT_THAT(set.train.labels, ElementsAre(0, 0, 1, 0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 4));
        EXPECT_EQ(set.test.size(), 12);
        EXPECT_EQ(set.test.labels[11], 1);
        EXPECT_EQ(set.test.channels, 3);
        EXPECT_EQ(set.test.height, 32);
        EXPECT_EQ(set.test.pixels.size(), 12U * 3072);
        EXPECT_EQ(set.test.pixels.back(), 11);
        EXPECT_EQ(set.test.get(11).data.sizes(), (std::vector<std::int64_t>{3, 32, 32}));
    }
}

TEST_F(Cifar10Test, SaysWhatIsWrongWithAFile)
{
    const auto message = [&] {
        const Caught caught = error_of([&] { return data::cifar10(scratch / "here"); });
        EXPECT_EQ(caught.kind, ErrorKind::file);
        return caught.text;
    };
    EXPECT_THAT(message(), AllOf(HasSubstr("data_batch_1.bin"), HasSubstr("cifar-10-binary.tar.gz")));
    write("here/");
    plain("here/data_batch_2.bin", records(1) + "x");
    EXPECT_THAT(message(), AllOf(HasSubstr("data_batch_2.bin"), HasSubstr("record 1 has 1 of 3073")));
    plain("here/data_batch_2.bin", std::string(3073, 10));
    EXPECT_THAT(message(), HasSubstr("label (10)"));
    plain("here/data_batch_2.bin", "");
    EXPECT_THAT(message(), HasSubstr("no images"));
}

TEST_F(Cifar10Test, MnistNamesItsFiles)
{
    const Caught caught = error_of([&] { return data::mnist(scratch / "nowhere"); });
    EXPECT_EQ(caught.kind, ErrorKind::file);
    EXPECT_THAT(caught.text,
                AllOf(HasSubstr("[mnist]"), HasSubstr("train-labels-idx1-ubyte"), HasSubstr("of MNIST")));
}

} // namespace
