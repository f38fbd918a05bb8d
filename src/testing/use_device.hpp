// Sets the default device within a scope.
#pragma once
#include <reprise/device.hpp>

namespace reprise::test {

class UseDevice {
public:
    explicit UseDevice(const Device& d) : previous_(default_device()) { set_default_device(d); }
    ~UseDevice() { set_default_device(previous_); }
    UseDevice(const UseDevice&) = delete;
    UseDevice& operator=(const UseDevice&) = delete;

private:
    Device previous_;
};

} // namespace reprise::test
