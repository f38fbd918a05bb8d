// Choices among variants of a kernel that give the same bits: they change the speed of a device only.  `reprise tune`
// measures them (program/tune.cpp).
#pragma once
#include <cstdint>
#include <optional>

#include "device/device.hpp"

namespace reprise::kernels {

struct Tuning {
    // A product uses tiles of 128 x 128 elements if it has so many of them, as fewer do not occupy a GPU, and as many
    // rows and columns as `large_side`; else it uses tiles of 64 x 64.  On an H200 (132 multiprocessors) a product of
    // 1024 ran at 14.9 TFLOP/s by small tiles and at 11.8 by 64 large ones, one of 2048 at 24.8 and 28.9.  With shorter
    // sides most products of a program with symbolic sizes would have two launches.
    std::uint32_t large_tiles = 128, large_side = 1024;
    std::uint32_t large_matrix_tiles = 128; // in place of large_tiles, of products by cooperative matrices
};
constexpr std::uint32_t never = ~0u;

// What was measured.
struct StoredTuning {
    std::optional<std::uint32_t> large_tiles = std::nullopt, large_matrix_tiles = std::nullopt;
};

// What store_tuning() stored in the cache folder for this device, this driver and this library's texts of kernels, with
// or without a compiler for them; the rest by default, from the number of compute units.
Tuning tuning_of(const device::Capabilities&);

void require_cache_folder(
    const char* function); // throws Error(argument) if there is none to store a tuning in
// It takes effect for plans made later.  Throws Error(argument) if there is no cache folder, std::exception if the file
// can't be written.
void store_tuning(const device::Capabilities&, const StoredTuning&);

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
