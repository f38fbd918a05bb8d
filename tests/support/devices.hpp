// Devices for single tests.
#pragma once
#include <memory>

#include <reprise/device.hpp>
#include <reprise/eager.hpp>

#include "device/null/null_device.hpp"
#include "device/reference/reference_device.hpp"
#include "eager/context.hpp"
#include "testing/use_device.hpp"

namespace reprise::test {

inline Device open(std::shared_ptr<device::Device> d)
{
    return Device(std::make_shared<eager::Context>(std::move(d)));
}

// Returns a null device with the capabilities of `of` (lavapipe, swiftshader, gpu or null); it computes nothing.
inline Device imitation(const char* of) { return open(device::make_null_device({.imitate = of})); }

// Disables the graph cache of the default device within a scope: each eager evaluation is compiled separately.
class PlansOfTheirOwn {
public:
    PlansOfTheirOwn() { set_eager_plans(0); }
    ~PlansOfTheirOwn() { set_eager_plans(256); }
    PlansOfTheirOwn(const PlansOfTheirOwn&) = delete;
    PlansOfTheirOwn& operator=(const PlansOfTheirOwn&) = delete;
};

inline device::Device& inner(const Device& d) { return *d.context()->device(); }

} // namespace reprise::test
