// Another default device for a while.
#pragma once
#include <reprise/device.hpp>

namespace reprise::test {

class UseDevice {
public:
    explicit UseDevice(const Device& d) : before_(default_device()) { set_default_device(d); }
    ~UseDevice() { set_default_device(before_); }
    UseDevice(const UseDevice&) = delete;
    UseDevice& operator=(const UseDevice&) = delete;

private:
    Device before_;
};

} // namespace reprise::test
