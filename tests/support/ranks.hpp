// Worlds of threads, each with a device of its own.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <reprise/distributed/nccl.hpp>
#include <reprise/distributed/world.hpp>

#include "device/registry.hpp"
#include "ops/random.hpp"
#include "support/devices.hpp"

namespace reprise::test {

// Opens another device like the default one.
inline Device another_device()
{
    const std::string id = default_device().name();
    const auto kept = device::open(id); // so that reset() leaves it to its holders
    device::reset(id);
    const auto fresh = device::open(id, {.slab_bytes = std::uint64_t{64} << 20});
    device::reset(id);
    return open(fresh);
}

// The devices of ranks, which tests share, as each compiles its own kernels.  Lost ones are replaced.
inline std::vector<Device> devices_of_ranks(int size)
{
    static std::vector<Device> pool;
    struct Clear : testing::Environment {
        void TearDown() override { pool.clear(); }
    };
    static const testing::Environment* const clear = testing::AddGlobalTestEnvironment(new Clear);
    static_cast<void>(clear);
    for (std::size_t k = 0; k < static_cast<std::size_t>(size); ++k) {
        if (k == pool.size()) pool.push_back(another_device());
        if (inner(pool[k]).lost()) pool[k] = another_device();
    }
    return {pool.begin(), pool.begin() + size};
}

// Runs f(world, device) for each rank of these worlds at the same time, and rethrows the first exception.  If
// REPRISE_TEST_NCCL is set, NCCL runs the collectives.
inline void on_ranks(std::vector<distributed::World> worlds,
                     const std::function<void(const distributed::World&, const Device&)>& f)
{
    const auto size = static_cast<int>(worlds.size());
    const std::vector<Device> devices = devices_of_ranks(size);
    std::vector<std::thread> threads;
    std::mutex mutex;
    std::exception_ptr first;
    for (int k = 0; k < size; ++k)
        threads.emplace_back([&, k, world = std::move(worlds[static_cast<std::size_t>(k)])]() mutable {
            const ops::ThreadGenerator generator({.seed = 1});
            try {
                if (std::getenv("REPRISE_TEST_NCCL"))
                    distributed::use_nccl(world, devices[static_cast<std::size_t>(k)]);
                f(world, devices[static_cast<std::size_t>(k)]);
            } catch (...) {
                const std::lock_guard lock(mutex);
                first = first ? first : std::current_exception();
            }
            world.leave(); // so that the others do not wait for this rank
        });
    for (std::thread& t : threads) t.join();
    if (first) std::rethrow_exception(first);
}
inline void on_ranks(int size, const std::function<void(const distributed::World&, const Device&)>& f)
{
    on_ranks(distributed::local_worlds(size), f);
}

} // namespace reprise::test
