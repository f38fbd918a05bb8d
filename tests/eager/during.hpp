// Eager code that replays: what it makes, and what it gives with plans of its own.
#pragma once
#include <gtest/gtest.h>

#include <functional>

#include <reprise/eager.hpp>
#include <reprise/memory.hpp>

#include "support/devices.hpp"

namespace reprise::test {

// What happened on the default device, which may be a test's own, while f ran.
inline Stats during(const std::function<void()>& f)
{
    const Stats before = stats(default_device());
    f();
    Stats s = stats(default_device());
    s.plans -= before.plans;
    s.recordings -= before.recordings;
    s.pipelines -= before.pipelines;
    s.shader_modules -= before.shader_modules;
    s.shader_compilations -= before.shader_compilations;
    s.eager_replays -= before.eager_replays;
    s.eager_nodes -= before.eager_nodes;
    return s;
}
inline bool made_nothing(const Stats& s)
{
    return s.plans == 0 && s.recordings == 0 && s.pipelines == 0 && s.shader_modules == 0 &&
           s.shader_compilations == 0;
}

// Keeps plans of eager code anew, and leaves none behind.
class Eager : public testing::Test {
protected:
    Eager()
    {
        set_eager_plans(0);
        set_eager_plans(256);
    }
    ~Eager() override
    {
        set_eager_plans(0);
        set_eager_plans(256);
    }

    static std::uint64_t replays(const std::function<void()>& f) { return during(f).eager_replays; }
    static std::uint64_t plans(const std::function<void()>& f) { return during(f).plans; }
};

// With plans of their own.  Forgets those that are kept.
template <class F> auto alone(const F& f)
{
    const PlansOfTheirOwn independent;
    return f();
}

} // namespace reprise::test
