// tune() stores a choice that later plans use, and that changes no bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/tuning.hpp>

#include "kernels/code_cache.hpp"
#include "kernels/tuning.hpp"
#include "support/devices.hpp"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using kernels::Tuning;

// With a cache folder of its own.
class Tune : public testing::Test {
protected:
    Tune()
        : folder_(fs::temp_directory_path() / ("reprise_tune_" + default_device().name())),
          before_(kernels::code_cache())
    {
        fs::remove_all(folder_);
        set_cache_directory(folder_);
    }
    ~Tune() override
    {
        set_cache_directory(before_);
        fs::remove_all(folder_);
    }
    static device::Capabilities capabilities() { return test::inner(default_device()).capabilities(); }

    fs::path folder_, before_;
};

TEST_F(Tune, MeasuresBothSizesOfTilesWhereProductsHaveThem)
{
    std::vector<std::string> problems;
    const TuningReport report =
        tune(default_device(), [&](std::size_t done, std::size_t of, const std::string& name) {
            EXPECT_EQ(done, problems.size());
            if (done < of) problems.push_back(name);
        });
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
    EXPECT_EQ(fs::exists(folder_) && !fs::is_empty(folder_), tiled);
}

TEST_F(Tune, AStoredChoiceHoldsForOneDeviceDriverAndVersion)
{
    device::Capabilities c = capabilities();
    const Tuning chosen{.large_tiles = 7, .large_side = 8, .large_matrix_tiles = kernels::never};
    c.name = "a GPU";
    c.compute_units = 60;
    const Tuning by_units = kernels::tuning_of(c);
    EXPECT_EQ(by_units.large_tiles, 60u);
    EXPECT_EQ(by_units.large_matrix_tiles, 60u);
    kernels::store_tuning(c, chosen);
    EXPECT_EQ(kernels::tuning_of(c), chosen);
    device::Capabilities other = c;
    other.driver += ", newer";
    EXPECT_EQ(kernels::tuning_of(other), by_units);
    other = c;
    other.name = "another GPU";
    other.compute_units = 0;
    EXPECT_EQ(kernels::tuning_of(other), Tuning{});
    const kernels::ForcedTuning forced({.large_tiles = 3});
    EXPECT_EQ(kernels::tuning_of(c).large_tiles, 3u);
}

// Another process reads the file; a damaged one is as if there were none.
TEST_F(Tune, ADamagedFileChangesNothing)
{
    device::Capabilities c = capabilities();
    const Tuning chosen{.large_tiles = 7, .large_side = 8, .large_matrix_tiles = 9};
    kernels::store_tuning(c, chosen);
    const fs::path file = fs::directory_iterator(folder_)->path();
    std::string text;
    {
        std::ifstream in(file, std::ios::binary);
        text.assign(std::istreambuf_iterator<char>(in), {});
    }
    const auto read_from_another_folder = [&](const std::string& contents) {
        static int number = 0;
        const fs::path folder = folder_ / std::to_string(++number);
        fs::create_directories(folder);
        std::ofstream(folder / file.filename(), std::ios::binary) << contents;
        set_cache_directory(folder);
        return kernels::tuning_of(c);
    };
    EXPECT_EQ(read_from_another_folder(text), chosen);
    set_cache_directory(folder_ / "none");
    const Tuning otherwise = kernels::tuning_of(c);
    for (const std::string& damaged :
         {std::string(), text.substr(0, 20), text.substr(0, text.size() - 3), "x" + text,
          text.substr(0, text.find("large_side")) + "large_side x\n"})
        EXPECT_EQ(read_from_another_folder(damaged), otherwise) << damaged;
}

TEST_F(Tune, WithoutAFolderItSaysSo)
{
    set_cache_directory({});
    EXPECT_THROW(kernels::store_tuning(capabilities(), {}), std::runtime_error);
    EXPECT_EQ(kernels::tuning_of(capabilities()).large_side, 1024u);
}

} // namespace
} // namespace reprise
