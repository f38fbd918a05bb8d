// The sizes of a convolution, and the elements that its windows read, laid out so that at each tap of the kernel they
// are contiguous.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "device/native/elements.hpp"

namespace reprise::device::native {

// The sizes of a convolution of x [images, groups * in_channels, D, H, W], weight [groups * out_channels, in_channels,
// kd, kh, kw] and y [images, groups * out_channels, OD, OH, OW], all contiguous.
struct Convolution {
    using Sizes = std::array<std::int64_t, 3>; // depth, height, width
    std::int64_t images = 0, groups = 1;
    std::int64_t in_channels = 0, out_channels = 0; // of a group
    Sizes in{}, out{}, kernel{}, stride{}, padding{}, dilation{};
};

inline std::int64_t volume(const Convolution::Sizes& s) { return s[0] * s[1] * s[2]; }

// A padded copy of an image's channels, split by phases: element (d, h, w) of phase (i, j, k) is the element
// (d step + i - origin, h step + j - origin, w step + k - origin) of the image, or 0 outside of it.  The window at
// position q = (d H + h) W + w reads the element q + offset of a tap, where H and W are the sizes of a phase.
struct Windows {
    Convolution::Sizes image{}, step{1, 1, 1}, phases{1, 1, 1}, origin{}; // phases: those that windows read
    Convolution::Sizes phase{};                                           // sizes of one

    std::int64_t channel() const { return volume(phases) * volume(phase); } // elements
    // The offset of the elements at a distance from the windows' first ones, in elements of the padded image.
    std::int64_t offset(const Convolution::Sizes& distance) const;
    Windows from(const Convolution::Sizes& first) const; // whose first window is this one
    // Copies `count` channels, which begin at an element.
    void copy(const Elements&, std::int64_t first, std::int64_t count, float* to) const;
};

Windows windows_of(const Convolution&); // of x, for all of y

// All points of a grid, row-major: the taps of a kernel.
std::vector<Convolution::Sizes> points_of(const Convolution::Sizes&);
// Windows::offset() of each tap, for the windows of x.
std::vector<std::int64_t> tap_offsets(const Convolution&, const Windows&);

} // namespace reprise::device::native
