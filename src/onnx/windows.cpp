#include "onnx/windows.hpp"

#include <algorithm>

namespace reprise::onnx {

namespace {

void check_list(const Call& call, const char* name, const std::vector<std::int64_t>& list, std::size_t size,
                std::int64_t lowest)
{
    if (list.size() != size)
        call.fail("The attribute (", name, ") has (", list.size(), ") numbers, not (", size, ").");
    for (const std::int64_t value : list)
        if (value < lowest || value > 1 << 20)
            call.fail("The attribute (", name, ") has the number (", value, ").");
}

// Padding so that the output has ceil(size / stride) windows.
void pad_same(Windows& windows, const Shape& shape, bool upper)
{
    for (std::size_t i = 0; i < windows.rank(); ++i) {
        const Dim size = shape[i + 2];
        const Dim out = ceil_div(size, Dim(windows.stride[i]));
        const Dim total = max(Dim(0), (out - 1) * windows.stride[i] + windows.extent(i) - size);
        const Dim half = floor_div(total, Dim(2));
        windows.before[i] = upper ? half : total - half;
        windows.after[i] = upper ? total - half : half;
    }
}

} // namespace

Dim padding_size(const Dim& size) { return size.is_constant() ? size : max(size, Dim(0)); }

bool Windows::symmetric() const
{
    for (std::size_t i = 0; i < rank(); ++i)
        if (!before[i].is_constant() || !same(before[i], after[i])) return false;
    return true;
}

bool Windows::unpadded() const
{
    const auto none = [](const Dim& d) { return same(d, Dim(0)); };
    return std::all_of(before.begin(), before.end(), none) && std::all_of(after.begin(), after.end(), none);
}

Windows read_windows(const Call& call, const Shape& shape, std::vector<std::int64_t> kernel)
{
    Windows windows;
    windows.kernel = std::move(kernel);
    const std::size_t n = windows.kernel.size();
    if (shape.size() != n + 2)
        call.fail("The shape ", to_string(shape), " does not fit windows of (", n, ") dimensions.");
    const auto list = [&](const char* name) {
        auto given = call.list(name);
        return given.empty() ? std::vector<std::int64_t>(n, 1) : given;
    };
    windows.stride = list("strides");
    windows.dilation = list("dilations");
    check_list(call, "kernel_shape", windows.kernel, n, 1);
    check_list(call, "strides", windows.stride, n, 1);
    check_list(call, "dilations", windows.dilation, n, 1);
    windows.ceil_mode = call.flag("ceil_mode");
    windows.before = windows.after = DimVector(n, Dim(0));
    const std::string automatic = call.text("auto_pad", "NOTSET");
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
        pad_same(windows, shape, automatic == "SAME_UPPER");
        windows.ceil_mode = false;
    } else if (automatic == "NOTSET") {
        auto pads = call.list("pads");
        if (pads.empty()) pads.resize(2 * n, 0);
        check_list(call, "pads", pads, 2 * n, 0);
        for (std::size_t i = 0; i < n; ++i) {
            windows.before[i] = pads[i];
            windows.after[i] = pads[i + n];
        }
    } else if (automatic != "VALID") {
        call.fail("The attribute auto_pad is (", automatic, ").");
    }
    return windows;
}

Windows exact_windows(Windows windows, const Shape& shape)
{
    for (std::size_t i = 0; i < windows.rank(); ++i) {
        const Dim size = shape[i + 2], stride = windows.stride[i];
        const Dim space = size + windows.before[i] + windows.after[i] - windows.extent(i);
        Dim count = floor_div(space, stride) + 1;
        if (windows.ceil_mode)
            count = min(ceil_div(space, stride), floor_div(size + windows.before[i] - 1, stride)) + 1;
        windows.after[i] = padding_size((count - 1) * stride + windows.extent(i) - size - windows.before[i]);
    }
    windows.ceil_mode = false;
    return windows;
}

Tensor pad_images(const Tensor& x, const DimVector& before, const DimVector& after, double value)
{
    DimVector amounts;
    for (std::size_t i = before.size(); i-- > 0;) {
        amounts.push_back(before[i]);
        amounts.push_back(after[i]);
    }
    const bool none =
        std::all_of(amounts.begin(), amounts.end(), [](const Dim& d) { return same(d, Dim(0)); });
    return none ? x : pad(x, amounts, value);
}

Tensor grid_positions(const Tensor& elements, const Dim& size)
{
    const auto count = static_cast<double>(size.value());
    return affine(elements, 2 / count, 1 / count - 1);
}

} // namespace reprise::onnx
