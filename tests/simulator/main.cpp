// The main function of tests that can also run on the simulated GPU: with REPRISE_DEVICE=simulated:32 it is the default
// device, with subgroups of 32 lanes.  With "simulated:32:reversed" the last workgroup of each launch runs first, and
// the last launch of each epoch.
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/device.hpp>

#include "simulator/device.hpp"
#include "support/devices.hpp"

int main(int argc, char** argv)
{
    const char* variable = std::getenv("REPRISE_DEVICE");
    const std::string name = variable ? variable : "", prefix = "simulated:";
    if (name.starts_with(prefix)) {
        reprise::simulator::Options options;
        options.subgroup_size = static_cast<std::uint32_t>(std::stoul(name.substr(prefix.size())));
        options.reverses = name.ends_with(":reversed");
        reprise::set_default_device(reprise::test::open(reprise::simulator::make_simulator(options)));
    }
    testing::InitGoogleMock(&argc, argv);
    return RUN_ALL_TESTS();
}
