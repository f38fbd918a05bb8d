// The demo's picture and figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../../samples/fashion_mnist/report.hpp"

namespace {

using testing::HasSubstr;

History two_epochs()
{
    History h;
    for (int i = 0; i < 200; ++i) {
        h.loss.push_back(2.0 / (1 + i));
        h.accuracy.push_back(1 - 0.9 / (1 + i));
    }
    h.test_loss = {0.5, 0.4};
    h.test_accuracy = {0.85, 0.9};
    h.steps_per_epoch = 100;
    h.parameters = 421'642;
    h.images_per_second = 1000;
    return h;
}

TEST(Report, ThePictureShowsLossAndAccuracy)
{
    const std::string svg = reprise::train::to_svg(picture(two_epochs(), "vulkan:0, llvmpipe"));
    for (const char* part : {"Fashion-MNIST on vulkan:0, llvmpipe", ">Loss<", ">Accuracy<", "(nats)",
                             "accuracy (%)", ">step<", "mean of 10 steps", ">test<"})
        EXPECT_THAT(svg, HasSubstr(part));
}

TEST(Report, AnInterruptedTrainingIsDrawnToo)
{
    History h;
    h.loss = {2.3};
    h.accuracy = {0.1};
    h.interrupted = true;
    EXPECT_THAT(reprise::train::to_svg(picture(h, "d")), HasSubstr("</svg>"));
    const auto json = nlohmann::json::parse(figures(h, {}, "d").json());
    EXPECT_FALSE(json.contains("test_accuracy"));
    EXPECT_EQ(json["interrupted"], true);
}

TEST(Report, TheFiguresHaveWhatIsPromised)
{
    Options options;
    options.seed = 7;
    const auto json = nlohmann::json::parse(figures(two_epochs(), options, "vulkan:0, llvmpipe").json());
    EXPECT_EQ(json["test_accuracy"], 0.9);
    EXPECT_EQ(json["device"], "vulkan:0, llvmpipe");
    EXPECT_EQ(json["losses"].size(), 200u);
    EXPECT_EQ(json["seed"], 7);
    EXPECT_EQ(json["images_per_second"], 1000);
    EXPECT_EQ(json["options"]["batch"], 128);
    EXPECT_EQ(json["parameters"], 421'642);
    EXPECT_TRUE(json.contains("seconds"));
}

} // namespace
