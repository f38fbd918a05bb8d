// tune() stores a choice that later plans use, and that changes no bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>
#include <reprise/tuning.hpp>

#include "io/scratch.hpp"
#include "kernels/code_cache.hpp"
#include "kernels/tuning.hpp"
#include "program/tune.hpp"
#include "support/devices.hpp"

namespace reprise {
namespace {

namespace fs = std::filesystem;

// With a cache folder of its own.
class Tune : public testing::Test {
protected:
    Tune() { set_cache_directory(folder_.path()); }
    ~Tune() override { set_cache_directory(before_); }
    static device::Capabilities capabilities() { return test::inner(default_device()).capabilities(); }

    Scratch folder_;
    fs::path before_ = kernels::code_cache();
};

TEST_F(Tune, MeasuresBothSizesOfTilesWhereProductsHaveThem)
{
    std::vector<std::string> problems;
    const std::uint64_t drawn = generator_state().ordinal;
    const TuningReport report =
        tuning::tune(default_device(), 16, [&](std::size_t done, std::size_t of, const std::string& name) {
            EXPECT_EQ(done, problems.size());
            if (done < of) problems.push_back(name);
        });
    EXPECT_EQ(generator_state().ordinal, drawn) << "the random numbers that follow are the same";
    ASSERT_EQ(report.rows.size(), problems.size());
    for (std::size_t i = 0; i < problems.size(); ++i) {
        const TuningReport::Row& r = report.rows[i];
        EXPECT_EQ(r.problem, problems[i]);
        EXPECT_TRUE(r.small_ms > 0 && r.large_ms > 0) << r.problem;
        EXPECT_TRUE(r.equal) << r.problem;
    }
    const bool tiled =
        capabilities().gpu_kernels() && !capabilities().is_cuda() && !capabilities().host_kernels;
    EXPECT_EQ(report.rows.empty(), !tiled);
    EXPECT_THAT(report.chosen, testing::HasSubstr(tiled ? "tiles of" : "nothing to choose"));
    EXPECT_EQ(folder_.files() > 0, tiled);
    if (!tiled) return;
    std::vector<tuning::Timed> products; // of f32, which come first
    for (const std::uint32_t tiles : {64, 96, 128, 192, 256, 512}) {
        const TuningReport::Row& r = report.rows.at(products.size());
        products.push_back({tiles, r.small_ms, r.large_ms, r.equal});
    }
    if (report.rows.size() == products.size()) { // f16 and bf16 have a say, too
        EXPECT_EQ(kernels::tuning_of(capabilities()).large_tiles,
                  tuning::least_large_tiles(products).value_or(128));
    }
}

TEST(Tuning, TakesTheLeastNumberOfTilesFromWhichOnLargeOnesAreFaster)
{
    const auto chosen = [](std::vector<double> large_ms, bool equal = true) {
        std::vector<tuning::Timed> products;
        std::uint32_t tiles = 32;
        for (const double ms : large_ms) products.push_back({tiles *= 2, 1, ms, true});
        products.front().equal = equal;
        return tuning::least_large_tiles(products);
    };
    EXPECT_EQ(chosen({1.2, 1.1, 0.9, 0.8}), 256u);
    EXPECT_EQ(chosen({0.9, 0.9, 0.9, 0.9}), 64u);
    EXPECT_EQ(chosen({0.9, 1.2, 0.9, 0.9}), 256u);
    EXPECT_EQ(chosen({1.2, 1.01, 0.9, 0.99}), 256u) << "about equal";
    EXPECT_EQ(chosen({0.9, 0.9, 0.9, 1.2}), kernels::never);
    EXPECT_EQ(chosen({1.2, 1.2, 1.2, 1.0}), kernels::never);
    EXPECT_EQ(chosen({1, 1, 1, 1}), std::nullopt);
    EXPECT_EQ(chosen({0.9, 0.9, 0.9, 0.9}, false), kernels::never) << "other bits";
}

TEST_F(Tune, AStoredChoiceHoldsForOneDeviceDriverAndVersion)
{
    device::Capabilities c = capabilities();
    c.name = "a GPU";
    c.compute_units = 60;
    const kernels::Tuning by_units = kernels::tuning_of(c);
    EXPECT_EQ(by_units.large_tiles, 60u);
    EXPECT_EQ(by_units.large_matrix_tiles, 60u);
    kernels::store_tuning(c, {.large_tiles = 7});
    EXPECT_EQ(kernels::tuning_of(c).large_tiles, 7u);
    EXPECT_EQ(kernels::tuning_of(c).large_matrix_tiles, 60u) << "it was not measured";
    device::Capabilities other = c;
    other.driver += ", newer";
    EXPECT_EQ(kernels::tuning_of(other).large_tiles, 60u);
    other = c;
    other.name = "another GPU";
    other.compute_units = 0;
    EXPECT_EQ(kernels::tuning_of(other).large_tiles, 128u);
    const kernels::ForcedTuning forced({.large_tiles = 3});
    EXPECT_EQ(kernels::tuning_of(c).large_tiles, 3u);
}

// Another process reads the file; a damaged one is as if there were none.
TEST_F(Tune, ADamagedFileChangesNothing)
{
    const device::Capabilities c = capabilities();
    kernels::store_tuning(c, {.large_tiles = 77, .large_matrix_tiles = 78});
    const fs::path file = fs::directory_iterator(folder_.path())->path();
    const std::string text = read_text(file);
    const auto large_tiles_of = [&](const std::string& contents) {
        const Scratch folder;
        write_text(folder.path() / file.filename(), contents);
        set_cache_directory(folder.path());
        return kernels::tuning_of(c).large_tiles;
    };
    EXPECT_EQ(large_tiles_of(text), 77u);
    const std::size_t body = text.find("large_tiles");
    for (const std::string& damaged :
         {std::string(), text.substr(0, 20), text.substr(0, text.size() - 4), text.substr(0, text.size() - 6),
          "x" + text, text.substr(0, body) + "large_tiles x\nend\n", text.substr(0, body) + "other 1\nend\n"})
        EXPECT_NE(large_tiles_of(damaged), 77u) << damaged;
}

TEST_F(Tune, WithoutAFolderItSaysSo)
{
    set_cache_directory({});
    EXPECT_THROW(kernels::store_tuning(capabilities(), {}), Error);
    EXPECT_EQ(kernels::tuning_of(capabilities()).large_side, 1024u);
}

} // namespace
} // namespace reprise
