// Ends of trainings that no longer improve.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <reprise/reprise.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::HasSubstr;
using train::EarlyStopping;

TEST(EarlyStopping, CountsValuesSinceTheBest)
{
    EarlyStopping s({.patience = 2});
    EXPECT_TRUE(std::isnan(s.best()));
    EXPECT_FALSE(s.improved());
    EXPECT_FALSE(s.step(3));
    EXPECT_TRUE(s.improved());
    EXPECT_FALSE(s.step(3)); // no better
    EXPECT_FALSE(s.improved());
    EXPECT_FALSE(s.step(2));
    EXPECT_EQ(s.best(), 2);
    EXPECT_FALSE(s.step(std::nan("")));
    EXPECT_EQ(s.bad_values(), 1);
    EXPECT_TRUE(s.step(2.5));
    EXPECT_TRUE(s.should_stop());
    EXPECT_FALSE(s.step(1)); // a caller may go on
}

TEST(EarlyStopping, TakesAccuraciesAndALeastGain)
{
    EarlyStopping s({.patience = 1, .min_delta = 0.1, .higher_is_better = true});
    EXPECT_FALSE(s.step(0.5));
    EXPECT_TRUE(s.step(0.6)); // not better by more than 0.1
    EXPECT_EQ(s.best(), 0.5);
    EXPECT_FALSE(s.step(0.7));
    EXPECT_EQ(s.best(), 0.7);
}

TEST(EarlyStopping, BeginsWithNaNs)
{
    EarlyStopping s({.patience = 3});
    EXPECT_FALSE(s.step(std::nan("")));
    EXPECT_FALSE(s.step(std::nan("")));
    EXPECT_FALSE(s.step(5));
    EXPECT_EQ(s.bad_values(), 0);
}

TEST(EarlyStopping, IsAPartOfACheckpoint)
{
    const Scratch scratch;
    EarlyStopping s({.patience = 3}), other({.patience = 3}), fresh({.patience = 3});
    s.step(1), s.step(2);
    train::save_checkpoint(scratch / "x.safetensors", {{"stopping", s}});
    other.step(7);
    train::load_checkpoint(scratch / "x.safetensors", {{"stopping", other}});
    EXPECT_EQ(other.best(), 1);
    EXPECT_EQ(other.bad_values(), 1);
    EXPECT_FALSE(other.improved());
    other.load_state_dict(fresh.state_dict());
    EXPECT_TRUE(std::isnan(other.best()));
    auto state = s.state_dict();
    state.emplace("more", ones({1}));
    EXPECT_EQ(error_of([&] { other.load_state_dict(state); }).kind, ErrorKind::argument);
    state.erase("best");
    const Caught caught = error_of([&] { other.load_state_dict(state); });
    EXPECT_EQ(caught.kind, ErrorKind::argument);
    EXPECT_THAT(caught.text, HasSubstr("(best)"));
}

TEST(EarlyStopping, RefusesOptionsOutOfRange)
{
    EXPECT_EQ(error_of([] { EarlyStopping({.patience = 0}); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([] { EarlyStopping({.min_delta = -1}); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([] { EarlyStopping({.min_delta = std::nan("")}); }).kind, ErrorKind::argument);
}

} // namespace
