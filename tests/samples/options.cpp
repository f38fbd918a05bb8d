// The demo's command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "../../samples/common/command_line.hpp"
#include "../../samples/fashion_mnist/options.hpp"

namespace {

using testing::HasSubstr;

struct OptionsTest : testing::Test {
    std::ostringstream out, err;
    CommandLine parsed(const std::vector<std::string>& arguments) { return parse(arguments, out, err); }
};

TEST_F(OptionsTest, HasDefaults)
{
    const CommandLine line = parsed({});
    EXPECT_FALSE(line.exit_code);
    EXPECT_EQ(line.options.epochs, 5);
    EXPECT_EQ(line.options.batch, 128);
    EXPECT_EQ(line.options.train_limit, 0);
    EXPECT_EQ(line.options.device, "");
}

TEST_F(OptionsTest, TakesAll)
{
    const CommandLine line =
        parsed({"--epochs", "2", "--batch=64", "--device", "vulkan:1", "--data", "d", "--out", "o", "--seed",
                "18446744073709551615", "--train-limit", "6400"});
    ASSERT_FALSE(line.exit_code) << err.str();
    EXPECT_EQ(line.options.epochs, 2);
    EXPECT_EQ(line.options.batch, 64);
    EXPECT_EQ(line.options.device, "vulkan:1");
    EXPECT_EQ(line.options.data, "d");
    EXPECT_EQ(line.options.out, "o");
    EXPECT_EQ(line.options.seed, 18446744073709551615u);
    EXPECT_EQ(line.options.train_limit, 6400);
}

TEST_F(OptionsTest, HelpNamesEveryOption)
{
    EXPECT_EQ(parsed({"--help"}).exit_code, 0);
    for (const char* name :
         {"--epochs", "--batch", "--device", "--data", "--out", "--seed", "--train-limit", "--help"})
        EXPECT_THAT(out.str(), HasSubstr(name));
    EXPECT_EQ(err.str(), "");
}

TEST_F(OptionsTest, RefusesWhatMakesNoSense)
{
    const std::vector<std::vector<std::string>> wrong = {
        {"--epochs", "0"}, {"--epochs", "-1"},     {"--epochs", "many"}, {"--epochs"},
        {"--batch", "0"},  {"--batch", "1e9"},     {"--batch", "60001"}, {"--seed", "-1"},
        {"--seed", "1.5"}, {"--train-limit", "0"}, {"--nonsense"},       {"stray"},
    };
    for (const auto& arguments : wrong) {
        err.str("");
        EXPECT_EQ(parsed(arguments).exit_code, exit_usage) << arguments[0];
        EXPECT_NE(err.str(), "") << arguments[0];
    }
    err.str("");
    parsed({"--batch", "0"});
    EXPECT_THAT(err.str(), HasSubstr("--batch: the value (0) must be a whole number from 1 to 60000"));
    EXPECT_EQ(out.str(), "");
}

} // namespace
