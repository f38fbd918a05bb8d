// Devices of a test's own.
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

// Believes to be lavapipe, swiftshader, gpu or null; computes nothing.
inline Device imitation(const char* of) { return open(device::make_null_device({.imitate = of})); }

// While it lives each evaluation of eager code on the default device is planned for itself.
class PlansOfTheirOwn {
public:
    PlansOfTheirOwn() { set_eager_plans(0); }
    ~PlansOfTheirOwn() { set_eager_plans(256); }
    PlansOfTheirOwn(const PlansOfTheirOwn&) = delete;
    PlansOfTheirOwn& operator=(const PlansOfTheirOwn&) = delete;
};

inline device::Device& inner(const Device& d) { return *d.context()->device(); }

} // namespace reprise::test
