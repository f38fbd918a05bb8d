// What a recording tells the application: its progress, messages, and that it was cancelled.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <reprise/log.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"
#include "support/devices.hpp"

namespace reprise {
namespace {

// The reports of a recording, without those of `plan`.
struct Report {
    RecordStage stage;
    std::size_t done, total;
    friend bool operator==(const Report&, const Report&) = default;
};

TEST(RecordProgress, CountsTheKernelsAndThePipelines)
{
    reset_device(default_device().name()); // no pipeline is there
    bool begins_with_plan = false, is_first = true;
    std::vector<Report> reports;
    const auto thread = std::this_thread::get_id();
    const Program p = record([](const Tensor& in) { return matmul(in, in).tanh() + in.sum(); },
                             {spec({4, 4})}, {.progress = [&](const RecordProgress& r) {
                                 EXPECT_EQ(std::this_thread::get_id(), thread);
                                 begins_with_plan |= is_first && r.stage == RecordStage::plan;
                                 is_first = false;
                                 if (r.stage != RecordStage::plan) {
                                     reports.push_back({r.stage, r.done, r.total});
                                     return;
                                 }
                                 EXPECT_TRUE(reports.empty());
                             }});
    EXPECT_TRUE(begins_with_plan);
    ASSERT_FALSE(reports.empty());
    for (const RecordStage stage : {RecordStage::kernels, RecordStage::pipelines}) {
        std::vector<Report> of_stage;
        for (const Report& r : reports)
            if (r.stage == stage) of_stage.push_back(r);
        if (stage == RecordStage::pipelines && default_device().type() != kVulkan) {
            EXPECT_TRUE(of_stage.empty());
            continue;
        }
        ASSERT_GE(of_stage.size(), 2u);
        EXPECT_EQ(of_stage.front(), (Report{stage, 0, of_stage.back().total}));
        EXPECT_EQ(of_stage.back().done, of_stage.back().total);
        EXPECT_GT(of_stage.back().total, 0u);
        EXPECT_TRUE(std::is_sorted(of_stage.begin(), of_stage.end(),
                                   [](const Report& a, const Report& b) { return a.done < b.done; }));
    }
    EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end(),
                               [](const Report& a, const Report& b) { return a.stage < b.stage; }));
}

TEST(RecordProgress, IsToldWithAMemoryBudget)
{
    std::size_t reports = 0;
    record([](const Tensor& in) { return matmul(in, in).tanh() + in.sum(); }, {spec({4, 4})},
           {.memory_budget = 1 << 20, .progress = [&](const RecordProgress& r) {
                EXPECT_LE(r.done, r.total);
                ++reports;
            }});
    EXPECT_GT(reports, 0u);
}

TEST(RecordProgress, MayCancelOrThrow)
{
    for (const RecordStage stage : {RecordStage::plan, RecordStage::kernels}) {
        bool stopped = false;
        const auto f = [](const Tensor& in) { return (in * 3).tanh(); };
        const auto stop = [&](const RecordProgress& r) {
            if (r.stage == stage) stopped = true;
        };
        EXPECT_EQ(error_of([&] {
                      record(f, {spec({4})}, {.stop = [&] { return stopped; }, .progress = stop});
                  }).kind,
                  ErrorKind::cancelled);
        const auto fail = [&](const RecordProgress& r) {
            if (r.stage == stage) throw std::out_of_range("the window was closed");
        };
        EXPECT_THROW(record(f, {spec({4})}, {.progress = fail}), std::out_of_range);
        const Program p = record(f, {spec({4})});
        EXPECT_EQ(p(full({4}, 0.0)).to_vector<float>(), std::vector<float>(4, 0.0f));
    }
}

TEST(RecordProgress, MayEndTheWorkOfTheDriver)
{
    const bool is_vulkan = default_device().type() == kVulkan;
    const auto f = [](const Tensor& in) { return matmul(in, in).softmax(1) + in.sum() * exp(in).prod(); };
    for (const bool throws : {true, false}) {
        reset_device(default_device().name());
        bool stopped = false;
        std::size_t reports = 0;
        const auto end = [&](const RecordProgress& r) {
            if (r.stage != RecordStage::pipelines) return;
            ++reports;
            if (throws) throw std::out_of_range("the window was closed");
            stopped = true;
        };
        const RecordOptions options{.stop = [&] { return stopped; }, .progress = end};
        std::optional<ErrorKind> kind;
        bool has_thrown = false;
        try {
            record(f, {spec({4, 4})}, options);
        } catch (const Error& error) {
            kind = error.kind();
        } catch (const std::out_of_range&) {
            has_thrown = true;
        }
        EXPECT_EQ(has_thrown, is_vulkan && throws);
        EXPECT_EQ(kind, is_vulkan && !throws ? std::optional(ErrorKind::cancelled) : std::nullopt);
        EXPECT_EQ(reports, is_vulkan ? 1u : 0u);
        const Program p = record(f, {spec({4, 4})});
        EXPECT_EQ(p(full({4, 4}, 0.0)).to_vector<float>(), std::vector<float>(16, 0.25f));
    }
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
    EXPECT_TRUE(has("Recorded a program on " + id + " in "));
    EXPECT_EQ(has("The driver compiled "), default_device().type() == kVulkan);
}

TEST(RecordProgress, EndsWhenItIsToldTo)
{
    bool stopped = false;
    const auto f = [&](const Tensor& in) {
        stopped = true; // as another thread would
        return (in * 3).tanh();
    };
    EXPECT_EQ(error_of([&] { record(f, {spec({4})}, {.stop = [&] { return stopped; }}); }).kind,
              ErrorKind::cancelled);
    const Program p = record(f, {spec({4})}, {.stop = [] { return false; }});
    EXPECT_EQ(p(full({4}, 0.0)).to_vector<float>(), std::vector<float>(4, 0.0f));
}

} // namespace
} // namespace reprise
