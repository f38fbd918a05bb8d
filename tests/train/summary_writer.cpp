// TensorBoard's event files, read back field by field.  scripts/check_events reads them by TensorBoard itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <reprise/reprise.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using train::SummaryWriter;

std::uint64_t little_endian(std::string_view bytes)
{
    std::uint64_t out = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) out = out << 8 | static_cast<unsigned char>(bytes[i]);
    return out;
}

// CRC-32C bit by bit, masked as in tfrecord files.
std::uint32_t masked_crc(std::string_view data)
{
    std::uint32_t crc = ~0u;
    for (const char c : data) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return std::rotr(~crc, 15) + 0xa282ead8u;
}

std::vector<std::string> records_of(std::string_view file)
{
    std::vector<std::string> out;
    while (!file.empty()) {
        const std::uint64_t length = little_endian(file.substr(0, 8));
        EXPECT_EQ(little_endian(file.substr(8, 4)), masked_crc(file.substr(0, 8)));
        const std::string_view data = file.substr(12, length);
        EXPECT_EQ(little_endian(file.substr(12 + length, 4)), masked_crc(data));
        out.emplace_back(data);
        file.remove_prefix(16 + length);
    }
    return out;
}

// The fields of a message by number: numbers as their bits, texts and messages as they are.
struct Fields {
    std::map<std::uint64_t, std::uint64_t> numbers{};
    std::map<std::uint64_t, std::string> texts{};

    explicit Fields(std::string_view bytes)
    {
        const auto take = [&](std::size_t count) {
            const std::string_view out = bytes.substr(0, count);
            bytes.remove_prefix(count);
            return out;
        };
        const auto varint = [&] {
            std::uint64_t out = 0;
            for (int shift = 0;; shift += 7) {
                const auto byte = static_cast<unsigned char>(take(1)[0]);
                out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
                if (byte < 0x80) return out;
            }
        };
        while (!bytes.empty()) {
            const std::uint64_t key = varint(), field = key >> 3;
            if ((key & 7) == 0) numbers[field] = varint();
            else if ((key & 7) == 1) numbers[field] = little_endian(take(8));
            else if ((key & 7) == 5) numbers[field] = little_endian(take(4));
            else texts[field] = take(varint());
        }
    }
    Fields message(std::uint64_t field) const { return Fields(texts.at(field)); }
    double number(std::uint64_t field) const { return std::bit_cast<double>(numbers.at(field)); }
    std::vector<double> list(std::uint64_t field) const
    {
        std::vector<double> out;
        for (std::size_t i = 0; i < texts.at(field).size(); i += 8)
            out.push_back(std::bit_cast<double>(little_endian(texts.at(field).substr(i, 8))));
        return out;
    }
};

std::vector<Fields> events_of(const SummaryWriter& writer)
{
    std::vector<Fields> out;
    for (const std::string& record : records_of(read_text(writer.path()))) out.emplace_back(record);
    return out;
}

// The value of an event.
Fields value_of(const Fields& event) { return event.message(5).message(1); }

TEST(SummaryWriter, BeginsWithTheVersionInAFileThatTensorBoardFinds)
{
    const Scratch scratch;
    const SummaryWriter writer(scratch / "runs/first", {.filename_suffix = ".test"}),
        other(scratch / "runs/first");
    EXPECT_THAT(path_text(writer.path().filename()), testing::StartsWith("events.out.tfevents."));
    EXPECT_THAT(path_text(writer.path().filename()), testing::EndsWith(".test"));
    EXPECT_NE(writer.path(), other.path());
    const auto events = events_of(writer);
    ASSERT_THAT(events, SizeIs(1));
    EXPECT_EQ(events[0].texts.at(3), "brain.Event:2");
    EXPECT_GT(events[0].number(1), 1.7e9); // seconds since 1970
}

TEST(SummaryWriter, WritesNumbersAtOnce)
{
    const Scratch scratch;
    SummaryWriter writer(scratch.path());
    writer.add_scalar("loss/train", 0.25, 7);
    writer.add_scalar("loss/train", std::nan(""), 1'000'000'000'000);
    writer.add_scalar("accuracy", full({1, 1}, 0.5), 0);
    const auto events = events_of(writer);
    ASSERT_THAT(events, SizeIs(4));
    EXPECT_EQ(events[1].numbers.at(2), 7u);
    EXPECT_EQ(value_of(events[1]).texts.at(1), "loss/train");
    const auto number = [&](std::size_t i) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(value_of(events[i]).numbers.at(2)));
    };
    EXPECT_EQ(number(1), 0.25f);
    EXPECT_TRUE(std::isnan(number(2)));
    EXPECT_EQ(events[2].numbers.at(2), 1'000'000'000'000u);
    EXPECT_EQ(number(3), 0.5f);
}

TEST(SummaryWriter, CountsValuesInBuckets)
{
    const Scratch scratch;
    SummaryWriter writer(scratch.path());
    constexpr double infinity = std::numeric_limits<double>::infinity();
    writer.add_histogram("w", std::vector<double>{0, 1, 1, -2, infinity, std::nan("")}, 3);
    const Fields h = value_of(events_of(writer).at(1)).message(5);
    EXPECT_EQ(h.number(1), -2);
    EXPECT_EQ(h.number(2), 1);
    EXPECT_EQ(h.number(3), 4);
    EXPECT_EQ(h.number(4), 0);
    EXPECT_EQ(h.number(5), 6);
    const std::vector<double> limits = h.list(6), counts = h.list(7);
    ASSERT_EQ(limits.size(), counts.size());
    EXPECT_TRUE(std::is_sorted(limits.begin(), limits.end()));
    EXPECT_EQ(counts.front(), 0); // its limit is the lower one of the first bucket with values
    std::vector<std::pair<double, double>> filled; // upper limits and counts
    for (std::size_t i = 0; i < counts.size(); ++i)
        if (counts[i] > 0) {
            filled.emplace_back(limits[i], counts[i]);
            EXPECT_LT(limits[i - 1], limits[i]);
        }
    ASSERT_THAT(filled, SizeIs(3));
    EXPECT_THAT(filled[0].first, testing::AllOf(testing::Gt(-2), testing::Lt(-1.8)));
    EXPECT_NEAR(filled[1].first, 1e-12, 1e-20); // zero
    EXPECT_THAT(filled[2].first, testing::AllOf(testing::Gt(1), testing::Le(1.1)));
    EXPECT_EQ(filled[2].second, 2);
    writer.add_histogram("half", full({2, 3}, 2, {.dtype = f16}), 0);
    EXPECT_EQ(value_of(events_of(writer).at(2)).message(5).number(4), 12);
}

TEST(SummaryWriter, WritesImagesAndTexts)
{
    const Scratch scratch;
    SummaryWriter writer(scratch.path());
    const Tensor image = rand({3, 4, 5});
    writer.add_image("photo", image, 2);
    writer.add_text("options", "**lr** 0.1", 2);
    const auto events = events_of(writer);
    const Fields picture = value_of(events.at(1)).message(4);
    EXPECT_THAT((std::vector{picture.numbers.at(1), picture.numbers.at(2), picture.numbers.at(3)}),
                ElementsAre(4, 5, 3));
    EXPECT_EQ(picture.texts.at(4), train::to_png(image));
    const Fields text = value_of(events.at(2));
    EXPECT_EQ(text.message(9).message(1).texts.at(1), "text");
    EXPECT_EQ(text.message(8).numbers.at(1), 7u);
    EXPECT_EQ(text.message(8).texts.at(8), "**lr** 0.1");
}

TEST(SummaryWriter, HidesStepsThatAResumedRunMakesAgain)
{
    const Scratch scratch;
    const SummaryWriter writer(scratch.path(), {.purge_step = 40});
    const auto events = events_of(writer);
    ASSERT_THAT(events, SizeIs(2));
    EXPECT_EQ(events[1].numbers.at(2), 40u);
    EXPECT_EQ(events[1].message(7).numbers.at(1), 1u);
}

TEST(SummaryWriter, NamesWhatIsWrong)
{
    const Scratch scratch;
    SummaryWriter writer(scratch.path());
    EXPECT_EQ(error_of([&] { writer.add_scalar("", 1, 0); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([&] { writer.add_scalar("x", ones({2}), 0); }).kind, ErrorKind::shape);
    const Caught none = error_of([&] { writer.add_histogram("x", std::vector{std::nan("")}, 0); });
    EXPECT_EQ(none.kind, ErrorKind::argument);
    EXPECT_THAT(none.text, HasSubstr("None of the (1) values is finite"));
    EXPECT_THAT(events_of(writer), SizeIs(1));
    SummaryWriter moved = std::move(writer);
    moved.add_scalar("x", 1, 0);
    EXPECT_THAT(events_of(moved), SizeIs(2));
    write_text(scratch / "file", "");
    const Caught file = error_of([&] { SummaryWriter(scratch / "file"); });
    EXPECT_EQ(file.kind, ErrorKind::file);
    EXPECT_THAT(file.text, HasSubstr(path_text(scratch / "file")));
}

// For scripts/check_events, which names the folder and looks for these values.
TEST(SummaryWriter, WritesARunForTensorBoard)
{
    const char* folder = std::getenv("REPRISE_EVENTS");
    const Scratch scratch;
    const std::filesystem::path run = folder ? std::filesystem::path(folder) : scratch.path();
    {
        SummaryWriter writer(run);
        for (int step = 0; step < 10; ++step) writer.add_scalar("loss", 1.0 / (1 + step), step);
    }
    SummaryWriter writer(run, {.purge_step = 5}); // goes on from a checkpoint
    for (int step = 5; step < 8; ++step) writer.add_scalar("loss", -step, step);
    writer.add_histogram("weights", arange(100), 1);
    writer.add_image("image", full({3, 6, 9}, 0.5), 1);
    writer.add_image("grid", zeros({9, 1, 4, 4}), 1);
    writer.add_text("text", "hello", 1);
    EXPECT_THAT(events_of(writer), SizeIs(9));
}

} // namespace
