// What a recording tells the application: its progress, messages, and that it was cancelled.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <reprise/log.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"
#include "support/devices.hpp"

namespace reprise {
namespace {

// The stages of a recording's reports, without repetitions, and whether their numbers are right.
struct Reports {
    std::vector<RecordStage> stages;
    bool are_ordered = true;
    void take(const RecordProgress& p)
    {
        const bool is_next = stages.empty() || stages.back() != p.stage;
        if (is_next) {
            are_ordered =
                are_ordered && (stages.empty() || stages.back() < p.stage || p.stage == RecordStage::plan);
            stages.push_back(p.stage);
        } else {
            are_ordered = are_ordered && p.done >= last_.done && p.total == last_.total;
        }
        are_ordered = are_ordered && (p.total == 0 || p.done <= p.total);
        last_ = p;
    }

private:
    RecordProgress last_;
};

TEST(RecordProgress, TellsTheStages)
{
    reset_device(default_device().name()); // no pipeline is there
    Reports reports;
    const Program p = record([](const Tensor& in) { return matmul(in, in).tanh() + in.sum(); },
                             {spec({4, 4})}, {.progress = [&](const RecordProgress& r) { reports.take(r); }});
    EXPECT_TRUE(reports.are_ordered);
    ASSERT_FALSE(reports.stages.empty());
    EXPECT_EQ(reports.stages.front(), RecordStage::plan);
    EXPECT_NE(std::find(reports.stages.begin(), reports.stages.end(), RecordStage::kernels),
              reports.stages.end());
    EXPECT_EQ(reports.stages.back() == RecordStage::pipelines, default_device().type() == kVulkan);
}

TEST(RecordProgress, MayCancelOrThrow)
{
    for (const RecordStage stage : {RecordStage::plan, RecordStage::kernels}) {
        std::stop_source source;
        const auto f = [](const Tensor& in) { return (in * 3).tanh(); };
        const auto stop = [&](const RecordProgress& r) {
            if (r.stage == stage) source.request_stop();
        };
        EXPECT_EQ(
            error_of([&] { record(f, {spec({4})}, {.stop = source.get_token(), .progress = stop}); }).kind,
            ErrorKind::cancelled);
        const auto fail = [&](const RecordProgress& r) {
            if (r.stage == stage) throw std::out_of_range("the window was closed");
        };
        EXPECT_THROW(record(f, {spec({4})}, {.progress = fail}), std::out_of_range);
        const Program p = record(f, {spec({4})});
        EXPECT_EQ(p(full({4}, 0.0)).to_vector<float>(), std::vector<float>(4, 0.0f));
    }
}

TEST(RecordProgress, MayThrowWhileTheDriverCompiles)
{
    reset_device(default_device().name());
    const auto f = [](const Tensor& in) { return matmul(in, in).softmax(1) + in.sum(); };
    bool compiles = false;
    const auto fail = [&](const RecordProgress& r) {
        compiles = r.stage == RecordStage::pipelines;
        if (compiles) throw std::out_of_range("the window was closed");
    };
    if (default_device().type() == kVulkan)
        EXPECT_THROW(record(f, {spec({4, 4})}, {.progress = fail}), std::out_of_range);
    else record(f, {spec({4, 4})}, {.progress = fail});
    EXPECT_EQ(compiles, default_device().type() == kVulkan);
    const Program p = record(f, {spec({4, 4})});
    EXPECT_EQ(p(full({4, 4}, 0.0)).to_vector<float>(), std::vector<float>(16, 0.25f));
}

TEST(Log, TellsOfDevicesAndPrograms)
{
    std::vector<std::string> messages;
    set_log([&](LogLevel, const std::string& text) { messages.push_back(text); }, LogLevel::debug);
    const std::string id = default_device().name();
    reset_device(id);
    const Program p = record([](const Tensor& in) { return (in * 3).tanh(); }, {spec({4})});
    static_cast<void>(p(full({4}, 0.0)).to_vector<float>());
    set_log({});
    const auto has = [&](const std::string& start) {
        return std::any_of(messages.begin(), messages.end(),
                           [&](const std::string& m) { return m.starts_with(start); });
    };
    EXPECT_TRUE(has("Opened " + id + ": "));
    EXPECT_TRUE(has("Recorded a program of " + std::to_string(p.launches()) + " launches on " + id + " in "));
    EXPECT_EQ(has("The driver compiled "), default_device().type() == kVulkan);
}

TEST(StopToken, EndsARecording)
{
    std::stop_source source;
    const auto f = [&](const Tensor& in) {
        source.request_stop(); // as another thread would
        return (in * 3).tanh();
    };
    EXPECT_EQ(error_of([&] { record(f, {spec({4})}, {.stop = source.get_token()}); }).kind,
              ErrorKind::cancelled);
    const Program p = record(f, {spec({4})}, {.stop = std::stop_source().get_token()});
    EXPECT_EQ(p(full({4}, 0.0)).to_vector<float>(), std::vector<float>(4, 0.0f));
}

} // namespace
} // namespace reprise
