// What the library uses of its process: environment variables, files and threads, where the application allows them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <reprise/ops.hpp>
#include <reprise/process.hpp>
#include <reprise/program.hpp>

#include "io/scratch.hpp"
#include "kernels/code_cache.hpp"
#include "shape/error_of.hpp"

namespace reprise {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t threads()
{
    const fs::path tasks = "/proc/self/task"; // of Linux
    return fs::exists(tasks) ? std::distance(fs::directory_iterator(tasks), fs::directory_iterator()) : 0;
}

// Records on the device of the test, and returns the largest number of threads that were added on the way.
std::ptrdiff_t threads_of_record(const Device& device)
{
    // The driver's own threads start with the first launch.
    ones({4}, {.device = device}).sum().item<float>();
    const std::ptrdiff_t before = threads();
    std::ptrdiff_t most = 0;
    record([](Tensor x) { return (tanh(x) * 1.2345 + exp(x)).softmax(1).sum(0); }, {spec({symbol("n"), 4})},
           {.device = device,
            .progress = [&](const RecordProgress&) { most = std::max(most, threads() - before); }});
    return most;
}

// Returns what is wrong, or null.
const char* wrong_use(const fs::path& folder)
{
    const Device device = default_device();
    reset_default_device();
    setenv("REPRISE_DEVICE", "nonsense", 1);
    setenv("REPRISE_CACHE_DIR", (folder / "kernels").c_str(), 1);
    if (error_of([] { return default_device(); }).kind != ErrorKind::device)
        return "REPRISE_DEVICE is not read";
    if (kernels::code_cache() != folder / "kernels") return "REPRISE_CACHE_DIR is not read";

    set_process_options({.environment = false, .threads = false});
    default_device();
    if (!kernels::code_cache().empty()) return "a folder for kernels";
    if (threads_of_record(device) != 0) return "threads";
    if (fs::exists(folder / "kernels")) return "files";

    set_cache_directory(folder / "named");
    return kernels::code_cache() == folder / "named" ? nullptr : "another folder than the named one";
}

// In a process of its own, as the options and the folder for kernels are those of the process.
void use_nothing()
{
    const char* wrong = nullptr;
    {
        const Scratch scratch;
        wrong = wrong_use(scratch.path());
    }
    if (!wrong) std::exit(0);
    std::fprintf(stderr, "%s\n", wrong);
    std::_Exit(1);
}

TEST(Process, IsLeftAlone)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(use_nothing(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace reprise
