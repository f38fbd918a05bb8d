// Figures as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include <nlohmann/json.hpp>

#include <reprise/train.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using train::Metrics;

TEST(Metrics, KeepsValuesTypesAndOrder)
{
    Metrics inner;
    inner.set("epochs", 3);
    Metrics m;
    m.set("z", 0.5)
        .set("device", "vulkan:0")
        .set("ok", true)
        .set("seed", std::numeric_limits<std::uint64_t>::max());
    m.set("n", std::int64_t{-7}).set("losses", std::vector<double>{1, 0.25}).set("options", inner);
    const auto json = nlohmann::ordered_json::parse(m.json());
    EXPECT_EQ(json.begin().key(), "z");
    EXPECT_EQ(json["z"], 0.5);
    EXPECT_EQ(json["device"], "vulkan:0");
    EXPECT_TRUE(json["ok"].is_boolean());
    EXPECT_EQ(json["seed"].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(json["n"], -7);
    EXPECT_EQ(json["losses"], nlohmann::json({1.0, 0.25}));
    EXPECT_EQ(json["options"]["epochs"], 3);
    EXPECT_EQ(m.json().back(), '\n');
}

TEST(Metrics, WhatIsNotFiniteIsNull)
{
    Metrics m;
    m.set("a", std::numeric_limits<double>::quiet_NaN());
    m.set("b", std::vector<double>{std::numeric_limits<double>::infinity(), 1});
    const auto json = nlohmann::json::parse(m.json());
    EXPECT_TRUE(json["a"].is_null());
    EXPECT_TRUE(json["b"][0].is_null());
}

TEST(Metrics, TextsThatAreNoUtf8AreStillWritten)
{
    Metrics m;
    m.set("path", std::string("a\xff\"b"));
    EXPECT_EQ(nlohmann::json::parse(m.json()).size(), 1u);
}

TEST(Metrics, EmptyAndSetAgain)
{
    Metrics m;
    EXPECT_EQ(m.json(), "{}\n");
    m.set("a", 1).set("a", 2);
    EXPECT_EQ(nlohmann::json::parse(m.json()), nlohmann::json({{"a", 2}}));
    Metrics copy = m;
    copy.set("a", 3);
    EXPECT_EQ(nlohmann::json::parse(m.json())["a"], 2);
    m = copy;
    EXPECT_EQ(nlohmann::json::parse(m.json())["a"], 3);
}

TEST(Metrics, IsSavedWhole)
{
    const Scratch scratch;
    Metrics m;
    m.set("a", 1);
    m.save(scratch / "metrics.json");
    EXPECT_EQ(read_text(scratch / "metrics.json"), m.json());
    EXPECT_EQ(error_of([&] { m.save(scratch / "no" / "metrics.json"); }).kind, ErrorKind::file);
}

} // namespace
