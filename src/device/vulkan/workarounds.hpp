// What is done because of one driver.  A row is kept while tests show that its driver still needs it.
#pragma once
#include <cstdint>
#include <span>
#include <volk.h>

namespace reprise::device::vulkan {

struct PhysicalDevice;

enum class Quirk : std::uint8_t {
    compiles_at_first_dispatch,
    flushes_subnormals,
    texel_loads_are_wide,
    writes_what_it_allocates,
};

struct Workaround {
    VkDriverId driver;
    Quirk quirk;
    const char* what; // we do
    const char* why;
    const char* link;
};

std::span<const Workaround> workarounds();
bool has_quirk(const PhysicalDevice&, Quirk);

} // namespace reprise::device::vulkan
