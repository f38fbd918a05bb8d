// Convolutions.
#include "onnx/quantization.hpp"
#include "onnx/windows.hpp"

namespace reprise::onnx {

namespace {

std::vector<std::int64_t> kernel_of(const Call& call, const Tensor& weight)
{
    if (weight.dim() < 3) call.fail("The shape ", to_string(weight.shape()), " is not that of a kernel.");
    std::vector<std::int64_t> kernel;
    for (std::int64_t i = 2; i < weight.dim(); ++i) kernel.push_back(weight.size(i).value());
    return kernel;
}

template <std::size_t N> Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                         const Windows& windows, std::int64_t groups)
{
    const ConvOptions<N> options{.stride = WindowSizes<N>(numbers_of<N>(windows.stride)),
                                 .padding = WindowPadding<N>(WindowSizes<N>(padding_of<N>(windows))),
                                 .dilation = WindowSizes<N>(numbers_of<N>(windows.dilation)),
                                 .groups = groups};
    if constexpr (N == 1) return conv1d(x, weight, bias, options);
    else if constexpr (N == 2) return conv2d(x, weight, bias, options);
    else return conv3d(x, weight, bias, options);
}

Tensor conv_of(const Call& call, const Tensor& image, const Tensor& weight, const Tensor& bias)
{
    Windows windows = read_windows(call, image.shape(), kernel_of(call, weight));
    Tensor x = image;
    if (!windows.symmetric()) {
        x = pad_images(x, windows.before, windows.after, 0);
        windows.before = windows.after = DimVector(windows.rank(), Dim(0));
    }
    const std::int64_t groups = call.integer("group", 1);
    return with_rank(call, windows.rank(),
                     [&]<std::size_t N>() { return convolve<N>(x, weight, bias, windows, groups); });
}

Value conv(Call& call) { return conv_of(call, call[0], call[1], call.tensor_or_none(2)); }

Tensor sums_of_windows(const Call& call, const Tensor& x, const Tensor& weight)
{
    Dim products = 1;
    for (std::int64_t i = 1; i < weight.dim(); ++i) products *= weight.size(i);
    return exact_sums(x, products, [&](const Tensor& part) { return conv_of(call, part, weight, {}); });
}

Value conv_integer(Call& call)
{
    return sums_of_windows(call, centred(call, 0, 2, 1), centred(call, 1, 3, 0));
}

// Inputs: x, its scale and zero point, the weight, its scale and zero point, the result's ones, and the bias, whose
// scale is that of the products.
Value qlinear_conv(Call& call)
{
    Tensor whole = sums_of_windows(call, centred(call, 0, 2, 1), centred(call, 3, 5, 0));
    if (call.has(8)) whole = add(whole, along_axis(call, call[8], whole, 1));
    const Tensor factor =
        div(mul(reshape(call[1], Shape{}), along_axis(call, call[4], whole, 1)), reshape(call[6], Shape{}));
    return quantized(mul(whole.to(f32), factor), reshape(call[7], Shape{}), call.type(7));
}

template <std::size_t N> Tensor transpose_convolve(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                                   const Windows& windows,
                                                   const std::vector<std::int64_t>& more, std::int64_t groups)
{
    const ConvTransposeOptions<N> options{.stride = WindowSizes<N>(numbers_of<N>(windows.stride)),
                                          .output_padding = WindowSizes<N>(numbers_of<N>(more)),
                                          .groups = groups,
                                          .dilation = WindowSizes<N>(numbers_of<N>(windows.dilation))};
    if constexpr (N == 1) return conv_transpose1d(x, weight, bias, options);
    else if constexpr (N == 2) return conv_transpose2d(x, weight, bias, options);
    else return conv_transpose3d(x, weight, bias, options);
}

// The elements that are removed on both sides of the full result.
void set_transpose_padding(const Call& call, Windows& windows, const Shape& shape,
                           const std::vector<std::int64_t>& more)
{
    const std::string automatic = call.text("auto_pad", "NOTSET");
    const bool same_size = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    std::vector<std::int64_t> wanted = call.list("output_shape");
    if (wanted.size() > windows.rank()) // with batch and channels, in old files
        wanted.erase(wanted.begin(), wanted.end() - static_cast<std::ptrdiff_t>(windows.rank()));
    if (wanted.empty() && !same_size) return;
    for (std::size_t i = 0; i < windows.rank(); ++i) {
        const Dim size = shape[i + 2];
        const Dim out = i < wanted.size() ? Dim(wanted[i]) : size * windows.stride[i];
        const Dim total = (size - 1) * windows.stride[i] + more[i] + windows.extent(i) - out;
        const Dim half = floor_div(total, Dim(2));
        windows.before[i] = automatic == "SAME_UPPER" ? half : total - half;
        windows.after[i] = total - windows.before[i];
    }
}

Value conv_transpose(Call& call)
{
    const Tensor x = call[0], weight = call[1], bias = call.tensor_or_none(2);
    Windows windows = read_windows(call, x.shape(), kernel_of(call, weight));
    std::vector<std::int64_t> more = call.list("output_padding");
    more.resize(windows.rank(), 0);
    set_transpose_padding(call, windows, x.shape(), more);
    const std::int64_t groups = call.integer("group", 1);
    Tensor y = with_rank(call, windows.rank(), [&]<std::size_t N>() {
        return transpose_convolve<N>(x, weight, bias, windows, more, groups);
    });
    for (std::size_t i = 0; i < windows.rank(); ++i) {
        windows.before[i] = -windows.before[i];
        windows.after[i] = -windows.after[i];
    }
    return pad_images(y, windows.before, windows.after, 0);
}

// The last k - 1 elements are the state of the next call.  x [B, C, L], weight [C, 1, k].
Values causal_conv_with_state(Call& call)
{
    const Tensor x = call[0], weight = call[1];
    const std::int64_t before = weight.size(2).value() - 1;
    const Shape state{x.size(0), x.size(1), before};
    const Tensor past = call.has(3) ? call[3] : zeros(state, {.dtype = x.dtype(), .device = call.device});
    const Tensor whole = cat({past, x}, 2);
    Tensor y = conv1d(whole, weight, call.tensor_or_none(2), 1, 0, 1, x.size(1).value());
    const std::string activation = call.text("activation", "none");
    if (activation == "silu" || activation == "swish") y = silu(y);
    return {Value(y), Value(narrow(whole, 2, whole.size(2) - before, before))};
}

// Convolution whose windows take elements at offsets: for each element of the window an image is sampled at the
// positions of all windows (Dai et al., 2017).
Value deform_conv(Call& call)
{
    const Tensor x = call[0], weight = call[1], offset = call[2], mask = call.tensor_or_none(4);
    const Windows windows = read_windows(call, x.shape(), kernel_of(call, weight));
    if (windows.rank() != 2) call.fail("There are (", windows.rank(), ") dimensions of windows, not 2.");
    const std::int64_t groups = call.integer("group", 1), parts = call.integer("offset_group", 1);
    const std::int64_t kh = windows.kernel[0], kw = windows.kernel[1], taps = kh * kw;
    const Dim n = x.size(0), c = x.size(1), h = x.size(2), w = x.size(3), oh = offset.size(2),
              ow = offset.size(3);
    const CreationOptions options{.dtype = x.dtype(), .device = call.device};
    const auto positions = [&](std::size_t i, const Dim& count, std::int64_t tap) {
        const double shift = static_cast<double>(tap * windows.dilation[i] - windows.before[i].value());
        return affine(arange(count, options), static_cast<double>(windows.stride[i]), shift);
    };
    const Tensor images = reshape(x, Shape{n * parts, floor_div(c, Dim(parts)), h, w});
    const Tensor moved = reshape(offset, Shape{n * parts, taps, 2, oh, ow});
    std::vector<Tensor> columns;
    for (std::int64_t t = 0; t < taps; ++t) {
        const Tensor by = select(select(moved, 1, t), 1, 0), bx = select(select(moved, 1, t), 1, 1);
        const Tensor py = add(by, unsqueeze(positions(0, oh, t / kw), 1)),
                     px = add(bx, positions(1, ow, t % kw));
        Tensor taken = grid_sample(images, stack({grid_positions(px, w), grid_positions(py, h)}, -1));
        if (mask.defined()) {
            const Tensor weights = select(reshape(mask, Shape{n * parts, taps, oh, ow}), 1, t);
            taken = mul(taken, unsqueeze(weights, 1));
        }
        columns.push_back(reshape(taken, Shape{n, c, oh, ow}));
    }
    // A convolution whose windows are the columns: [N, C, OH kh, OW kw] with the stride of the kernel.
    const Tensor blocks = reshape(stack(columns, 2), Shape{n, c, kh, kw, oh, ow});
    const Tensor spread = reshape(permute(blocks, {0, 1, 4, 2, 5, 3}), Shape{n, c, oh * kh, ow * kw});
    return conv2d(spread, weight, call.tensor_or_none(3), {kh, kw}, 0, 1, groups);
}

// Columns as images, the transpose of taking windows: [N, C kernel, L] -> [N, C, ...], of any number of dimensions.
Value col2im(Call& call)
{
    const Tensor x = call[0];
    const std::vector<std::int64_t> size = call.integers(1), kernel = call.integers(2);
    Shape shape{1, 1};
    for (const std::int64_t s : size) shape.emplace_back(s);
    Windows windows = read_windows(call, shape, kernel);
    const Dim n = x.size(0);
    Dim product = 1;
    for (const std::int64_t k : kernel) product *= k;
    const std::int64_t taps = product.value();
    const Dim c = floor_div(x.size(1), Dim(taps));
    // Each column element of its own channel is one that a transposed convolution with a kernel of ones in one place
    // puts there: the kernel is the identity of the taps.
    Shape image{n * c, taps}, ones_shape{taps, 1};
    for (std::size_t i = 0; i < size.size(); ++i) {
        const Dim space = shape[i + 2] + windows.before[i] + windows.after[i] - windows.extent(i);
        image.push_back(floor_div(space, Dim(windows.stride[i])) + 1);
        ones_shape.emplace_back(kernel[i]);
    }
    const Tensor identity = reshape(eye(Dim(taps), {.dtype = x.dtype(), .device = call.device}), ones_shape);
    const Tensor images = reshape(x, image);
    const std::vector<std::int64_t> none(windows.rank(), 0);
    Tensor y = with_rank(call, windows.rank(), [&]<std::size_t N>() {
        return transpose_convolve<N>(images, identity, {}, windows, none, 1);
    });
    for (std::size_t i = 0; i < windows.rank(); ++i) {
        windows.after[i] = shape[i + 2] + windows.before[i] - y.size(static_cast<std::int64_t>(i) + 2);
        windows.before[i] = -windows.before[i];
    }
    y = pad_images(y, windows.before, windows.after, 0);
    Shape result = y.shape();
    result[0] = n;
    result[1] = c;
    return reshape(y, result);
}

const Operator rows[] = {
    {"CausalConvWithState", causal_conv_with_state, {.limits = "the number of channels must be constant"}},
    {"Col2Im", col2im},
    {"Conv", conv, {.limits = "1 to 3 dimensions"}},
    {"ConvInteger", conv_integer, {.limits = "sums of up to 4,112 products are exact"}},
    {"ConvTranspose", conv_transpose, {.limits = "1 to 3 dimensions"}},
    {"QLinearConv", qlinear_conv, {.limits = "sums of up to 4,112 products are exact"}},
    {"DeformConv", deform_conv, {.limits = "images of 2 dimensions and of constant sizes"}},
};

} // namespace

Operators convolution_operators() { return rows; }

} // namespace reprise::onnx
