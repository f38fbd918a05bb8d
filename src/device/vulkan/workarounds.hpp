// Special treatment of particular drivers.  A row is retained as long as tests show that the driver still needs it.
#pragma once
#include <cstdint>
#include <span>
#include <volk.h>

namespace reprise::device::vulkan {

struct PhysicalDevice;

enum class Quirk : std::uint8_t {
    compiles_at_first_dispatch,
    miscompiles_signed_selects,
    texel_loads_are_wide,
    writes_what_it_allocates,
};

struct Workaround {
    VkDriverId driver;
    Quirk quirk;
    const char* what; // what the library does
    const char* why;
    const char* link;
};

std::span<const Workaround> workarounds();
bool has_quirk(const PhysicalDevice&, Quirk);

} // namespace reprise::device::vulkan
