// A transport without other ranks.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <reprise/distributed/world.hpp>

namespace bench {

// Stands for other ranks that compute the same and are never late: an exchange takes `delay`, and gives back what was
// sent, and ones where more is expected.
class Echo final : public reprise::distributed::Transport {
public:
    using Clock = std::chrono::steady_clock;
    struct Interval {
        Clock::time_point begin, end;
    };
    std::chrono::microseconds delay{0};

    explicit Echo(int size) : size_(size) {}
    int rank() const override { return 0; }
    int size() const override { return size_; }
    int local_rank() const override { return 0; }
    std::string description() const override { return "echo"; }
    void exchange(const Label&, std::span<const std::span<const std::byte>> send,
                  std::span<const std::span<std::byte>> receive, std::chrono::milliseconds) override
    {
        const Clock::time_point begin = Clock::now();
        if (delay.count() > 0) std::this_thread::sleep_for(delay);
        for (std::size_t k = 1; k < send.size(); ++k) {
            const std::size_t bytes = std::min(send[k].size(), receive[k].size());
            if (bytes > 0) std::memcpy(receive[k].data(), send[k].data(), bytes);
            const std::span<std::byte> rest = receive[k].subspan(bytes);
            for (std::size_t at = 0; at + sizeof(float) <= rest.size(); at += sizeof(float)) {
                constexpr float one = 1;
                std::memcpy(rest.data() + at, &one, sizeof one);
            }
        }
        const std::lock_guard lock(mutex_);
        intervals_.push_back({begin, Clock::now()});
    }
    // Returns the exchanges since the last call.
    std::vector<Interval> take()
    {
        const std::lock_guard lock(mutex_);
        return std::exchange(intervals_, {});
    }

private:
    const int size_;
    std::mutex mutex_;
    std::vector<Interval> intervals_;
};

} // namespace bench
