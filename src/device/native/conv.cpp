// A convolution is a product of the weight with the windows of x (windows.hpp), which the tiles read where they lie.
#include "device/native/conv.hpp"

#include <algorithm>
#include <vector>

#include "base/parallel.hpp"
#include "device/native/gemm.hpp"

namespace reprise::device::native {

namespace {

using Sizes = Convolution::Sizes;

// Positions that are computed before the next rows of the weight: their windows stay in the L2 cache.
constexpr std::int64_t positions_together = 256;
constexpr std::int64_t window_floats = 1 << 18; // of a task, about; they stay in the L2 cache, too
constexpr std::int64_t least_positions = 128;   // of a task
constexpr std::int64_t least_rows = 96;         // of a task for the gradient by the weight

std::int64_t wanted_tasks() { return 3 * static_cast<std::int64_t>(detail::parallel_threads()); }

// The first `count` elements in f32: where they lie, or else in `memory`.
const float* as_floats(const Elements& e, std::int64_t count, std::vector<float>& memory)
{
    if (!e || e.are_floats()) return e.floats();
    memory.resize(static_cast<std::size_t>(count));
    constexpr std::int64_t task = 1 << 16;
    detail::parallel_for(static_cast<std::size_t>(divided_up(count, task)), [&](std::size_t i) {
        const std::int64_t first = static_cast<std::int64_t>(i) * task;
        e.read(first, std::min(task, count - first), memory.data() + first);
    });
    return memory.data();
}

// -- y, and the gradient by x, which is computed in the same way from dy --

// Results at a grid of points: those of the result's channels from `first` on, a stride apart.
struct Correlation {
    struct Tap {
        Sizes distance;      // from the first element of a window
        std::int64_t weight; // index in the kernel
    };
    std::vector<Tap> taps{};
    Sizes grid{}, first{};
};

// The results of a group, [rows, ...], and the operands.
struct Group {
    std::int64_t rows, channels;             // channels: of the operand with windows
    std::int64_t weight_row, weight_channel; // strides of the weight, elements
    Sizes sizes, stride;                     // of a row of results; between those of one correlation
};

// A part of a row of results, within one tile of columns.
struct Piece {
    std::int64_t column, length, to; // to: the index in a channel of the result
};

// One correlation of a group: the weight's rows, packed as [tile of rows][channel][tap][row], times the windows.
class Rows {
public:
    Rows(const Tile& tile, const Windows& w, const Group& g, const Correlation& c, const float* weight)
        : tile_(tile), windows_(w), group_(g), correlation_(c), weight_(weight),
          k_(g.channels * std::ssize(c.taps)),
          packed_(static_cast<std::size_t>(tiles() * tile.rows * k_)) // 0 beyond the last row
    {
        for (std::int64_t channel = 0; channel < g.channels; ++channel)
            for (const Correlation::Tap& tap : c.taps)
                offsets_.push_back(channel * w.channel() + w.offset(tap.distance));
    }

    std::int64_t tiles() const { return divided_up(group_.rows, tile_.rows); }

    void pack(std::int64_t tile)
    {
        const std::int64_t first = tile * tile_.rows, count = std::min(tile_.rows, group_.rows - first);
        float* to = packed_.data() + first * k_;
        for (std::int64_t channel = 0; channel < group_.channels; ++channel)
            for (const Correlation::Tap& tap : correlation_.taps) {
                const float* const from = weight_ + channel * group_.weight_channel + tap.weight;
                for (std::int64_t r = 0; r < count; ++r) to[r] = from[(first + r) * group_.weight_row];
                to += tile_.rows;
            }
    }

    // Computes the rows [first_row, end_row) at the points of the grid in a band.  The group's results begin at an
    // element.
    void compute(const float* windows, const float* bias, std::int64_t first_row, std::int64_t end_row,
                 const Sizes& first, const Sizes& band, const Elements& to, std::int64_t element) const
    {
        std::vector<Piece> pieces;
        std::vector<std::size_t> ends; // by tile of columns: the end of its pieces
        find_pieces(first, band, pieces, ends);
        const auto tiles = std::ssize(ends), together = positions_together / tile_.columns;
        for (std::int64_t begin = 0; begin < tiles; begin += together)
            for (std::int64_t row = first_row; row < end_row; row += tile_.rows)
                for (std::int64_t t = begin; t < std::min(begin + together, tiles); ++t) {
                    const auto i = static_cast<std::size_t>(t);
                    const std::size_t from = i == 0 ? 0 : ends[i - 1];
                    if (from < ends[i])
                        compute_tile(windows + t * tile_.columns, bias, row,
                                     std::min(tile_.rows, end_row - row),
                                     std::span(pieces).subspan(from, ends[i] - from), to, element);
                }
    }

private:
    void find_pieces(const Sizes& first, const Sizes& band, std::vector<Piece>& pieces,
                     std::vector<std::size_t>& ends) const
    {
        Sizes grid{};
        for (std::size_t d = 0; d < 3; ++d)
            grid[d] = std::clamp<std::int64_t>(correlation_.grid[d] - first[d], 0, band[d]);
        if (volume(grid) == 0) return;
        for (const Sizes& at : points_of({grid[0], grid[1], 1})) {
            const std::int64_t position = (at[0] * windows_.phase[1] + at[1]) * windows_.phase[2];
            std::int64_t to = 0;
            for (std::size_t d = 0; d < 3; ++d)
                to = to * group_.sizes[d] + correlation_.first[d] + (first[d] + at[d]) * group_.stride[d];
            for (std::int64_t i = 0; i < grid[2];) {
                const auto tile = static_cast<std::size_t>((position + i) / tile_.columns);
                const std::int64_t column = (position + i) % tile_.columns,
                                   length = std::min(grid[2] - i, tile_.columns - column);
                ends.resize(tile + 1, pieces.size());
                pieces.push_back({column, length, to + i * group_.stride[2]});
                ends[tile] = pieces.size();
                i += length;
            }
        }
    }

    void compute_tile(const float* windows, const float* bias, std::int64_t row, std::int64_t rows,
                      std::span<const Piece> pieces, const Elements& to, std::int64_t element) const
    {
        alignas(64) float sums[max_rows * max_columns];
        for (std::int64_t k = 0; k == 0 || k < k_; k += chunk)
            tile_.multiply(std::min(chunk, k_ - k), packed_.data() + row * k_ + k * tile_.rows, windows,
                           offsets_.data() + k, sums, tile_.columns, k > 0);
        for (std::int64_t r = 0; r < rows; ++r) {
            float* const sum = sums + r * tile_.columns;
            if (bias)
                for (std::int64_t i = 0; i < tile_.columns; ++i) sum[i] += bias[row + r];
            const std::int64_t channel = element + (row + r) * volume(group_.sizes);
            for (const Piece& p : pieces)
                to.write(sum + p.column, p.length, channel + p.to, group_.stride[2]);
        }
    }

    const Tile& tile_;
    const Windows& windows_;
    const Group& group_;
    const Correlation& correlation_;
    const float* weight_;
    std::int64_t k_;
    std::vector<float> packed_;
    std::vector<std::int64_t> offsets_; // by k
};

// Halves the grid of points until the windows of a task fit the cache, and until there are enough tasks.
Sizes band_of(const Windows& w, const Sizes& grid, std::int64_t channels, std::int64_t images)
{
    Sizes band = grid;
    const auto floats = [&] {
        std::int64_t n = channels * volume(w.phases);
        for (std::size_t d = 0; d < 3; ++d) n *= band[d] + w.phase[d] - grid[d];
        return n;
    };
    const auto tasks = [&] { return images * divided_up(grid[0], band[0]) * divided_up(grid[1], band[1]); };
    while (band[0] * band[1] > 1 &&
           (floats() > window_floats || (tasks() < wanted_tasks() && volume(band) >= 2 * least_positions))) {
        std::int64_t& size = band[0] > 1 ? band[0] : band[1];
        size = divided_up(size, 2);
    }
    return band;
}

// `w`: the windows of all points of the grid.
void correlate(const Tile& tile, const Convolution& c, Windows w, const Sizes& grid, const Group& g,
               const std::vector<Correlation>& correlations, const Elements& from, const Elements& weight,
               const Elements& bias, const Elements& to)
{
    const std::int64_t images = c.images * c.groups;
    if (images == 0 || volume(grid) == 0) return;
    const std::int64_t weights_of_group = c.out_channels * c.in_channels * volume(c.kernel);
    std::vector<float> wide_weight, wide_bias;
    const float* const weights = as_floats(weight, c.groups * weights_of_group, wide_weight);
    const float* const biases = as_floats(bias, c.groups * g.rows, wide_bias);
    const Sizes band = band_of(w, grid, g.channels, images);
    for (std::size_t d = 0; d < 3; ++d) w.phase[d] += band[d] - grid[d];

    std::vector<Rows> rows; // by group and correlation
    for (std::int64_t group = 0; group < c.groups; ++group)
        for (const Correlation& one : correlations)
            rows.emplace_back(tile, w, g, one, weights + group * weights_of_group);
    const std::int64_t row_tiles = rows.front().tiles();
    detail::parallel_for(rows.size() * static_cast<std::size_t>(row_tiles), [&](std::size_t i) {
        rows[i / static_cast<std::size_t>(row_tiles)].pack(static_cast<std::int64_t>(i) % row_tiles);
    });

    const std::int64_t bands_d = divided_up(grid[0], band[0]), bands_h = divided_up(grid[1], band[1]),
                       tasks = images * bands_d * bands_h,
                       wanted_blocks = std::clamp<std::int64_t>(divided_up(wanted_tasks(), tasks), 1,
                                                                std::max<std::int64_t>(row_tiles / 2, 1)),
                       block = divided_up(row_tiles, wanted_blocks) * tile.rows,
                       blocks = divided_up(g.rows, block);
    detail::parallel_for(static_cast<std::size_t>(tasks * blocks), [&](std::size_t index) {
        auto i = static_cast<std::int64_t>(index);
        const auto next = [&](std::int64_t count) {
            const std::int64_t at = i % count;
            i /= count;
            return at;
        };
        const std::int64_t first_row = next(blocks) * block, h = next(bands_h) * band[1],
                           d = next(bands_d) * band[0], image = i;
        const Sizes first{d, h, 0};
        // The last tile reads beyond the last position.
        float* const windows = scratch(0, g.channels * w.channel() + max_columns);
        w.from(first).copy(from, image * g.channels * volume(w.image), g.channels, windows);
        std::fill_n(windows + g.channels * w.channel(), max_columns, 0.0F);
        const std::int64_t group = image % c.groups;
        for (std::size_t k = 0; k < correlations.size(); ++k)
            rows[static_cast<std::size_t>(group) * correlations.size() + k].compute(
                windows, biases ? biases + group * g.rows : nullptr, first_row,
                std::min(first_row + block, g.rows), first, band, to, image * g.rows * volume(g.sizes));
    });
}

// -- the gradient by the weight --

// A product of the windows of x, whose rows are (channel, tap), with dy, whose columns are the output channels.  Its k
// are positions: of some planes (the depths of all images), of some rows of one, or of a part of a long row.  Between
// the rows there are positions of no result, at which both operands are 0.
class WeightGradient {
public:
    WeightGradient(const Tile& tile, const Convolution& c, const Elements& x, const Elements& dy)
        : tile_(tile), c_(c), w_(windows_of(c)), x_(x), dy_(dy), taps_(volume(c.kernel)),
          planes_(c.images * c.out[0])
    {
        const std::int64_t width = w_.phase[2], plane = (c.out[1] - 1) * width + c.out[2];
        if (plane <= chunk) planes_of_chunk_ = chunk / plane;
        else if (width <= chunk) rows_of_chunk_ = chunk / width;
        else rows_of_chunk_ = 1, columns_of_chunk_ = std::min(c.out[2], chunk);
        bands_ = divided_up(c.out[1], rows_of_chunk_);
        pieces_ = divided_up(c.out[2], columns_of_chunk_);
        chunks_ = divided_up(planes_, planes_of_chunk_) * bands_ * pieces_;
        parts_ = parts_of(c.groups * c.in_channels * taps_ * c.out_channels, chunks_);
        w_.phase[0] += 1 - c.out[0];
        w_.phase[1] += rows_of_chunk_ - c.out[1];
        offsets_ = tap_offsets(c, w_);
        for (std::int64_t i = 0; i < chunk; ++i) packed_rows_.push_back(i * tile.columns);
    }

    void compute(const Elements& dweight) const
    {
        const std::int64_t rows = c_.in_channels * taps_, blocks = divided_up(c_.in_channels, channels_);
        // [group, part, row, output channel]
        std::vector<float> sums(static_cast<std::size_t>(c_.groups * parts_ * rows * c_.out_channels));
        detail::parallel_for(static_cast<std::size_t>(c_.groups * parts_ * blocks), [&](std::size_t index) {
            const auto i = static_cast<std::int64_t>(index);
            const std::int64_t block = i % blocks, part = i / blocks % parts_, group = i / blocks / parts_;
            add_part(group, part, block * channels_,
                     sums.data() + (group * parts_ + part) * rows * c_.out_channels);
        });
        detail::parallel_for(static_cast<std::size_t>(c_.groups * rows), [&](std::size_t index) {
            const auto row = static_cast<std::int64_t>(index) % rows,
                       group = static_cast<std::int64_t>(index) / rows;
            float* const first = sums.data() + (group * parts_ * rows + row) * c_.out_channels;
            for (std::int64_t part = 1; part < parts_; ++part)
                add_to(first, first + part * rows * c_.out_channels, c_.out_channels);
            dweight.write(first, c_.out_channels, group * c_.out_channels * rows + row, rows);
        });
    }

private:
    struct Chunk {
        std::int64_t first_plane, planes, first_row, rows, first_column, columns;
        std::int64_t positions; // of each plane
        std::int64_t k() const { return planes * positions; }
    };
    Chunk chunk_at(std::int64_t i) const
    {
        Chunk at{};
        at.first_column = i % pieces_ * columns_of_chunk_;
        at.first_row = i / pieces_ % bands_ * rows_of_chunk_;
        at.first_plane = i / pieces_ / bands_ * planes_of_chunk_;
        at.planes = std::min(planes_of_chunk_, planes_ - at.first_plane);
        at.rows = std::min(rows_of_chunk_, c_.out[1] - at.first_row);
        at.columns = std::min(columns_of_chunk_, c_.out[2] - at.first_column);
        at.positions = (at.rows - 1) * w_.phase[2] + at.columns;
        return at;
    }
    std::int64_t image_of(std::int64_t plane, std::int64_t group) const
    {
        return plane / c_.out[0] * c_.groups + group;
    }

    void add_part(std::int64_t group, std::int64_t part, std::int64_t first_channel, float* sums) const
    {
        const std::int64_t channels = std::min(channels_, c_.in_channels - first_channel),
                           rows = channels * taps_, panels = divided_up(c_.out_channels, tile_.columns);
        float* const windows = scratch(0, planes_of_chunk_ * channels * w_.channel());
        float* const dy = scratch(1, chunk * panels * tile_.columns);
        float* const packed = scratch(2, chunk * tile_.rows);
        const std::int64_t first = part * chunks_ / parts_;
        for (std::int64_t i = first; i < (part + 1) * chunks_ / parts_; ++i) {
            const Chunk at = chunk_at(i);
            if (at.first_column == 0 || i == first) copy_windows(at, group, first_channel, channels, windows);
            for (std::int64_t p = 0; p < panels; ++p)
                pack_dy(at, group, p * tile_.columns, dy + p * at.k() * tile_.columns);
            for (std::int64_t row = 0; row < rows; row += tile_.rows) {
                const std::int64_t count = std::min(tile_.rows, rows - row);
                pack_windows(at, windows, channels, row, count, packed);
                for (std::int64_t p = 0; p < panels; ++p) {
                    alignas(64) float tile[max_rows * max_columns];
                    tile_.multiply(at.k(), packed, dy + p * at.k() * tile_.columns, packed_rows_.data(), tile,
                                   tile_.columns, false);
                    float* const to =
                        sums + (first_channel * taps_ + row) * c_.out_channels + p * tile_.columns;
                    const std::int64_t columns = std::min(tile_.columns, c_.out_channels - p * tile_.columns);
                    for (std::int64_t r = 0; r < count; ++r)
                        if (i == first)
                            std::copy_n(tile + r * tile_.columns, columns, to + r * c_.out_channels);
                        else add_to(to + r * c_.out_channels, tile + r * tile_.columns, columns);
                }
            }
        }
    }

    void copy_windows(const Chunk& at, std::int64_t group, std::int64_t first_channel, std::int64_t channels,
                      float* to) const
    {
        for (std::int64_t i = 0; i < at.planes; ++i) {
            const std::int64_t plane = at.first_plane + i;
            w_.from({plane % c_.out[0], at.first_row, 0})
                .copy(x_, (image_of(plane, group) * c_.in_channels + first_channel) * volume(c_.in), channels,
                      to + i * channels * w_.channel());
        }
    }

    // Writes 0 at the positions of a plane that belong to no result, of a panel of so many rows or columns.
    void clear_gaps(const Chunk& at, std::int64_t width, float* panel) const
    {
        for (std::int64_t row = 0; row + 1 < at.rows; ++row)
            std::fill_n(panel + (row * w_.phase[2] + at.columns) * width, (w_.phase[2] - at.columns) * width,
                        0.0F);
    }

    void pack_windows(const Chunk& at, const float* windows, std::int64_t channels, std::int64_t row,
                      std::int64_t count, float* to) const
    {
        const float* from[max_rows];
        for (std::int64_t plane = 0; plane < at.planes; ++plane, to += at.positions * tile_.rows) {
            for (std::int64_t r = 0; r < count; ++r)
                from[r] = windows + (plane * channels + (row + r) / taps_) * w_.channel() +
                          offsets_[static_cast<std::size_t>((row + r) % taps_)] + at.first_column;
            pack_rows(from, count, at.positions, tile_.rows, to);
            clear_gaps(at, tile_.rows, to);
        }
    }

    void pack_dy(const Chunk& at, std::int64_t group, std::int64_t channel, float* to) const
    {
        const bool in_place = dy_.are_floats();
        float* const wide = scratch(3, in_place ? 0 : max_columns * at.columns);
        const float* from[max_columns];
        const std::int64_t count = std::min(tile_.columns, c_.out_channels - channel), out = volume(c_.out);
        for (std::int64_t i = 0; i < at.planes; ++i, to += at.positions * tile_.columns) {
            const std::int64_t plane = at.first_plane + i;
            for (std::int64_t row = 0; row < at.rows; ++row) {
                const std::int64_t first = (image_of(plane, group) * c_.out_channels + channel) * out +
                                           (plane % c_.out[0] * c_.out[1] + at.first_row + row) * c_.out[2] +
                                           at.first_column;
                for (std::int64_t c = 0; c < count; ++c) {
                    if (!in_place) dy_.read(first + c * out, at.columns, wide + c * at.columns);
                    from[c] = in_place ? dy_.floats() + first + c * out : wide + c * at.columns;
                }
                pack_rows(from, count, at.columns, tile_.columns, to + row * w_.phase[2] * tile_.columns);
            }
            clear_gaps(at, tile_.columns, to);
        }
    }

    const Tile& tile_;
    const Convolution& c_;
    Windows w_; // of the rows of a chunk in one plane
    const Elements x_, dy_;
    const std::int64_t taps_, planes_;
    std::int64_t planes_of_chunk_ = 1, rows_of_chunk_ = c_.out[1], columns_of_chunk_ = c_.out[2];
    std::int64_t bands_ = 1, pieces_ = 1; // chunks of a plane, and of a row
    std::int64_t chunks_ = 0, parts_ = 1;
    const std::int64_t channels_ = std::min(divided_up(least_rows, taps_), c_.in_channels); // of a task
    std::vector<std::int64_t> offsets_;                                                     // by tap
    std::vector<std::int64_t> packed_rows_;
};

} // namespace

void convolve(const Tile& tile, const Convolution& c, const Elements& x, const Elements& weight,
              const Elements& bias, const Elements& y)
{
    const std::int64_t taps = volume(c.kernel);
    Correlation one{.grid = c.out};
    for (const Sizes& tap : points_of(c.kernel))
        one.taps.push_back(
            {{tap[0] * c.dilation[0], tap[1] * c.dilation[1], tap[2] * c.dilation[2]}, std::ssize(one.taps)});
    const Group group{c.out_channels, c.in_channels, c.in_channels * taps, taps, c.out, {1, 1, 1}};
    correlate(tile, c, windows_of(c), c.out, group, {one}, x, weight, bias, y);
}

// An element of x at i = stride j + r gets, from each tap with r + padding - tap dilation = stride s, the element
// j + s of dy.  So elements with equal r, a phase, are the results of a correlation of dy with some of the taps.
void gradient_by_input(const Tile& tile, const Convolution& c, const Elements& weight, const Elements& dy,
                       const Elements& dx)
{
    const auto shifted = [&](std::int64_t r, std::int64_t tap, std::size_t d) {
        return r + c.padding[d] - tap * c.dilation[d]; // s times the stride
    };
    Windows w{.image = c.out};
    Sizes grid{};                         // of the largest phase
    for (std::size_t d = 0; d < 3; ++d) { // from the least shift to the largest one
        grid[d] = divided_up(c.in[d], c.stride[d]);
        w.origin[d] = divided_up(std::max<std::int64_t>(-shifted(0, c.kernel[d] - 1, d), 0), c.stride[d]);
        w.phase[d] =
            grid[d] + w.origin[d] + std::max<std::int64_t>(shifted(c.stride[d] - 1, 0, d), 0) / c.stride[d];
    }
    const std::vector<Sizes> taps = points_of(c.kernel);
    std::vector<Correlation> phases;
    for (const Sizes& r : points_of(c.stride)) {
        Correlation one{.first = r};
        for (std::size_t d = 0; d < 3; ++d)
            one.grid[d] = divided_up(std::max<std::int64_t>(c.in[d] - r[d], 0), c.stride[d]);
        for (std::size_t tap = 0; tap < taps.size(); ++tap) {
            Sizes distance{};
            bool meets = true;
            for (std::size_t d = 0; d < 3; ++d) {
                const std::int64_t shift = shifted(r[d], taps[tap][d], d);
                meets = meets && shift % c.stride[d] == 0;
                distance[d] = shift / c.stride[d] + w.origin[d];
            }
            if (meets) one.taps.push_back({distance, static_cast<std::int64_t>(tap)});
        }
        if (volume(one.grid) > 0) phases.push_back(std::move(one));
    }
    const Group group{c.in_channels, c.out_channels, std::ssize(taps), c.in_channels * std::ssize(taps),
                      c.in,          c.stride};
    correlate(tile, c, w, grid, group, phases, dy, weight, {}, dx);
}

void gradient_by_weight(const Tile& tile, const Convolution& c, const Elements& x, const Elements& dy,
                        const Elements& dweight)
{
    WeightGradient(tile, c, x, dy).compute(dweight);
}

} // namespace reprise::device::native
