// Files are whole or not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/io.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::HasSubstr;

struct WholeFileTest : testing::Test {
    Scratch scratch;
};

TEST_F(WholeFileTest, AppearsAtCommit)
{
    const auto path = scratch / "a.txt";
    WholeFile file(path);
    file.write("one ");
    EXPECT_FALSE(std::filesystem::exists(path));
    file.write("two");
    file.commit();
    EXPECT_EQ(read_text(path), "one two");
    EXPECT_EQ(scratch.files(), 1u);
}

TEST_F(WholeFileTest, WithoutCommitTheOldOneStays)
{
    const auto path = scratch / "a.txt";
    write_text(path, "old");
    {
        WholeFile file(path);
        file.write("new");
    }
    EXPECT_EQ(read_text(path), "old");
    EXPECT_EQ(scratch.files(), 1u);
}

TEST_F(WholeFileTest, ReplacesAtCommit)
{
    const auto path = scratch / "a.txt";
    write_text(path, "an older and longer text");
    WholeFile file(path);
    file.write("new");
    file.commit();
    EXPECT_EQ(read_text(path), "new");
}

TEST_F(WholeFileTest, TwoAtOnceDoNotDisturbEachOther)
{
    const auto path = scratch / "a.txt";
    WholeFile first(path), second(path);
    first.write("first");
    second.write("second");
    second.commit();
    first.commit();
    EXPECT_EQ(read_text(path), "first");
    EXPECT_EQ(scratch.files(), 1u);
}

TEST_F(WholeFileTest, MayBeEmptyAndHoldAnyBytes)
{
    WholeFile empty(scratch / "empty");
    empty.commit();
    EXPECT_EQ(read_text(scratch / "empty"), "");
    WholeFile zeros(scratch / "zeros");
    zeros.write(std::string_view("\0\n\r\0", 4));
    zeros.commit();
    EXPECT_EQ(read_text(scratch / "zeros"), std::string("\0\n\r\0", 4));
}

TEST_F(WholeFileTest, TellsWhereItCannotBe)
{
    const auto missing = error_of([&] { return WholeFile(scratch / "no" / "such" / "folder"), 0; });
    EXPECT_EQ(missing.kind, ErrorKind::file);
    EXPECT_THAT(missing.text, HasSubstr("No such file"));
    const auto folder = error_of([&] { return WholeFile(scratch / "."), 0; });
    EXPECT_EQ(folder.kind, ErrorKind::file);
    EXPECT_THAT(folder.text, HasSubstr("directory"));
    std::filesystem::create_directory(scratch / "d");
    EXPECT_EQ(error_of([&] { return WholeFile(scratch / "d"), 0; }).kind, ErrorKind::file);
    EXPECT_EQ(error_of([&] { return WholeFile(""), 0; }).kind, ErrorKind::file);
    EXPECT_EQ(error_of([&] { return WholeFile(scratch / std::string(5000, 'x')), 0; }).kind, ErrorKind::file);
    EXPECT_EQ(scratch.files(), 1u); // the folder d
}

TEST_F(WholeFileTest, AFailedCommitLeavesNothing)
{
    WholeFile file(scratch / "a");
    file.write("x");
    std::filesystem::create_directories(scratch / "a" / "b"); // a folder takes the name meanwhile
    EXPECT_EQ(error_of([&] { file.commit(); }).kind, ErrorKind::file);
    EXPECT_EQ(scratch.files(), 1u);
}

TEST_F(WholeFileTest, IsDoneAfterCommit)
{
    WholeFile file(scratch / "a");
    file.commit();
    EXPECT_EQ(error_of([&] { file.write("x"); }).kind, ErrorKind::state);
    EXPECT_EQ(error_of([&] { file.commit(); }).kind, ErrorKind::state);
}

} // namespace
