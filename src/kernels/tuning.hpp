// Choices among variants of a kernel that give the same bits: they change the speed of a device only.  `reprise tune`
// measures them (program/tune.cpp).
#pragma once
#include <cstdint>

#include "device/device.hpp"

namespace reprise::kernels {

struct Tuning {
    // A product uses tiles of 128 x 128 elements if it has so many of them, as fewer do not occupy a GPU, and as many
    // rows and columns as `large_side`; else it uses tiles of 64 x 64.  On an H200 (132 multiprocessors) a product of
    // 1024 ran at 14.9 TFLOP/s by small tiles and at 11.8 by 64 large ones, one of 2048 at 24.8 and 28.9.  With shorter
    // sides most products of a program with symbolic sizes would have two launches.
    std::uint32_t large_tiles = 128, large_side = 1024;
    std::uint32_t large_matrix_tiles = 128; // in place of large_tiles, of products by cooperative matrices

    friend bool operator==(const Tuning&, const Tuning&) = default;
};
constexpr std::uint32_t never = ~0u;

// What store_tuning() stored in the cache folder for this device, this driver and these kernels; else a default by the
// number of compute units.
Tuning tuning_of(const device::Capabilities&);

// Throws std::exception if the file can't be written.  It takes effect for plans made later.
void store_tuning(const device::Capabilities&, const Tuning&);

// While it lives, tuning_of() returns this on its thread.
class ForcedTuning {
public:
    explicit ForcedTuning(const Tuning&);
    ~ForcedTuning();
    ForcedTuning(const ForcedTuning&) = delete;
    ForcedTuning& operator=(const ForcedTuning&) = delete;

private:
    Tuning tuning_;
    const Tuning* outer_;
};

} // namespace reprise::kernels
