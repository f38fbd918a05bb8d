// The profiler over eager code and replays, on each device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

#include <reprise/profiler.hpp>
#include <reprise/reprise.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"
#include "support/devices.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bool has_timestamps() { return test::inner(default_device()).capabilities().timestamps; }

Program product()
{
    return record([](const Tensor& a, const Tensor& b) { return tanh(matmul(a, b)); },
                  {spec({symbol("m"), 32}), spec({32, 16})});
}

std::vector<std::int64_t> steps_of(const Profiler& profiler)
{
    std::vector<std::int64_t> out;
    for (const ProfiledLaunch& l : profiler.launches())
        if (out.empty() || out.back() != l.step) out.push_back(l.step);
    return out;
}

TEST(Profiler, RecordsTheLaunchesOfReplaysThatRan)
{
    const Program p = product();
    const Tensor a = randn({8, 32}), b = randn({32, 16});
    a.eval(), b.eval();
    const auto before = p(a, b).to_vector<float>();
    Profiler profiler;
    EXPECT_EQ(p(a, b).to_vector<float>(), before);
    const std::vector<ProfiledLaunch> launches = profiler.launches();
    if (!has_timestamps()) {
        EXPECT_THAT(launches, IsEmpty());
        return;
    }
    ASSERT_FALSE(launches.empty());
    double flops = 0;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const ProfiledLaunch& l = launches[i];
        EXPECT_FALSE(l.kernel.empty());
        EXPECT_EQ(l.device, default_device().name());
        EXPECT_GE(l.end, l.begin);
        EXPECT_GT(l.bytes, 0);
        EXPECT_GE(l.begin, launches[i > 0 ? i - 1 : 0].begin);
        flops += l.flops;
    }
    // Of one of the alternatives; the reference device counts none.
    EXPECT_EQ(flops, test::inner(default_device()).capabilities().host_kernels ? 0 : 2.0 * 8 * 16 * 32);
    EXPECT_TRUE(std::any_of(launches.begin(), launches.end(), [](const ProfiledLaunch& l) {
        return l.label.find("matmul") != std::string::npos;
    }));
}

TEST(Profiler, RecordsEagerCode)
{
    const Tensor x = randn({16, 16});
    x.eval();
    Profiler profiler;
    for (int i = 0; i < 3; ++i) exp(x).to_vector<float>(); // planned, then compiled and replayed
    if (!has_timestamps()) return;
    const auto kinds = profiler.key_averages();
    ASSERT_EQ(kinds.size(), 1u);
    EXPECT_EQ(kinds[0].count, 3);
    EXPECT_THAT(kinds[0].label, HasSubstr("exp"));
    EXPECT_THAT(kinds[0].label, testing::Not(HasSubstr("%")));
    EXPECT_DOUBLE_EQ(kinds[0].share, 1);
}

TEST(Profiler, FollowsItsSchedule)
{
    const Program p = product();
    const Tensor a = randn({4, 32}), b = randn({32, 16});
    a.eval(), b.eval();
    Profiler profiler({.schedule = {.skip_first = 1, .wait = 1, .warmup = 1, .active = 2, .repeat = 2}});
    for (int i = 0; i < 20; ++i) {
        p(a, b).to_vector<float>();
        profiler.step();
    }
    if (!has_timestamps()) return;
    EXPECT_THAT(steps_of(profiler), ElementsAre(3, 4, 7, 8));
}

TEST(Profiler, KeepsResultsAndSizes)
{
    const Program p = product();
    const Tensor b = randn({32, 16});
    std::vector<Tensor> inputs;
    std::vector<std::vector<float>> want;
    for (const std::int64_t rows : {1, 7, 64}) {
        inputs.push_back(randn({rows, 32}));
        want.push_back(p(inputs.back(), b).to_vector<float>());
    }
    for (int round = 0; round < 2; ++round) {
        const Profiler profiler;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            EXPECT_EQ(p(inputs[i], b).to_vector<float>(), want[i]);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(p(inputs[i], b).to_vector<float>(), want[i]);
}

TEST(Profiler, OfATrainingStepCountsUpdates)
{
    nn::Linear net(8, 4);
    optim::Adam optimizer(net.parameters(), {.lr = 0.1});
    const Program step = record(
        [&](const Tensor& x) {
            const Tensor loss = mean(square(net(x)));
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            return loss;
        },
        {spec({16, 8})});
    const Tensor x = randn({16, 8});
    const float first = step(x).item<float>();
    Profiler profiler;
    float last = first;
    for (int i = 0; i < 5; ++i) last = step(x).item<float>();
    EXPECT_LT(last, first);
    EXPECT_EQ(optimizer.state_dict().at("0.step").item<std::int32_t>(), 6);
    if (!has_timestamps()) return;
    EXPECT_THAT(profiler.table(), HasSubstr("adam_step"));
}

TEST(Profiler, ComparesWithThePeak)
{
    const Program p = product();
    const Tensor a = randn({8, 32}), b = randn({32, 16});
    p(a, b).eval();
    const std::string device = default_device().name();
    for (const DevicePeak& peak :
         {DevicePeak{device, 1e6, 0}, DevicePeak{device, 0, 1e6}, DevicePeak{device, 1e9, 1e3},
          DevicePeak{"another", 1e6, 1e6}, DevicePeak{}}) {
        Profiler profiler({.peak = peak});
        p(a, b).eval();
        const bool is_known = peak.device == device;
        for (const ProfiledKind& k : profiler.key_averages()) {
            EXPECT_EQ(k.device, device);
            if (k.total == 0) continue; // a coarse clock
            double want = 0;
            if (is_known && peak.flops_per_second > 0) want = k.flops / k.total * 1e6 / peak.flops_per_second;
            if (is_known && peak.bytes_per_second > 0)
                want = std::max(want, k.bytes / k.total * 1e6 / peak.bytes_per_second);
            EXPECT_NEAR(k.share_of_peak, want, 1e-9 * want);
        }
        EXPECT_EQ(profiler.table().find("% of peak") != std::string::npos, !peak.device.empty());
    }
}

TEST(Profiler, MeasuresThePeak)
{
    const DevicePeak peak = measure_peak();
    EXPECT_EQ(peak.device, default_device().name());
    const Program p = record([](const Tensor& x, const Tensor& y) { return matmul(x, x) + sum(y + 1); },
                             {spec({256, 256}), spec({1 << 20})});
    const Tensor x = randn({256, 256}), y = randn({1 << 20});
    p(x, y).eval();
    Profiler profiler({.peak = peak});
    p(x, y).eval();
    if (!has_timestamps()) return;
    double most = 0;
    for (const ProfiledKind& k : profiler.key_averages()) most = std::max(most, k.share_of_peak);
    EXPECT_GT(most, 0.01) << "other work may slow down either";
    EXPECT_LT(most, 20);
}

TEST(Profiler, MeasuresThePeakInF32AndAlone)
{
    const DevicePeak of_null = measure_peak(Device("null"));
    EXPECT_EQ(of_null.flops_per_second, 0);
    EXPECT_EQ(of_null.bytes_per_second, 0);
    Profiler profiler;
    EXPECT_EQ(error_of([&] { measure_peak(); }).kind, ErrorKind::state);
}

TEST(Profiler, WritesATrace)
{
    const Scratch scratch;
    const Program p = product();
    const Tensor a = randn({8, 32}), b = randn({32, 16});
    Profiler profiler;
    {
        const ProfilerRange outer("outer \"range\"");
        const ProfilerRange inner("inner");
        p(a, b).to_vector<float>();
    }
    std::thread([&] {
        const ProfilerRange range("of a thread");
        p(a, b).to_vector<float>();
    }).join();
    profiler.export_chrome_trace(scratch / "trace.json");
    const auto trace = nlohmann::json::parse(read_text(scratch / "trace.json"));
    std::map<std::string, nlohmann::json> named;
    std::size_t launches = 0, calls = 0, samples = 0;
    for (const auto& e : trace.at("traceEvents")) {
        if (e.at("ph") == "X") {
            EXPECT_GE(e.at("dur").get<double>(), 0);
            EXPECT_GE(e.at("ts").get<double>(), 0);
            launches += e.at("cat") == "launch";
            calls += e.at("cat") == "call";
            if (e.at("cat") == "range") named[e.at("name")] = e;
        }
        if (e.at("ph") == "C") {
            ++samples;
            EXPECT_GT(e.at("args").at("MiB").get<double>(), 0);
        }
    }
    ASSERT_EQ(named.size(), 3u);
    const auto &outer = named.at("outer \"range\""), &inner = named.at("inner");
    EXPECT_LE(outer.at("ts").get<double>(), inner.at("ts").get<double>());
    EXPECT_GE(outer.at("dur").get<double>(), inner.at("dur").get<double>());
    EXPECT_NE(named.at("of a thread").at("tid"), outer.at("tid"));
    EXPECT_GE(calls, 2u); // and the evaluations of the inputs
    EXPECT_EQ(samples, calls);
    EXPECT_EQ(launches, profiler.launches().size());
}

TEST(Profiler, EndsWithItsObject)
{
    const Program p = product();
    const Tensor a = randn({8, 32}), b = randn({32, 16});
    {
        Profiler profiler;
        EXPECT_EQ(error_of([] { Profiler(); }).kind, ErrorKind::state);
        p(a, b).to_vector<float>();
        const std::size_t count = profiler.launches().size();
        profiler.stop();
        p(a, b).to_vector<float>();
        EXPECT_EQ(profiler.launches().size(), count);
        profiler.step();
        EXPECT_EQ(profiler.launches().size(), count);
    }
    std::optional<ProfilerRange> ignored("without a profiler"), open;
    {
        const Profiler other;
        open.emplace("that ends after its profiler");
    }
    const Profiler again;
    open.reset();
    EXPECT_THAT(again.launches(), IsEmpty());
}

TEST(Profiler, RefusesNumbersOutOfRange)
{
    for (const ProfilerSchedule& s : {ProfilerSchedule{.wait = -1}, ProfilerSchedule{.warmup = -1},
                                      ProfilerSchedule{.active = 0}, ProfilerSchedule{.repeat = -1}}) {
        const Caught caught = error_of([&] { Profiler({.schedule = s}); });
        EXPECT_EQ(caught.kind, ErrorKind::argument);
        EXPECT_THAT(caught.text,
                    HasSubstr("(" + std::to_string(std::min({s.wait, s.warmup, s.repeat, s.active})) + ")"));
    }
    const Profiler one; // none is left behind
}

TEST(Profiler, WithoutLaunchesHasAnEmptyTable)
{
    const Scratch scratch;
    const Profiler profiler;
    EXPECT_THAT(profiler.table(), HasSubstr("all launches"));
    profiler.export_chrome_trace(scratch / "trace.json");
    EXPECT_TRUE(nlohmann::json::parse(read_text(scratch / "trace.json")).contains("traceEvents"));
    EXPECT_EQ(error_of([&] { profiler.export_chrome_trace(scratch / "none/trace.json"); }).kind,
              ErrorKind::file);
}

} // namespace
