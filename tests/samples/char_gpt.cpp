// The parts of char_gpt: the text and its batches, the command line, picture and figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "../../samples/char_gpt/options.hpp"
#include "../../samples/char_gpt/report.hpp"
#include "../../samples/char_gpt/text.hpp"
#include "../../samples/common/command_line.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace char_gpt;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Text, NumbersItsCharactersAndLeavesOutEmptyLines)
{
    const Text text("cab\r\n\n\nba\n");
    EXPECT_EQ(text.characters(), 4);
    EXPECT_EQ(text.longest(), 4);
    ASSERT_EQ(text.lines().size(), 2u);
    EXPECT_THAT(text.lines()[0], ElementsAre(3, 1, 2));
    EXPECT_THAT(text.lines()[1], ElementsAre(2, 1));
    EXPECT_EQ(text.text(text.lines()[0]), "cab");
    EXPECT_EQ(text.text({0}), "\n");
}

TEST(Text, TakesBytesOfAnyCode)
{
    const Text text("\xC3\xA4z\n");
    EXPECT_EQ(text.text(text.lines()[0]), "\xC3\xA4z");
    EXPECT_THAT(text.lines()[0], ElementsAre(3, 2, 1));
}

TEST(Text, RefusesWhatHasNoLines)
{
    using reprise::ErrorKind;
    EXPECT_EQ(error_of([] { return Text("\n\n"); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([] { return Text::read("/no/such/file"); }).kind, ErrorKind::file);
}

TEST(Batches, HoldEachLineOnceAndEndWithASmallerOne)
{
    std::string content;
    for (std::size_t i = 0; i < 23; ++i) content += std::string(1 + i * 7 % 50, 'x') + "\n";
    const Text text(content);
    const auto batches = batches_of(text, 5, 1);
    std::set<std::size_t> seen;
    std::vector<std::size_t> sizes;
    for (const auto& lines : batches) {
        sizes.push_back(lines.size());
        seen.insert(lines.begin(), lines.end());
    }
    std::sort(sizes.begin(), sizes.end());
    EXPECT_THAT(sizes, ElementsAre(3, 5, 5, 5, 5));
    EXPECT_EQ(seen.size(), 23u);
    EXPECT_EQ(batches_of(text, 5, 1), batches);
    EXPECT_NE(batches_of(text, 5, 2), batches);
}

TEST(Batches, ALineBeginsAndEndsWithItsEnd)
{
    const Batch b = make_batch(Text("ab\nb\n"), {1, 0});
    EXPECT_EQ(reprise::to_string(b.input.shape()), "[2, 3]");
    EXPECT_THAT(b.input.to_vector<std::int32_t>(), ElementsAre(0, 2, 0, 0, 1, 2));
    EXPECT_THAT(b.target.to_vector<std::int32_t>(), ElementsAre(2, 0, 0, 1, 2, 0));
    EXPECT_THAT(b.counts.to_vector<float>(), ElementsAre(1, 1, 0, 1, 1, 1));
    EXPECT_EQ(b.characters, 5);
}

TEST(CharGptOptions, HelpNamesEveryOption)
{
    std::ostringstream out, err;
    EXPECT_EQ(parse({"--help"}, out, err).exit_code, 0);
    for (const char* name :
         {"--epochs", "--batch", "--features", "--layers", "--steps", "--sentences", "--longest",
          "--temperature", "--precision", "--device", "--text", "--out", "--seed", "--help"})
        EXPECT_THAT(out.str(), HasSubstr(name));
    EXPECT_EQ(err.str(), "");
}

TEST(CharGptOptions, TakesNumbersAndRefusesNonsense)
{
    std::ostringstream out, err;
    const char_gpt::CommandLine line =
        parse({"--batch=7", "--features", "64", "--temperature", "0.5", "--precision", "bf16"}, out, err);
    ASSERT_FALSE(line.exit_code) << err.str();
    EXPECT_EQ(line.options.batch, 7);
    EXPECT_EQ(line.options.features, 64);
    EXPECT_EQ(line.options.temperature, 0.5);
    EXPECT_EQ(line.options.precision, "bf16");
    for (const auto& wrong : std::vector<std::vector<std::string>>{{"--batch", "0"},
                                                                   {"--features", "33"},
                                                                   {"--temperature", "0"},
                                                                   {"--layers", "x"},
                                                                   {"--precision", "f64"},
                                                                   {"--stray"}}) {
        err.str("");
        EXPECT_EQ(parse(wrong, out, err).exit_code, exit_usage) << wrong[0];
        EXPECT_NE(err.str(), "");
    }
}

TEST(CharGptReport, DrawsAndCountsWhatThereIs)
{
    char_gpt::History h;
    for (int i = 0; i < 60; ++i) h.loss.push_back(3.0 / (1 + i));
    h.epoch_loss = {1.0, 0.1};
    h.steps_per_epoch = 30;
    h.sizes = 12;
    const std::string svg = reprise::train::to_svg(picture(h, "vulkan:0"));
    for (const char* part : {"char_gpt on vulkan:0", "nats a character", "mean of 3 steps", ">step<"})
        EXPECT_THAT(svg, HasSubstr(part));
    const auto json = nlohmann::json::parse(figures(h, {}, "vulkan:0").json());
    EXPECT_EQ(json["loss"], 0.1);
    EXPECT_EQ(json["losses"].size(), 60u);
    EXPECT_EQ(json["sizes"], 12);
    EXPECT_EQ(json["options"]["batch"], 32);
    h.epoch_loss.clear();
    h.interrupted = true;
    EXPECT_FALSE(nlohmann::json::parse(figures(h, {}, "d").json()).contains("loss"));
}

} // namespace
