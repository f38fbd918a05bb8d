// A device that was closed: what was made on it refuses to be used, and may go at any time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/vulkan.hpp>

#include "shape/error_of.hpp"

namespace reprise {
namespace {

// In a process of its own, as other tests share the device.
void use_after_close()
{
    const Device device = default_device();
    static Tensor outlives; // the end of main()
    const Tensor x = outlives = ones({4}) * 2;
    const Tensor pending = x + 1;
    nn::Linear linear(4, 2);
    const auto program = record([&](Tensor in) { return linear(in); }, {spec({symbol("n"), 4})});
    program(ones({3, 4})).to_vector<float>();
    device.close();
    device.close();
    const auto refuses = [](const char* what, const std::function<void()>& use) {
        const Caught error = error_of([&] {
            use();
            return 0;
        });
        if (error.kind == ErrorKind::device && error.text.find("was closed") != std::string::npos) return;
        std::fprintf(stderr, "%s: %s\n", what, error.text.c_str());
        std::_Exit(1);
    };
    refuses("read", [&] { x.to_vector<float>(); });
    refuses("evaluate", [&] { pending.to_vector<float>(); });
    refuses("upload", [&] {
        from_vector(std::vector<float>{1, 2}, {2}, {.device = device}).to_vector<float>();
    });
    refuses("synchronize", [&] { device.synchronize(); });
    refuses("program", [&] { program(ones({3, 4}, {.device = device})); });
    if (sum(ones({4})).item<float>() != 4) std::_Exit(3); // on the default device, opened anew
    if (default_device() == device) std::_Exit(4);
    std::exit(0);
}

TEST(ClosedDevice, RefusesToBeUsed)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(use_after_close(), testing::ExitedWithCode(0), "");
}

TEST(OwnDevice, NamesTheHandleThatIsNull)
{
    int live = 0;
    const vulkan::Handles handles{.instance = &live, .physical_device = &live, .device = &live};
    const Caught caught = error_of([&] { vulkan::make_device(handles); });
    EXPECT_EQ(caught.kind, ErrorKind::argument);
    EXPECT_NE(caught.text.find("(queue)"), std::string::npos) << caught.text;
}

} // namespace
} // namespace reprise
