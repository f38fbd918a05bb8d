// The progress line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include <reprise/train.hpp>

namespace reprise::train {
namespace {

using testing::HasSubstr;
using testing::Not;

Progress half()
{
    return {.epoch = 2,
            .epochs = 4,
            .step = 235,
            .steps = 469,
            .loss = 0.41234,
            .more = percent_text(0.8512) + " right",
            .rate = 1234.4,
            .unit = "images",
            .seconds_left = 83,
            .testing = {}};
}

TEST(ProgressLine, TellsEverything)
{
    const std::string line = progress_line(half(), 120);
    for (const char* part :
         {"epoch 2/4 [", "235/469", "loss 0.412", "85.1 % right", "1234 images/s", "1:23 left"})
        EXPECT_THAT(line, HasSubstr(part));
}

TEST(ProgressLine, LeavesOutWhatIsUnknown)
{
    Progress p = half();
    p.epochs = p.steps = 0;
    p.rate = 0.25;
    p.seconds_left = Progress().seconds_left;
    const std::string line = progress_line(p, 120);
    EXPECT_THAT(line, HasSubstr("epoch 2 ["));
    EXPECT_THAT(line, HasSubstr("] 235  loss"));
    EXPECT_THAT(line, HasSubstr("0.25 images/s"));
    EXPECT_THAT(line, Not(HasSubstr("left")));
}

TEST(ProgressLine, FitsAnyWidth)
{
    for (std::size_t width = 0; width < 200; ++width) EXPECT_LE(progress_line(half(), width).size(), width);
    EXPECT_THAT(progress_line(half(), 79),
                HasSubstr("1:23 left")); // a terminal of 80 columns shows all of it
    EXPECT_THAT(progress_line(half(), 79), HasSubstr("["));
    EXPECT_THAT(progress_line(half(), 70), Not(HasSubstr("[")));
}

TEST(ProgressLine, TellsHowFarATestIs)
{
    Progress p{.epoch = 2, .epochs = 4, .step = 10, .steps = 40};
    p.testing = "testing";
    const std::string line = progress_line(p, 79);
    EXPECT_THAT(line, HasSubstr("epoch 2/4 [========="));
    EXPECT_THAT(line, HasSubstr("] 10/40  testing"));
    EXPECT_THAT(line, Not(HasSubstr("loss")));
}

TEST(ProgressLine, TheBarFollowsTheSteps)
{
    Progress p = half();
    const auto filled = [&](std::int64_t step, std::int64_t steps) {
        p.step = step;
        p.steps = steps;
        const std::string line = progress_line(p, 150);
        const std::size_t begin = line.find('['), end = line.find(']');
        EXPECT_EQ(end - begin, 39u);
        return std::count(line.begin(), line.end(), '=');
    };
    EXPECT_EQ(filled(0, 100), 0);
    EXPECT_EQ(filled(50, 100), 19);
    EXPECT_EQ(filled(100, 100), 38);
    EXPECT_EQ(filled(101, 100), 38);
    EXPECT_EQ(filled(0, 0), 0);
}

TEST(ProgressLine, Durations)
{
    EXPECT_EQ(duration_text(0), "0:00");
    EXPECT_EQ(duration_text(59.6), "1:00");
    EXPECT_EQ(duration_text(3599), "59:59");
    EXPECT_EQ(duration_text(3723), "1:02:03");
    EXPECT_EQ(duration_text(-1), "?");
    EXPECT_EQ(duration_text(std::numeric_limits<double>::quiet_NaN()), "?");
    EXPECT_EQ(duration_text(1e300), "?");
}

TEST(ProgressBar, RewritesItsLineOnATerminal)
{
    std::ostringstream out;
    ProgressBar bar(out, true);
    bar.show(half());
    bar.show(half()); // too soon
    EXPECT_EQ(std::count(out.view().begin(), out.view().end(), '\r'), 1);
    Progress last = half();
    last.step = last.steps;
    bar.show(last); // the last step always shows
    EXPECT_EQ(std::count(out.view().begin(), out.view().end(), '\r'), 2);
    EXPECT_THAT(out.str(), Not(HasSubstr("\n")));
    bar.show(last); // but not again
    Progress unknown = half();
    unknown.step = unknown.steps = 0;
    bar.show(unknown);
    EXPECT_EQ(std::count(out.view().begin(), out.view().end(), '\r'), 2);
    bar.clear();
    EXPECT_THAT(out.str(), testing::EndsWith("\r" + std::string(progress_line(last, 79).size(), ' ') + "\r"));
    const std::size_t length = out.str().size();
    bar.clear();
    EXPECT_EQ(out.str().size(), length);
}

TEST(ProgressBar, ShowsTheEndOfEachEpoch)
{
    for (const bool is_terminal : {false, true}) {
        std::ostringstream out;
        ProgressBar bar(out, is_terminal);
        for (std::int64_t epoch = 1; epoch <= 4; ++epoch)
            for (std::int64_t step = 1; step <= 4; ++step)
                bar.show({.epoch = epoch, .epochs = 4, .step = step, .steps = 4});
        for (const char* head : {"epoch 1/4", "epoch 2/4", "epoch 3/4", "epoch 4/4"})
            EXPECT_THAT(out.str(), HasSubstr(head));
        EXPECT_THAT(out.str(), HasSubstr(" 4/4  loss"));
    }
}

TEST(ProgressBar, WritesPlainLinesElsewhere)
{
    std::ostringstream out;
    ProgressBar bar(out, false);
    bar.show(half());
    bar.show(half());
    bar.clear();
    EXPECT_EQ(std::count(out.view().begin(), out.view().end(), '\n'), 1);
    EXPECT_THAT(out.str(), Not(HasSubstr("\r")));
}

} // namespace
} // namespace reprise::train
