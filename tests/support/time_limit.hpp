// Aborts the process if a test exceeds its time limit, so that a deadlock is a failure and not an endless run.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace reprise::test {

class TimeLimit {
public:
    explicit TimeLimit(std::chrono::seconds limit)
        : watch_([this, limit] {
              std::unique_lock lock(mutex_);
              if (ended_.wait_for(lock, limit, [this] { return done_; })) return;
              std::fprintf(stderr, "The test was not done after %lld s.\n",
                           static_cast<long long>(limit.count()));
              std::abort();
          })
    {}
    ~TimeLimit()
    {
        {
            const std::lock_guard lock(mutex_);
            done_ = true;
        }
        ended_.notify_one();
        watch_.join();
    }
    TimeLimit(const TimeLimit&) = delete;
    TimeLimit& operator=(const TimeLimit&) = delete;

private:
    std::mutex mutex_;
    std::condition_variable ended_;
    bool done_ = false;
    std::thread watch_; // last member, as the thread uses the others
};

} // namespace reprise::test
