#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "base/process.hpp"

namespace reprise::detail {

namespace {

class ThreadPool {
public:
    // Threads are detached, as the pool is never destroyed: a device may still compute while the process exits.
    static ThreadPool& instance()
    {
        static ThreadPool* const pool = new ThreadPool;
        return *pool;
    }

    std::size_t threads() const { return threads_; }

    void run(std::size_t count, const std::function<void(std::size_t)>& body)
    {
        const std::lock_guard turn(turn_);
        const std::size_t helpers = std::min(count, threads_) - 1;
        {
            const std::lock_guard lock(mutex_);
            start(helpers);
            body_ = &body;
            count_ = count;
            next_ = 0;
            error_ = nullptr;
            places_ = helpers;
        }
        for (std::size_t i = 0; i < helpers; ++i) begun_.notify_one();
        work();
        std::unique_lock lock(mutex_);
        places_ = 0; // threads that have not woken up are not awaited
        ended_.wait(lock, [&] { return busy_ == 0; });
        if (error_) std::rethrow_exception(error_);
    }

private:
    ThreadPool() = default;

    static std::size_t wanted_threads()
    {
        if (!may_start_threads()) return 1;
        const std::size_t cores = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
        const std::string limit = environment_variable("LP_NUM_THREADS").value_or("");
        char* end = nullptr;
        const unsigned long most = std::strtoul(limit.c_str(), &end, 0);
        const bool is_number = !limit.empty() && *end == '\0';
        return is_number ? std::clamp<std::size_t>(most, 1, cores) : cores;
    }

    void start(std::size_t helpers) // requires mutex_
    {
        for (; started_ < helpers; ++started_) {
            try {
                std::thread([this] { serve(); }).detach();
            } catch (const std::system_error&) {
                return; // the process may have no more threads
            }
        }
    }

    void serve()
    {
        std::unique_lock lock(mutex_);
        for (;;) {
            begun_.wait(lock, [&] { return places_ > 0; });
            --places_;
            ++busy_;
            lock.unlock();
            work();
            lock.lock();
            if (--busy_ == 0) ended_.notify_one();
        }
    }

    void work() noexcept
    {
        for (std::size_t i = next_++; i < count_; i = next_++) {
            try {
                (*body_)(i);
            } catch (...) {
                const std::lock_guard lock(mutex_);
                if (!error_) error_ = std::current_exception();
                next_ = count_;
            }
        }
    }

    std::mutex turn_; // held by the caller whose work runs
    std::mutex mutex_;
    std::condition_variable begun_, ended_;
    const std::size_t threads_ = wanted_threads(); // with the caller
    std::size_t started_ = 0;
    std::size_t places_ = 0; // for threads that may still join the work
    std::size_t busy_ = 0;   // threads that have joined it
    const std::function<void(std::size_t)>* body_ = nullptr;
    std::size_t count_ = 0;
    std::atomic<std::size_t> next_ = 0;
    std::exception_ptr error_;
};

// The default floating-point environment, until the scope ends; threads that are started meanwhile inherit it.
class DefaultEnvironment {
public:
    DefaultEnvironment()
    {
        std::fegetenv(&before_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultEnvironment() { std::fesetenv(&before_); }
    DefaultEnvironment(const DefaultEnvironment&) = delete;
    DefaultEnvironment& operator=(const DefaultEnvironment&) = delete;

private:
    std::fenv_t before_{};
};

} // namespace

std::size_t parallel_threads() { return ThreadPool::instance().threads(); }

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body)
{
    const DefaultEnvironment environment;
    if (count >= 2 && parallel_threads() >= 2) return ThreadPool::instance().run(count, body);
    for (std::size_t i = 0; i < count; ++i) body(i);
}

} // namespace reprise::detail
