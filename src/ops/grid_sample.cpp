// grid_sample: interpolates between elements of an image, composed of gathers of rows of channels; affine_grid.
#include <string>
#include <vector>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/interpolation.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/accumulated.hpp"
#include "ops/autocast.hpp"
#include "ops/index_check.hpp"
#include "ops/registry.hpp"
#include "ops/windows.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace {

constexpr const char* op = "grid_sample";

// One dimension of an image.
struct Axis {
    Dim size;
    const GridSampleOptions& options;

    Tensor number(const Tensor& like) const { return ops::size_like(like, size); }
    // Converts a coordinate from -1 to 1 to a position in elements.
    Tensor position(const Tensor& at) const
    {
        return options.align_corners ? (at + 1.0) / 2 * (number(at) - 1.0)
                                     : ((at + 1.0) * number(at) - 1.0) / 2;
    }
    // Returns the position after the padding mode is applied. Clamped positions have no gradient.
    Tensor inside(const Tensor& at) const
    {
        if (options.padding_mode == GridSamplePadding::zeros) return at;
        const Tensor zero = ops::number_like(at, 0), last = number(at) - 1.0;
        if (options.padding_mode == GridSamplePadding::border) return hardtanh(at, zero, last);
        return hardtanh(reflected(at), zero, last);
    }

private:
    // Reflects a position at the centres of the outermost elements (align_corners) or at their outer edges, repeatedly
    // if necessary.
    Tensor reflected(const Tensor& at) const
    {
        const double first = options.align_corners ? 0 : -0.5;
        const Tensor span = options.align_corners ? maximum(number(at) - 1.0, 1.0) : number(at);
        const Tensor away = abs(at - first), turns = floor(away / span), rest = away - turns * span;
        const Tensor odd = remainder(turns, 2.0) != 0.0;
        return where(odd, span - rest, rest) + first;
    }
};

// An element along one dimension and its weight; elements outside of the image have weight 0.
struct Tap {
    Tensor at, weight; // at: whole numbers in the positions' dtype; no weight: 1
};

std::vector<Tap> linear_taps(const Tensor& at)
{
    const Tensor first = floor(at), right = at - first;
    return {{first, 1.0 - right}, {first + 1.0, right}};
}

// The taps of cubic convolution (Keys 1981) with a = -0.75.
std::vector<Tap> cubic_taps(const Tensor& at)
{
    const Tensor first = floor(at), t = at - first;
    const auto near = [](const Tensor& x) { return ((x * 1.25 - 2.25) * x) * x + 1.0; };
    const auto far = [](const Tensor& x) { return ((x * -0.75 + 3.75) * x - 6.0) * x + 3.0; };
    return {{first - 1.0, far(t + 1.0)},
            {first, near(t)},
            {first + 1.0, near(1.0 - t)},
            {first + 2.0, far(2.0 - t)}};
}

std::vector<Tap> taps_of(const Axis& axis, const Tensor& given)
{
    const Tensor position = axis.position(given);
    if (axis.options.mode == GridSampleMode::nearest) return {{round(axis.inside(position).detach()), {}}};
    if (axis.options.mode == GridSampleMode::bilinear) return linear_taps(axis.inside(position));
    std::vector<Tap> taps = cubic_taps(position); // the padding applies to each tap
    for (Tap& t : taps) t.at = axis.inside(t.at.detach());
    return taps;
}

// The elements of all images as rows of channels, and the sum of weighted rows.
struct Rows {
    Tensor rows; // [N * elements, C]
    std::vector<Axis> axes;
    Tensor image; // the first row of each position's image, [positions]
    Tensor sum;   // [positions, C]

    // Adds the weighted rows of all combinations of one tap per axis.
    void add(std::size_t axis, const std::vector<std::vector<Tap>>& taps, const Tensor& at,
             const Tensor& weight, const Tensor& valid)
    {
        if (axis == axes.size()) {
            const ops::IndexChecksOff checks_off;
            const Tensor index = cast(where(valid, at, 0.0), i32);
            const Tensor factor = weight.defined() ? where(valid, weight, 0.0) : cast(valid, rows.dtype());
            const Tensor part = cast(embedding(index + image, rows), factor.dtype()) * unsqueeze(factor, 1);
            sum = sum.defined() ? sum + part : part;
            return;
        }
        for (const Tap& tap : taps[axis]) {
            const Tensor size = axes[axis].number(tap.at);
            const Tensor within = logical_and(tap.at >= 0.0, tap.at < size);
            add(axis + 1, taps, at.defined() ? at * size + tap.at : tap.at,
                weight.defined() && tap.weight.defined() ? weight * tap.weight : tap.weight,
                valid.defined() ? logical_and(valid, within) : within);
        }
    }
};

void check(const Tensor& x, const Tensor& grid, const GridSampleOptions& o)
{
    ops::require_floating(op, x.dtype());
    if (x.dtype() != grid.dtype())
        detail::fail(ErrorKind::dtype, op, "The dtypes (", name_of(x.dtype()), " and ", name_of(grid.dtype()),
                     ") of input and grid differ: cast one of them.");
    const std::size_t n = x.shape().size();
    if (n != 4 && n != 5)
        detail::fail(ErrorKind::shape, op, "The input's shape (", to_string(x.shape()),
                     ") must be [N, C, H, W] or [N, C, D, H, W].");
    const auto sentence = [&] {
        return "The grid's shape (" + to_string(grid.shape()) + ") does not fit the input's (" +
               to_string(x.shape()) + "): it is [N, OH, OW, 2] or [N, OD, OH, OW, 3].";
    };
    if (grid.shape().size() != n) detail::fail(ErrorKind::shape, op, sentence());
    shape::require_equal(op, x.shape()[0], grid.shape()[0], sentence);
    shape::require_equal(op, grid.shape()[n - 1], Dim(static_cast<std::int64_t>(n) - 2), sentence);
    for (std::size_t d = 2; d < n; ++d)
        shape::require_at_least(op, x.shape()[d], 1, [&] {
            return "The input's shape (" + to_string(x.shape()) + ") has no elements in an image to read.";
        });
    if (o.mode == GridSampleMode::bicubic && n != 4)
        detail::fail(ErrorKind::argument, op, "The mode (bicubic) takes images of two dimensions, not (",
                     to_string(x.shape()), ").");
}

Dims channels_last(std::size_t rank)
{
    Dims order{0};
    for (std::size_t d = 2; d < rank; ++d) order.push_back(static_cast<std::int64_t>(d));
    order.push_back(1);
    return order;
}

} // namespace

Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options)
{
    if (const ops::Autocast to = ops::Autocast::widest({&x, &grid}); to)
        return grid_sample(to(x), to(grid), options);
    check(x, grid, options);
    const std::size_t rank = x.shape().size(), n = rank - 2;
    const Shape wanted = grid.shape(), out_sizes = {wanted.begin() + 1, wanted.end() - 1};
    const Dim images = x.shape()[0], channels = x.shape()[1], positions = shape::element_count(out_sizes),
              elements = shape::element_count(ops::last_of(x.shape(), n));
    const Tensor points = ops::accumulated(reshape(grid, {images * positions, static_cast<std::int64_t>(n)}));
    Rows all;
    all.rows = reshape(permute(x, channels_last(rank)), {images * elements, channels});
    const Tensor firsts = ops::count_like(x, images);
    const Tensor first = firsts * ops::size_like(firsts, elements);
    all.image = reshape(expand(unsqueeze(first, 1), {images, positions}), {images * positions});
    std::vector<std::vector<Tap>> taps;
    for (std::size_t d = 0; d < n; ++d) { // the grid's last coordinate belongs to the outermost dimension
        all.axes.push_back({x.shape()[2 + d], options});
        taps.push_back(taps_of(all.axes.back(), select(points, 1, static_cast<std::int64_t>(n - 1 - d))));
    }
    all.add(0, taps, {}, {}, {});
    Shape wide{images};
    wide.insert(wide.end(), out_sizes.begin(), out_sizes.end());
    wide.push_back(channels);
    return movedim(reshape(cast(all.sum, x.dtype()), wide), -1, 1);
}

Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners)
{
    constexpr const char* name = "affine_grid";
    ops::require_floating(name, theta.dtype());
    const auto n = static_cast<std::int64_t>(size.size()) - 2;
    const auto sentence = [&] {
        return "The shape (" + to_string(theta.shape()) + ") of theta does not fit the size (" +
               to_string(size) + "): [N, 2, 3] for [N, C, H, W], [N, 3, 4] for [N, C, D, H, W].";
    };
    if (n != 2 && n != 3) detail::fail(ErrorKind::shape, name, sentence());
    shape::require_same(name, theta.shape(), {size[0], n, n + 1}, sentence);
    const Shape image = {size.begin() + 2, size.end()};
    std::vector<Tensor> coordinates;     // x, y(, z), 1
    for (std::int64_t d = n; d-- > 0;) { // corners: -1 to 1; else centres of elements
        const auto k = static_cast<std::size_t>(d);
        const Tensor at = cast(ops::count_like(theta, image[k]), theta.dtype());
        const Tensor last = ops::size_like(at, image[k] - 1),
                     steps = align_corners ? maximum(last, 1.0) : ops::size_like(at, image[k]);
        coordinates.push_back(expand(ops::along_dim((at * 2.0 - last) / steps, k, image.size()), image));
    }
    coordinates.push_back(ops::full_on(ops::evaluator_of(theta), image, 1, theta.dtype()));
    const Dim count = shape::element_count(image);
    const Tensor base = reshape(stack(coordinates, -1), {count, n + 1});
    Shape to{size[0]};
    to.insert(to.end(), image.begin(), image.end());
    to.push_back(n);
    const graph::NoAutocast in_its_dtype; // 16 bits are too few for coordinates
    return reshape(matmul(base, transpose(theta, 1, 2)), to);
}

} // namespace reprise
