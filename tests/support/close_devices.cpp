// Closes the devices at the end of the tests of a program, so that the validation layer reports objects that were not
// destroyed.  At the end of a process devices are only abandoned.
#include <gtest/gtest.h>

#include <reprise/device.hpp>

namespace {

struct CloseDevices : testing::Environment {
    void TearDown() override
    {
        reprise::reset_default_device();
        for (const char* name : {"vulkan:0", "vulkan:1", "vulkan:2"}) {
            try {
                reprise::reset_device(name);
            } catch (const reprise::Error&) { // no such device
            }
        }
    }
};
// In an object library, so that the linker keeps it.
const testing::Environment* const closes = testing::AddGlobalTestEnvironment(new CloseDevices);

} // namespace
