// Devices of a test's own.
#pragma once
#include <memory>

#include <reprise/device.hpp>

#include "device/null/null_device.hpp"
#include "device/reference/reference_device.hpp"
#include "program/context.hpp"
#include "testing/use_device.hpp"

namespace reprise::test {

inline Device open(std::shared_ptr<device::Device> d)
{
    return Device(std::make_shared<program::Context>(std::move(d)));
}

// Believes to be lavapipe, swiftshader, gpu or null; computes nothing.
inline Device imitation(const char* of) { return open(device::make_null_device({.imitate = of})); }

inline device::Device& inner(const Device& d) { return *d.context()->device(); }

} // namespace reprise::test
