#include "device/native/windows.hpp"

#include <algorithm>

namespace reprise::device::native {

namespace {

// One row of a phase: every `step`-th element, from `first` on, of a row of `size` elements, which begins at `row`.
void copy_row(const Elements& from, std::int64_t row, std::int64_t size, std::int64_t first,
              std::int64_t step, std::int64_t count, float* to)
{
    const auto until = [&](std::int64_t end) { // the number of elements before index `end` of the row
        return std::clamp<std::int64_t>((end - first + step - 1) / step, 0, count);
    };
    const std::int64_t begin = first >= 0 ? 0 : until(0),
                       end = size > first ? std::max(until(size), begin) : begin;
    std::fill_n(to, begin, 0.0F);
    if (begin < end) from.read(row + first + begin * step, end - begin, to + begin, step);
    std::fill_n(to + end, count - end, 0.0F);
}

} // namespace

std::int64_t Windows::offset(const Convolution::Sizes& distance) const
{
    const auto phase_of = [&](std::size_t d) { return distance[d] % step[d]; };
    const auto steps = [&](std::size_t d) { return distance[d] / step[d]; };
    return ((phase_of(0) * phases[1] + phase_of(1)) * phases[2] + phase_of(2)) * volume(phase) +
           (steps(0) * phase[1] + steps(1)) * phase[2] + steps(2);
}

Windows Windows::from(const Convolution::Sizes& first) const
{
    Windows w = *this;
    for (std::size_t d = 0; d < 3; ++d) w.origin[d] -= first[d] * step[d];
    return w;
}

void Windows::copy(const Elements& from, std::int64_t first, std::int64_t count, float* to) const
{
    const auto inside = [&](std::int64_t i, std::size_t d) { return i >= 0 && i < image[d]; };
    for (std::int64_t c = 0; c < count; ++c, first += volume(image))
        for (std::int64_t i = 0; i < phases[0]; ++i)
            for (std::int64_t j = 0; j < phases[1]; ++j)
                for (std::int64_t k = 0; k < phases[2]; ++k)
                    for (std::int64_t d = 0; d < phase[0]; ++d)
                        for (std::int64_t h = 0; h < phase[1]; ++h, to += phase[2]) {
                            const std::int64_t from_d = d * step[0] + i - origin[0],
                                               from_h = h * step[1] + j - origin[1];
                            if (inside(from_d, 0) && inside(from_h, 1))
                                copy_row(from, first + (from_d * image[1] + from_h) * image[2], image[2],
                                         k - origin[2], step[2], phase[2], to);
                            else std::fill_n(to, phase[2], 0.0F);
                        }
}

Windows windows_of(const Convolution& c)
{
    Windows w{.image = c.in, .step = c.stride, .origin = c.padding};
    for (std::size_t d = 0; d < 3; ++d) {
        const std::int64_t reach = (c.kernel[d] - 1) * c.dilation[d];
        w.phases[d] = std::min(c.stride[d], reach + 1);
        w.phase[d] = c.out[d] + reach / c.stride[d];
    }
    return w;
}

std::vector<Convolution::Sizes> points_of(const Convolution::Sizes& sizes)
{
    std::vector<Convolution::Sizes> points;
    for (std::int64_t d = 0; d < sizes[0]; ++d)
        for (std::int64_t h = 0; h < sizes[1]; ++h)
            for (std::int64_t w = 0; w < sizes[2]; ++w) points.push_back({d, h, w});
    return points;
}

std::vector<std::int64_t> tap_offsets(const Convolution& c, const Windows& w)
{
    std::vector<std::int64_t> offsets;
    for (const Convolution::Sizes& tap : points_of(c.kernel))
        offsets.push_back(w.offset({tap[0] * c.dilation[0], tap[1] * c.dilation[1], tap[2] * c.dilation[2]}));
    return offsets;
}

} // namespace reprise::device::native
