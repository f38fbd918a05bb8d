#include "execution/run_ahead.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <reprise/error.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "support/devices.hpp"
#include "support/time_limit.hpp"

namespace reprise {
namespace {

using device::Ticket;
using execution::RunAhead;
using Time = RunAhead::Time;

Time::duration milliseconds(double ms)
{
    return std::chrono::duration_cast<Time::duration>(std::chrono::duration<double, std::milli>(ms));
}

// A device that does one call after the other, and a host that makes them, in time that passes only here.
struct Simulated {
    RunAhead calls{};
    Time now = Time(milliseconds(5e6)), busy_until = now;
    std::deque<Time> ends{}; // by ticket, from 1
    std::size_t waits = 0, most_in_flight = 0;
    Time::duration idle{};

    // -- of a queue --
    bool done(Ticket t) const { return t == 0 || ends[t - 1] <= now; }
    void wait(Ticket t)
    {
        ASSERT_GT(t, 0u);
        ASSERT_LE(t, ends.size());
        ++waits;
        now = std::max(now, ends[t - 1]);
    }

    void call(double host_ms, double device_ms)
    {
        calls.make_room(*this, [this] { return now; });
        now += milliseconds(host_ms);
        if (!ends.empty() && busy_until < now) idle += now - busy_until;
        busy_until = std::max(busy_until, now) + milliseconds(device_ms);
        ends.push_back(busy_until);
        calls.submitted(ends.size());
        std::size_t in_flight = 0;
        while (in_flight < ends.size() && !done(ends.size() - in_flight)) ++in_flight;
        most_in_flight = std::max(most_in_flight, in_flight);
    }
    void run(int count, double host_ms, double device_ms)
    {
        for (int i = 0; i < count; ++i) call(host_ms, device_ms);
    }
    void forget()
    {
        waits = most_in_flight = 0;
        idle = {};
    }
    std::size_t in_flight_of(int count, double host_ms, double device_ms)
    {
        forget();
        run(count, host_ms, device_ms);
        return most_in_flight;
    }
};

TEST(RunAhead, NeverHasMoreInFlightThanItMay)
{
    for (std::uint32_t limit = 1; limit <= RunAhead::max_calls; ++limit)
        for (const double host : {0.0, 0.01, 0.2})
            for (const double device_ms : {0.01, 1.0, 30.0, 400.0}) {
                SCOPED_TRACE(testing::Message() << limit << " calls, " << host << ", " << device_ms << " ms");
                Simulated s;
                s.calls.set_limit(limit);
                s.run(200, host, device_ms);
                EXPECT_LE(s.most_in_flight, limit);
                if (limit <= 3 && host < device_ms) {
                    EXPECT_EQ(s.most_in_flight, limit);
                }
            }
}

// Every fifth call finds the host late, by most of what is left in flight then.
TEST(RunAhead, KeepsTheDeviceBusyWhileTheHostIsLate)
{
    for (const double device_ms : {1.0, 30.0, 100.0, 400.0, 700.0, 3000.0}) {
        Simulated s;
        const double late = device_ms > 120 ? 1.6 : 3.6; // 2 are left in flight, 4
        s.run(64, 0.3 * device_ms, device_ms);
        s.forget();
        for (int i = 0; i < 500; ++i) s.call((i % 5 ? 0.3 : late) * device_ms, device_ms);
        EXPECT_EQ(s.idle, Time::duration::zero()) << device_ms;
    }
}

TEST(RunAhead, WakesOnceForMostOfTheCalls)
{
    Simulated s;
    s.run(32, 0.1, 5);
    s.forget();
    s.run(1200, 0.1, 5);
    EXPECT_EQ(s.waits, 100u); // for 12 of 16
    EXPECT_EQ(s.most_in_flight, 16u);
}

TEST(RunAhead, KeepsAboutTwoSecondsInFlight)
{
    const auto in_flight_at = [](double device_ms) {
        Simulated s;
        s.run(64, 0.1, device_ms);
        return s.in_flight_of(64, 0.1, device_ms);
    };
    EXPECT_EQ(in_flight_at(10), 16u);
    EXPECT_EQ(in_flight_at(124), 16u);
    EXPECT_EQ(in_flight_at(199), 10u);
    EXPECT_EQ(in_flight_at(420), 4u);
    EXPECT_EQ(in_flight_at(900), 3u);
    EXPECT_EQ(in_flight_at(30000), 3u);
}

TEST(RunAhead, StartsWithFewBeforeItKnowsHowLongACallTakes)
{
    Simulated s;
    EXPECT_EQ(s.in_flight_of(64, 0.1, 2000), 3u);
}

TEST(RunAhead, FollowsCallsThatBecomeSlowerAndQuicker)
{
    Simulated s;
    for (int i = 0; i < 3; ++i) {
        s.run(64, 0.1, 1);
        EXPECT_EQ(s.in_flight_of(64, 0.1, 1), 16u);
        s.run(20, 0.1, 900); // the first were let in as quick ones
        EXPECT_EQ(s.in_flight_of(64, 0.1, 900), 3u);
        s.now += milliseconds(100'000); // the host did something else
    }
}

TEST(RunAhead, NeverWaitsForADeviceThatIsAhead)
{
    Simulated s;
    s.run(100, 1, 0.5);
    EXPECT_EQ(s.waits, 0u);
}

// A step, then a small evaluation: by their mean, not by the one that was waited for.
TEST(RunAhead, KeepsTwoSecondsInFlightWhereLongAndShortCallsAlternate)
{
    for (const double long_ms : {500.0, 1000.0, 3000.0, 30000.0}) {
        Simulated s;
        double most = 0;
        for (int i = 0; i < 400; ++i) {
            s.call(0.1, i % 2 ? 1 : long_ms);
            if (i >= 64) most = std::max(most, std::chrono::duration<double>(s.busy_until - s.now).count());
        }
        EXPECT_LE(most, std::max(2.0, 2 * long_ms / 1000) + 0.2) << long_ms;
    }
}

TEST(RunAhead, CountsAWaitOfTwoThreadsOnce)
{
    Simulated s;
    s.run(64, 0.1, 1);
    struct Both {
        Simulated& s;
        bool is_second = false;
        bool done(Ticket t) const { return s.done(t); }
        void wait(Ticket t)
        {
            if (!is_second) { // before the first has woken
                Both second{s, true};
                s.calls.make_room(second, [this] { return s.now; });
            }
            s.wait(t);
        }
    } both{s};
    for (int i = 0; i < 100; ++i) {
        s.calls.make_room(both,
                          [&] { return s.now + milliseconds(60'000); }); // the second told the time before
        EXPECT_TRUE(s.calls.has_room(s)) << i;
        s.call(0.1, 1);
    }
    EXPECT_EQ(s.in_flight_of(12, 0.1, 1), 16u);
}

TEST(RunAhead, IsLimitedAtAnyTime)
{
    Simulated s;
    s.run(64, 0.1, 1);
    for (const std::uint32_t limit : {4u, 1u, 2u, 16u, 3u}) {
        s.calls.set_limit(limit);
        s.run(16, 0.1, 1); // those in flight are done
        EXPECT_LE(s.in_flight_of(64, 0.1, 1), limit);
        s.run(40, 0.1, 1);
        EXPECT_EQ(s.in_flight_of(64, 0.1, 1), limit);
    }
}

// -- devices --

// The reference device, whose work counts as done when somebody waits for it.
class Late : public device::Device {
public:
    const device::Capabilities& capabilities() const override { return of_->capabilities(); }
    device::Counters counters() const override { return of_->counters(); }
    std::unique_ptr<device::Memory> allocate(std::uint64_t n) override { return of_->allocate(n); }
    std::unique_ptr<device::Memory> allocate_readable(std::uint64_t n) override
    {
        return of_->allocate_readable(n);
    }
    void set_memory_limit(std::uint64_t n) override { of_->set_memory_limit(n); }
    void reset_peak() override { of_->reset_peak(); }
    void upload(device::Address to, std::span<const std::byte> from) override { of_->upload(to, from); }
    void download(device::Address from, std::span<std::byte> to) override { of_->download(from, to); }
    std::unique_ptr<device::Recording> record(std::span<const device::LaunchDeclaration> launches,
                                              const device::RecordingOptions& options) override
    {
        return of_->record(launches, options);
    }
    void register_kernel(const std::string&, std::vector<std::uint32_t>) override {}
    Ticket submitted() const override { return submits(); }
    bool done(Ticket t) override { return t <= reached; }
    void wait(Ticket t) override
    {
        most_in_flight = std::max(most_in_flight, in_flight());
        ++waits;
        if (fail_waits) throw Error(ErrorKind::state, "The wait fails.");
        if (while_waiting && !std::exchange(inside_, true)) {
            while_waiting();
            inside_ = false;
        }
        reached = std::max<Ticket>(reached, t);
    }
    void wait_idle() override { reached = submits(); }
    void fail_next(const std::string& kind, std::uint32_t n, Fault f) override { of_->fail_next(kind, n, f); }
    void clear_faults() override { of_->clear_faults(); }
    bool lost() const override { return of_->lost(); }
    void close() override { of_->close(); }

    std::uint64_t submits() const { return of_->counters().submits; }
    std::uint64_t in_flight() const { return submits() - reached; }
    void forget() { waits = most_in_flight = 0; }

    Ticket reached = 0;
    std::uint64_t waits = 0, most_in_flight = 0;
    bool fail_waits = false;
    std::function<void()> while_waiting{};

private:
    bool inside_ = false;
    std::shared_ptr<device::Device> of_ = device::make_reference_device();
};

class RunAheadOfADevice : public testing::Test {
protected:
    // Calls that wait for nothing by themselves: never more than `most` of them in flight.
    void expect_at_most(std::uint64_t most, const char* what, const std::function<void()>& call)
    {
        SCOPED_TRACE(what);
        for (int i = 0; i < 40; ++i) {
            call();
            EXPECT_LE(late_->in_flight(), most);
        }
        late_->forget();
        for (int i = 0; i < 60; ++i) call();
        EXPECT_GT(late_->waits, 0u);
        EXPECT_EQ(std::max(late_->most_in_flight, late_->in_flight()), most);
    }

    std::shared_ptr<Late> late_ = std::make_shared<Late>();
    Device device_ = test::open(late_);
    test::UseDevice use_{device_};
};

TEST_F(RunAheadOfADevice, HoldsForEagerCodeAndPrograms)
{
    Tensor x = ones({7});
    eval({x});
    const Program program = record([](Tensor in) { return in * 2 + 1; }, {spec({symbol("n")})});
    for (const std::uint32_t most : {1u, 2u, 3u, 16u}) {
        SCOPED_TRACE(most);
        device_.set_calls_in_flight(most);
        expect_at_most(most, "replayed", [&] { eval({sin(x)}); });
        expect_at_most(most, "program", [&] { program(x); });
        expect_at_most(most, "program of what is not computed", [&] { program(x * 3); });
        const test::PlansOfTheirOwn each;
        expect_at_most(most, "planned once", [&] { eval({cos(x)}); });
    }
    EXPECT_EQ((x * 3).to_vector<float>(), std::vector<float>(7, 3));
}

TEST_F(RunAheadOfADevice, WaitsForNothingWhereThereIsAValue)
{
    const Tensor x = ones({2, 3}), first = x + 1;
    eval({first});
    for (int i = 0; i < 15; ++i) eval({first * i});
    const std::uint64_t before = late_->waits;
    device_.set_calls_in_flight(1); // there is no room
    eval({first});
    eval({first.reshape({6}), narrow(first, 0, 0, 1)});
    EXPECT_EQ(late_->waits, before);
    eval({first + 1});
    EXPECT_GT(late_->waits, before);
}

TEST_F(RunAheadOfADevice, OthersMayComputeReadAndUploadMeanwhile)
{
    const Tensor x = ones({3});
    eval({x});
    const Program program = record([](Tensor in) { return in * 2; }, {spec({symbol("n")})});
    int others = 0;
    late_->while_waiting = [&] {
        const std::uint64_t reached = std::exchange(late_->reached, late_->submits()); // there is room
        std::thread([&] {
            const test::UseDevice use(device_);
            EXPECT_EQ((from_vector({1, 2, 3}) + x).to_vector<float>(), (std::vector<float>{2, 3, 4}));
            ++others;
        }).join(); // forever, if it waits for this thread
        late_->reached = reached;
    };
    device_.set_calls_in_flight(2);
    const test::TimeLimit limit(std::chrono::seconds(100));
    const auto meanwhile = [&](const std::function<void()>& call) {
        const int before = others;
        for (int i = 0; i < 4; ++i) call();
        EXPECT_GT(others, before + 1);
    };
    meanwhile([&] { eval({exp(x)}); });
    meanwhile([&] { program(x); });
    meanwhile([&] { program(x + 1); });
}

TEST_F(RunAheadOfADevice, LeavesAllAsItWasWhereAWaitThrows)
{
    const Tensor x = ones({3});
    eval({x});
    const Program program = record([](Tensor in) { return in * 2; }, {spec({symbol("n")})});
    device_.set_calls_in_flight(1);
    program(x);
    late_->fail_waits = true;
    const Tensor y = x + 5;
    EXPECT_THROW(eval({y}), Error);
    EXPECT_THROW(program(x), Error);
    late_->fail_waits = false;
    EXPECT_EQ(y.to_vector<float>(), std::vector<float>(3, 6));
    EXPECT_EQ(program(x).to_vector<float>(), std::vector<float>(3, 2));
}

TEST_F(RunAheadOfADevice, TakesNoOtherNumbers)
{
    for (const std::uint32_t n : {0u, 17u}) try {
            device_.set_calls_in_flight(n);
            ADD_FAILURE() << n;
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::argument);
        }
}

} // namespace
} // namespace reprise
