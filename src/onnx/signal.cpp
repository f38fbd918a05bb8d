// Fourier transforms and what goes with them.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "onnx/call.hpp"

namespace reprise::onnx {

namespace {

constexpr std::int64_t longest = 1 << 14; // of a transform, as its matrix is stored

// a - b cos(2 pi i / n) + c cos(4 pi i / n), with n the size, or for symmetric windows one less.
Value window(const Call& call, double a, double b, double c)
{
    const std::int64_t size = call.integers(0).at(0);
    if (size < 0 || size > 1 << 24) call.fail("The size of the window is (", size, ").");
    const double n = static_cast<double>(call.flag("periodic", true) ? size : size - 1);
    std::vector<double> values;
    for (std::int64_t i = 0; i < size; ++i) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(i) / n;
        values.push_back(a - b * std::cos(angle) + c * std::cos(2 * angle));
    }
    const ElementType& type = call.element_type("output_datatype", element_type_of(f32));
    return Value(call.from_host(values, Shape{size}, type.held), &type);
}

Value hann(Call& call) { return window(call, 0.5, 0.5, 0); }
Value hamming(Call& call) { return window(call, 25.0 / 46, 21.0 / 46, 0); }
Value blackman(Call& call) { return window(call, 0.42, 0.5, 0.08); }

// cos and sin of 2 pi j k / n as matrices [inputs, outputs].
std::pair<Tensor, Tensor> rotations(const Call& call, std::int64_t n, std::int64_t inputs,
                                    std::int64_t outputs, DType dtype)
{
    std::vector<double> cosines, sines;
    for (std::int64_t j = 0; j < inputs; ++j)
        for (std::int64_t k = 0; k < outputs; ++k) {
            const double angle =
                2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
            cosines.push_back(std::cos(angle));
            sines.push_back(std::sin(angle));
        }
    const Shape shape{inputs, outputs};
    return {call.from_host(cosines, shape, dtype), call.from_host(sines, shape, dtype)};
}

// A complex number as its two parts, which may be absent.
struct Complex {
    Tensor real, imaginary;
};

// The transform of the last dimension, whose size is at most n: the first `outputs` of n numbers.
Complex transform(const Call& call, const Complex& x, std::int64_t n, std::int64_t outputs, bool inverse)
{
    const std::int64_t inputs = x.real.size(-1).value();
    const auto [c, s] = rotations(call, n, inputs, outputs, x.real.dtype());
    Tensor real = matmul(x.real, c), imaginary = matmul(x.real, inverse ? s : neg(s));
    if (x.imaginary.defined()) {
        real = add(real, matmul(x.imaginary, inverse ? neg(s) : s));
        imaginary = add(imaginary, matmul(x.imaginary, c));
    }
    if (!inverse) return {real, imaginary};
    return {div(real, static_cast<double>(n)), div(imaginary, static_cast<double>(n))};
}

// The two parts of [..., 1 or 2].
Complex parts(const Tensor& x)
{
    const bool real = same(x.size(-1), Dim(1));
    return {select(x, -1, 0), real ? Tensor() : select(x, -1, 1)};
}

// The first n elements of the last dimension; fewer where there are fewer.
Tensor head(const Tensor& x, std::int64_t n)
{
    if (!x.defined() || x.size(-1).value() <= n) return x;
    return narrow(x, -1, 0, n);
}

// A spectrum whose second half is the conjugate of its first: [..., n / 2 + 1] -> [..., n].
Complex mirrored(const Complex& x, std::int64_t n)
{
    const std::int64_t half = x.real.size(-1).value(), rest = n - half;
    if (rest <= 0) return {head(x.real, n), head(x.imaginary, n)};
    const Tensor tail = flip(narrow(x.real, -1, 1, rest), {-1});
    const Tensor conjugate = neg(flip(narrow(x.imaginary, -1, 1, rest), {-1}));
    return {cat({x.real, tail}, -1), cat({x.imaginary, conjugate}, -1)};
}

Value dft(Call& call)
{
    const Tensor x = call[0];
    const std::int64_t rank = x.dim();
    const std::int64_t given = call.opset() < 20 ? call.integer("axis", 1)
                               : call.has(2)     ? call.integers(2).at(0)
                                                 : -2;
    const std::int64_t axis = call.axis(given, rank);
    if (axis == rank - 1) call.fail("The axis (", given, ") is that of the complex parts.");
    const bool inverse = call.flag("inverse"), onesided = call.flag("onesided");
    const std::int64_t size = x.size(axis).value();
    std::int64_t n = inverse && onesided ? 2 * (size - 1) : size;
    if (call.has(1)) n = call.integers(1).at(0);
    if (n < 1 || n > longest)
        call.fail("The length of the transform is (", n, "), not from 1 to (", longest, ").");
    // The axis last, the parts before it.
    Complex z = parts(x);
    z.real = movedim(z.real, axis, -1);
    if (z.imaginary.defined()) z.imaginary = movedim(z.imaginary, axis, -1);
    if (inverse && onesided) {
        if (!z.imaginary.defined()) z.imaginary = zeros_like(z.real);
        z = mirrored(z, n);
    }
    z = {head(z.real, n), head(z.imaginary, n)};
    Complex y = transform(call, z, n, onesided && !inverse ? n / 2 + 1 : n, inverse);
    y.real = movedim(y.real, -1, axis);
    if (inverse && onesided) return unsqueeze(y.real, -1);
    return stack({y.real, movedim(y.imaginary, -1, axis)}, -1);
}

// The transforms of windows of a signal [B, L, 1 or 2] -> [B, frames, bins, 2].
Value stft(Call& call)
{
    const Tensor signal = call[0];
    const std::int64_t step = call.integers(1).at(0);
    const Tensor shape = call.tensor_or_none(2);
    const std::int64_t n = call.has(3) ? call.integers(3).at(0) : call.shape(2).at(0).value();
    if (step < 1 || n < 1 || n > longest) call.fail("The step is (", step, ") and the length (", n, ").");
    Complex z = parts(signal);
    const auto frames = [&](const Tensor& x) {
        if (!x.defined()) return x;
        const Tensor windows = x.unfold(1, n, step); // [B, frames, n]
        return shape.defined() ? mul(windows, shape.to(x.dtype())) : windows;
    };
    z = {frames(z.real), frames(z.imaginary)};
    const bool onesided = call.flag("onesided", true) && !z.imaginary.defined();
    const Complex y = transform(call, z, n, onesided ? n / 2 + 1 : n, false);
    return stack({y.real, y.imaginary}, -1);
}

// Triangles on the mel scale, mel(f) = 2595 log10(1 + f / 700): [bins of the spectrum, mel bins].
Value mel_weight_matrix(Call& call)
{
    const std::int64_t bins = call.integers(0).at(0), length = call.integers(1).at(0);
    const double rate = call.number(2, 0), low = call.number(3, 0), high = call.number(4, 0);
    const std::int64_t spectrum = length / 2 + 1;
    if (bins < 1 || bins > 1 << 16 || spectrum < 1 || spectrum > 1 << 24)
        call.fail("There are (", bins, ") mel bins and (", spectrum, ") bins of the spectrum.");
    const auto mel = [](double f) { return 2595 * std::log10(1 + f / 700); };
    // ONNX's reference divides the range by the number of edges, not by that of the intervals.
    const double step = (mel(high) - mel(low)) / static_cast<double>(bins + 2);
    std::vector<std::int64_t> edges;
    for (std::int64_t i = 0; i < bins + 2; ++i) {
        const double f = 700 * (std::pow(10, (mel(low) + step * static_cast<double>(i)) / 2595) - 1);
        edges.push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * f / rate)));
    }
    std::vector<double> matrix(static_cast<std::size_t>(spectrum * bins));
    for (std::int64_t m = 0; m < bins; ++m) {
        const auto at = static_cast<std::size_t>(m);
        const std::int64_t left = edges[at], peak = edges[at + 1], right = edges[at + 2];
        for (std::int64_t i = std::max<std::int64_t>(left, 0);
             i < std::min(std::max(right, peak + 1), spectrum); ++i) {
            double value = 1;
            if (i < peak) value = static_cast<double>(i - left) / static_cast<double>(peak - left);
            else if (right > peak) value = static_cast<double>(right - i) / static_cast<double>(right - peak);
            else if (i > peak) value = 0;
            matrix[static_cast<std::size_t>(i * bins + m)] = value;
        }
    }
    const ElementType& type = call.element_type("output_datatype", element_type_of(f32));
    return Value(call.from_host(matrix, Shape{spectrum, bins}, type.held), &type);
}

const Operator rows[] = {
    {"BlackmanWindow", blackman},
    {"DFT", dft, {.limits = "computed as a product of matrices; the length must be constant"}},
    {"HammingWindow", hamming},
    {"HannWindow", hann},
    {"MelWeightMatrix", mel_weight_matrix},
    {"STFT", stft, {.limits = "computed as a product of matrices"}},
};

} // namespace

Operators signal_operators() { return rows; }

} // namespace reprise::onnx
