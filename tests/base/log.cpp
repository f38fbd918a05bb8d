// The application's function receives messages of the levels that it wants, one at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.hpp"

namespace reprise {
namespace {

using Message = std::pair<LogLevel, std::string>;

class Log : public testing::Test {
protected:
    ~Log() override { set_log({}); }
    LogFunction collect()
    {
        return [this](LogLevel level, const std::string& text) { messages.emplace_back(level, text); };
    }
    static void log_all_levels()
    {
        for (const LogLevel level : {LogLevel::debug, LogLevel::info, LogLevel::warning})
            detail::log(level, "a ", 1, " b");
    }
    std::vector<Message> messages;
};

TEST_F(Log, GoesNowhereByDefault)
{
    EXPECT_FALSE(detail::logs(LogLevel::warning));
    log_all_levels();
    set_log(collect());
    set_log({});
    log_all_levels();
    EXPECT_TRUE(messages.empty());
}

TEST_F(Log, HasTheLevelsThatAreWanted)
{
    set_log(collect());
    log_all_levels();
    EXPECT_EQ(messages, (std::vector<Message>{{LogLevel::info, "a 1 b"}, {LogLevel::warning, "a 1 b"}}));
    messages.clear();
    set_log(collect(), LogLevel::debug);
    log_all_levels();
    EXPECT_EQ(messages.size(), 3u);
    messages.clear();
    set_log(collect(), LogLevel::warning);
    log_all_levels();
    EXPECT_EQ(messages, (std::vector<Message>{{LogLevel::warning, "a 1 b"}}));
}

struct Printed {
    int* count;
    friend std::ostream& operator<<(std::ostream& out, const Printed& p) { return out << ++*p.count; }
};

TEST_F(Log, FormatsNothingThatNobodyReceives)
{
    int count = 0;
    set_log(collect(), LogLevel::warning);
    detail::log(LogLevel::info, Printed{&count});
    EXPECT_EQ(count, 0);
    detail::log(LogLevel::warning, Printed{&count});
    EXPECT_EQ(count, 1);
}

TEST_F(Log, LooksAtTheLevelAgain)
{
    set_log(collect(), LogLevel::warning);
    detail::log_message(LogLevel::info, "from a thread that looked before set_log()");
    EXPECT_TRUE(messages.empty());
}

TEST_F(Log, IgnoresWhatTheFunctionThrows)
{
    set_log([](LogLevel, const std::string&) { throw std::runtime_error("no disk"); });
    EXPECT_NO_THROW(log_all_levels());
}

TEST_F(Log, IsCalledByOneThreadAtATime)
{
    int inside = 0, most = 0, calls = 0;
    set_log([&](LogLevel, const std::string&) {
        most = std::max(most, ++inside);
        std::this_thread::yield();
        --inside;
        ++calls;
    });
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([] {
            for (int i = 0; i < 200; ++i) detail::log(LogLevel::info, i);
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(calls, 800);
    EXPECT_EQ(most, 1);
}

} // namespace
} // namespace reprise
