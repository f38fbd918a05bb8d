// Tables as CSV, also after a run was killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <reprise/train.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::HasSubstr;
using train::CsvFile;

TEST(CsvFile, HasEachRowWhenAddReturns)
{
    const Scratch scratch;
    CsvFile csv(scratch / "x.csv", {"step", "loss, \"smoothed\""});
    EXPECT_EQ(read_text(scratch / "x.csv"), "step,\"loss, \"\"smoothed\"\"\"\n");
    csv.add({1, 0.1});
    csv.add({2, std::nan("")});
    csv.add({3e20, -std::numeric_limits<double>::infinity()});
    EXPECT_EQ(read_text(scratch / "x.csv"), "step,\"loss, \"\"smoothed\"\"\"\n1,0.1\n2,nan\n3e+20,-inf\n");
    EXPECT_EQ(csv.rows(), 3u);
    CsvFile anew(scratch / "x.csv", {"a"});
    EXPECT_EQ(read_text(scratch / "x.csv"), "a\n");
}

TEST(CsvFile, KeepsRowsOfIntegersAndRealNumbers)
{
    const Scratch scratch;
    {
        CsvFile steps(scratch / "steps.csv", {"step", "loss"});
        for (const int step : {-1, 0, 99999, 100000, 1000000}) steps.add(step, 1e-7);
        EXPECT_EQ(read_text(scratch / "steps.csv"),
                  "step,loss\n-1,1e-07\n0,1e-07\n99999,1e-07\n100000,1e-07\n1000000,1e-07\n");
    }
    const CsvFile kept(scratch / "steps.csv", {"step", "loss"}, {.keep_rows = 4});
    EXPECT_THAT(read_text(scratch / "steps.csv"), testing::EndsWith("\n100000,1e-07\n"));
}

TEST(CsvFile, GoesOnAfterTheRowsOfACheckpoint)
{
    const Scratch scratch;
    const auto path = scratch / "x.csv";
    write_text(path, "a,b\n1,2\n3,4\n5,6\n7,"); // the last row was cut
    {
        CsvFile csv(path, {"a", "b"}, {.keep_rows = 2});
        EXPECT_EQ(csv.rows(), 2u);
        csv.add({8, 9});
        EXPECT_EQ(read_text(path), "a,b\n1,2\n3,4\n8,9\n");
    }
    CsvFile(path, {"a", "b"}, {.keep_rows = 3}); // Windows does not replace a file that is open
    EXPECT_EQ(read_text(path), "a,b\n1,2\n3,4\n8,9\n");
    CsvFile(path, {"a", "b"}, {.keep_rows = 0});
    EXPECT_EQ(read_text(path), "a,b\n");
}

TEST(CsvFile, NamesWhatIsWrong)
{
    const Scratch scratch;
    EXPECT_EQ(error_of([&] { CsvFile(scratch / "x.csv", {}); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([&] { CsvFile(scratch / "none/x.csv", {"a"}); }).kind, ErrorKind::file);
    EXPECT_EQ(error_of([&] { CsvFile(scratch / "x.csv", {"a"}, {.keep_rows = 0}); }).kind, ErrorKind::file);
    write_text(scratch / "x.csv", "a,b\n1,2\n3,");
    const Caught rows = error_of([&] { CsvFile(scratch / "x.csv", {"a", "b"}, {.keep_rows = 2}); });
    EXPECT_EQ(rows.kind, ErrorKind::file);
    EXPECT_THAT(rows.text, HasSubstr("has fewer rows (1) than those to keep (2)"));
    EXPECT_EQ(error_of([&] {
                  CsvFile(scratch / "x.csv", {"a", "c"}, {.keep_rows = 1});
              }).kind,
              ErrorKind::file);
    EXPECT_EQ(read_text(scratch / "x.csv"), "a,b\n1,2\n3,"); // nothing is lost
    CsvFile csv(scratch / "y.csv", {"a", "b"});
    EXPECT_EQ(error_of([&] { csv.add({1}); }).kind, ErrorKind::argument);
    EXPECT_EQ(read_text(scratch / "y.csv"), "a,b\n");
}

} // namespace
