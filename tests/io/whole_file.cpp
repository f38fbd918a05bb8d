// Files are whole or not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/io.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"

#if !defined(_WIN32)
#include <cstdlib>
#include <future>

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#include <sys/sysmacros.h>
#endif
#endif

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

#if !defined(_WIN32)

void save(const std::filesystem::path& path, std::string_view text)
{
    WholeFile file(path);
    file.write(text);
    file.commit();
}

mode_t mode_of(const std::filesystem::path& path)
{
    struct stat found {};
    return stat(path.c_str(), &found) == 0 ? found.st_mode : 0;
}

TEST_F(WholeFileTest, FollowsLinks)
{
    std::filesystem::create_directory(scratch / "d");
    write_text(scratch / "d" / "a", "old");
    std::filesystem::create_symlink("d/a", scratch / "to file");
    std::filesystem::create_symlink("to file", scratch / "to link");
    std::filesystem::create_symlink(scratch / "d", scratch / "to folder");
    std::filesystem::create_symlink("d/none", scratch / "to nothing");
    save(scratch / "to link", "new");
    EXPECT_EQ(read_text(scratch / "d" / "a"), "new");
    save(scratch / "to folder" / "a", "newer");
    EXPECT_EQ(read_text(scratch / "to file"), "newer");
    save(scratch / "to nothing", "first");
    EXPECT_EQ(read_text(scratch / "d" / "none"), "first");
    for (const char* link : {"to link", "to file", "to folder", "to nothing"})
        EXPECT_TRUE(std::filesystem::is_symlink(scratch / link)) << link;
    EXPECT_EQ(scratch.files(), 5u);

    std::filesystem::create_symlink("b", scratch / "a");
    std::filesystem::create_symlink("a", scratch / "b");
    EXPECT_THAT(error_of([&] { save(scratch / "a", "x"); }).text, HasSubstr("symbolic links"));
    EXPECT_TRUE(std::filesystem::is_symlink(scratch / "a"));
}

TEST_F(WholeFileTest, KeepsPermissions)
{
    for (const mode_t mode : {0600, 0640, 0644, 0666, 0755, 0200}) {
        const auto path = scratch / std::to_string(mode);
        write_text(path, "old");
        chmod(path.c_str(), mode);
        save(path, "new");
        EXPECT_EQ(mode_of(path) & 07777, mode);
    }
    const mode_t mask = umask(027);
    save(scratch / "new", "new");
    umask(mask);
    EXPECT_EQ(mode_of(scratch / "new") & 07777, mode_t(0640));
}

TEST_F(WholeFileTest, ThatNobodyMayWriteIsAnError)
{
    const auto path = scratch / "a";
    write_text(path, "old");
    chmod(path.c_str(), 0444);
    const auto error = error_of([&] { save(path, "new"); });
    EXPECT_EQ(error.kind, ErrorKind::file);
    EXPECT_THAT(error.text, HasSubstr("Permission denied"));
    EXPECT_EQ(read_text(path), "old");
    EXPECT_EQ(scratch.files(), 1u);
}

TEST_F(WholeFileTest, MayHaveTheLongestName)
{
    for (const std::size_t length : {241, 255}) {
        const auto path = scratch / std::string(length, 'x');
        save(path, "text");
        EXPECT_EQ(read_text(path), "text");
    }
}

TEST_F(WholeFileTest, GoesThroughAPipe)
{
    const auto path = scratch / "pipe";
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    auto read = std::async(std::launch::async, [&] { return read_text(path); });
    save(path, "text");
    EXPECT_EQ(read.get(), "text");
    EXPECT_TRUE(S_ISFIFO(mode_of(path)));
    EXPECT_EQ(scratch.files(), 1u);
}

TEST_F(WholeFileTest, GoesToADevice)
{
    auto path = scratch / "null"; // as root this test uses a node of its own, which a fault may replace
#if defined(__linux__)
    if (mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) path = "/dev/null";
#else
    path = "/dev/null";
#endif
    save(path, "text");
    EXPECT_TRUE(S_ISCHR(mode_of(path)));
    if (std::filesystem::exists("/dev/full")) {
        EXPECT_THAT(error_of([&] { save("/dev/full", "text"); }).text, HasSubstr("No space left"));
    }
}

#if defined(__linux__)
TEST_F(WholeFileTest, GoesToAnOpenFileByItsNumber)
{
    const auto path = scratch / "a";
    std::FILE* const open = std::fopen(path.c_str(), "wb");
    save("/proc/self/fd/" + std::to_string(fileno(open)), "a longer text");
    std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(fileno(open)), scratch / "link");
    std::filesystem::rename(path, scratch / "b");
    save(scratch / "link", "more");
    std::fclose(open);
    EXPECT_EQ(read_text(scratch / "b"), "more");
    EXPECT_EQ(scratch.files(), 2u);
}

// A file that is mounted alone can't be renamed.
TEST_F(WholeFileTest, MayBeAMountPoint)
{
    write_text(scratch / "outside", "a longer text than the new one");
    write_text(scratch / "inside", "hidden");
    const pid_t child = fork();
    if (child == 0) { // in a mount namespace of its own
        if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) _exit(2);
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
        if (mount((scratch / "outside").c_str(), (scratch / "inside").c_str(), nullptr, MS_BIND, nullptr) !=
            0)
            _exit(2);
        try {
            save(scratch / "inside", "new");
        } catch (...) {
            _exit(1);
        }
        _exit(read_text(scratch / "inside") == "new" ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0); // 2: it may not mount, for which CMake leaves the test out
    EXPECT_EQ(read_text(scratch / "outside"), "new");
    EXPECT_EQ(read_text(scratch / "inside"), "hidden");
    EXPECT_EQ(scratch.files(), 2u);
}
#endif

#endif

} // namespace
