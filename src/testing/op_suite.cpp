#include "testing/op_suite.hpp"

#include <algorithm>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "graph/cell.hpp"
#include "ops/reference.hpp"
#include "testing/use_device.hpp"

namespace reprise::test {

namespace {

std::int64_t count_of(const std::vector<std::int64_t>& sizes)
{
    std::int64_t count = 1;
    for (const std::int64_t s : sizes) count *= s;
    return count;
}

Shape shape_of(const std::vector<std::int64_t>& sizes) { return {sizes.begin(), sizes.end()}; }

DType dtype_in(const Setting& s, DType dtype) { return s.f64 && dtype == f32 ? f64 : dtype; }

ops::HostTensor host(std::vector<std::byte>& bytes, DType dtype, const std::vector<std::int64_t>& sizes)
{
    ops::HostTensor t{.dtype = dtype, .data = bytes.data(), .sizes = sizes, .strides = {}};
    t.strides.resize(sizes.size());
    std::int64_t stride = 1;
    for (std::size_t d = sizes.size(); d-- > 0;) {
        t.strides[d] = stride;
        stride *= sizes[d];
    }
    return t;
}

Tensor tensor(const std::vector<double>& values, const std::vector<std::int64_t>& sizes, DType dtype,
              const Device& device)
{
    std::vector<std::byte> bytes(values.size() * size_of(dtype));
    const ops::HostTensor t = host(bytes, dtype, sizes);
    for (std::size_t i = 0; i < values.size(); ++i) t.put(static_cast<std::int64_t>(i), values[i]);
    return from_bytes(bytes, shape_of(sizes), {.dtype = dtype, .device = device});
}

// Returns the value rounded to the dtype.
double rounded(double v, DType dtype)
{
    std::vector<std::byte> bytes(size_of(dtype));
    const ops::HostTensor t = host(bytes, dtype, {});
    t.put(0, v);
    return t.at(0);
}

// Returns the values of the transpose of an array of these sizes.
std::vector<double> reversed(const std::vector<double>& values, const std::vector<std::int64_t>& sizes)
{
    std::vector<double> out(values.size());
    std::vector<std::int64_t> at(sizes.size());
    for (const double v : values) {
        std::int64_t to = 0;
        for (std::size_t d = sizes.size(); d-- > 0;) to = to * sizes[d] + at[d];
        out[static_cast<std::size_t>(to)] = v;
        for (std::size_t d = sizes.size(); d-- > 0;) {
            if (++at[d] < sizes[d]) break;
            at[d] = 0;
        }
    }
    return out;
}

Tensor laid_out(const std::vector<double>& values, std::vector<std::int64_t> sizes, DType dtype,
                const Setting& s)
{
    if (s.layout == Layout::contiguous || sizes.empty()) return tensor(values, sizes, dtype, s.device);
    std::vector<std::int64_t> dims(sizes.size());
    if (s.layout == Layout::transposed) {
        for (std::size_t d = 0; d < dims.size(); ++d)
            dims[d] = static_cast<std::int64_t>(dims.size() - 1 - d);
        const std::vector<double> reversed_values = reversed(values, sizes);
        std::reverse(sizes.begin(), sizes.end());
        return permute(tensor(reversed_values, sizes, dtype, s.device), dims);
    }
    if (s.layout ==
        Layout::narrowed) { // 3 elements before each row, so that nothing is aligned, and 2 after it
        const std::int64_t inner = sizes.back();
        std::vector<double> wide;
        for (std::size_t i = 0; i <= values.size(); ++i) {
            if (inner > 0 && i > 0 && i % static_cast<std::size_t>(inner) == 0)
                wide.insert(wide.end(), {7, 7});
            if (i < values.size() && i % static_cast<std::size_t>(inner) == 0)
                wide.insert(wide.end(), {9, 9, 9});
            if (i < values.size()) wide.push_back(values[i]);
        }
        sizes.back() += 5;
        if (inner == 0) wide.assign(static_cast<std::size_t>(count_of(sizes)), 5);
        return narrow(tensor(wide, sizes, dtype, s.device), -1, 3, inner);
    }
    const Shape whole = shape_of(sizes);
    if (sizes[0] == 0) return tensor(values, sizes, dtype, s.device);
    const auto row = static_cast<std::ptrdiff_t>(values.size()) / sizes[0];
    sizes[0] = 1;
    return expand(tensor({values.begin(), values.begin() + row}, sizes, dtype, s.device), whole);
}

std::uint64_t seed_of(const std::string& text) // FNV-1a: the same on every platform
{
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    return hash;
}

} // namespace

bool asks_gradient(const Argument& a) { return is_floating(a.dtype) && a.differentiable && !a.number; }

Data draw(const OpInfo& row, const Sample& sample, std::int64_t size)
{
    Data data;
    Numbers numbers(seed_of(row.name + sample.what) + static_cast<std::uint64_t>(size));
    for (const Argument& a : sample.arguments) {
        std::vector<std::int64_t>& sizes = data.sizes.emplace_back();
        for (const Dim& d : a.sizes) sizes.push_back(d.evaluate([&](std::uint32_t) { return size; }));
        std::vector<double>& values = data.values.emplace_back(static_cast<std::size_t>(count_of(sizes)));
        for (double& v : values)
            v = is_floating(a.dtype)
                    ? rounded(numbers.uniform(a.low, a.high), a.dtype)
                    : static_cast<double>(numbers.integer(static_cast<std::int64_t>(a.low),
                                                          static_cast<std::int64_t>(a.high)));
    }
    return data;
}

void repeat_first(Data& data)
{
    for (std::size_t i = 0; i < data.values.size(); ++i) {
        if (data.sizes[i].empty() || data.sizes[i][0] == 0) continue;
        const std::size_t row = data.values[i].size() / static_cast<std::size_t>(data.sizes[i][0]);
        for (std::size_t e = row; e < data.values[i].size(); ++e) data.values[i][e] = data.values[i][e - row];
    }
}

std::vector<Tensor> inputs(const Sample& sample, const Data& data, const Setting& setting)
{
    std::vector<Tensor> out;
    for (std::size_t i = 0; i < sample.arguments.size(); ++i) {
        const Argument& a = sample.arguments[i];
        const DType dtype = dtype_in(setting, a.dtype);
        if (a.number) out.push_back(full({}, data.values[i][0], {.dtype = dtype, .device = setting.device}));
        else out.push_back(laid_out(data.values[i], data.sizes[i], dtype, setting));
    }
    return out;
}

std::vector<Tensor> cotangents(const std::vector<Tensor>& outputs, const Setting& setting)
{
    std::vector<Tensor> out;
    Numbers numbers(17);
    for (const Tensor& y : outputs) {
        out.emplace_back();
        if (!is_floating(y.dtype())) continue;
        std::vector<std::int64_t> sizes;
        for (const Dim& d : y.shape()) sizes.push_back(d.value());
        std::vector<double> values(static_cast<std::size_t>(count_of(sizes)));
        for (double& v : values) v = rounded(numbers.uniform(-1, 1), bf16);
        out.back() = laid_out(values, sizes, y.dtype(), setting);
    }
    return out;
}

Outcome evaluate(const Sample& sample, const std::vector<Tensor>& given,
                 const std::vector<Tensor>& cotangents)
{
    std::vector<Tensor> in = given, by;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (cotangents.empty() || !asks_gradient(sample.arguments[i])) continue;
        if (!in[i].requires_grad()) {
            in[i] = in[i].detach();
            in[i].requires_grad_();
        }
        by.push_back(in[i]);
    }
    Outcome out{sample.call(in), {}};
    if (cotangents.empty()) return out;
    std::vector<Tensor> from, seeds;
    for (std::size_t i = 0; i < out.outputs.size(); ++i)
        if (out.outputs[i].requires_grad()) {
            from.push_back(out.outputs[i]);
            seeds.push_back(cotangents[i]);
        }
    if (!from.empty())
        out.gradients = grad(from, by,
                             {.create_graph = grad_enabled() && seeds[0].requires_grad(),
                              .retain_graph = true,
                              .allow_unused = true,
                              .cotangents = seeds});
    return out;
}

Outcome run(const Sample& sample, const Data& data, const Setting& setting, bool gradient)
{
    const UseDevice use(setting.device);
    const std::vector<Tensor> in = inputs(sample, data, setting);
    if (!gradient) return evaluate(sample, in, {});
    return evaluate(sample, in, cotangents(sample.call(in), setting));
}

std::vector<double> doubles(const Tensor& t)
{
    std::vector<std::byte> bytes = to_bytes(t);
    std::vector<std::int64_t> sizes;
    for (const Dim& d : t.shape()) sizes.push_back(d.value());
    const ops::HostTensor h = host(bytes, t.dtype(), sizes);
    std::vector<double> out;
    for (std::int64_t i = 0; i < h.count(); ++i) out.push_back(h.at(i));
    return out;
}

std::int64_t checked_size(const Sample& sample)
{
    std::int64_t size = 1;
    for (const std::int64_t s : sample.sizes)
        if (s <= 10) size = std::max(size, s);
    return std::find(sample.sizes.begin(), sample.sizes.end(), size) != sample.sizes.end()
               ? size
               : sample.sizes.back();
}

namespace {

// A sample whose differentiable arguments are separated from the others.
struct Problem {
    const Sample& sample;
    Setting setting{Device("reference"), true};
    std::vector<Tensor> all, differentiable;

    Problem(const OpInfo& row, const Sample& s)
        : sample(s), all(inputs(s, draw(row, s, checked_size(s)), setting))
    {
        for (std::size_t i = 0; i < all.size(); ++i)
            if (asks_gradient(s.arguments[i])) differentiable.push_back(all[i]);
    }
    std::vector<Tensor> with(const std::vector<Tensor>& in) const
    {
        std::vector<Tensor> out = all;
        for (std::size_t i = 0, k = 0; i < out.size(); ++i)
            if (asks_gradient(sample.arguments[i])) out[i] = in[k++];
        return out;
    }
    // Combines tensors to one, by a weighted sum.  A single tensor is returned as it is, to check nothing but the op.
    Tensor mixed(const std::vector<Tensor>& tensors) const
    {
        if (tensors.size() == 1) return tensors[0];
        Tensor total = zeros({}, {.dtype = f64});
        const std::vector<Tensor> weights = cotangents(tensors, setting);
        for (std::size_t i = 0; i < tensors.size(); ++i) total = total + sum(tensors[i] * weights[i]);
        return total;
    }
};

} // namespace

GradCheck check_gradient(const OpInfo& row, const Sample& sample, const GradCheckOptions& options)
{
    Problem p(row, sample);
    const UseDevice use(p.setting.device);
    std::vector<Tensor> leaves = p.differentiable;
    for (Tensor& t : leaves) t.requires_grad_();
    std::vector<bool> depends; // whether an output depends on the inputs
    for (const Tensor& y : sample.call(p.with(leaves))) depends.push_back(y.requires_grad());
    const auto f = [&](const std::vector<Tensor>& in) {
        std::vector<Tensor> outputs;
        const std::vector<Tensor> all = sample.call(p.with(in));
        for (std::size_t i = 0; i < all.size(); ++i)
            if (depends[i]) outputs.push_back(all[i]);
        return p.mixed(outputs);
    };
    return gradcheck(f, p.differentiable, options);
}

GradCheck check_second_gradient(const OpInfo& row, const Sample& sample, const GradCheckOptions& options)
{
    Problem p(row, sample);
    const UseDevice use(p.setting.device);
    std::vector<Tensor> leaves = p.differentiable;
    for (Tensor& t : leaves) t.requires_grad_();
    const std::vector<Tensor> outputs = sample.call(p.with(leaves));
    std::vector<Tensor> seeds = cotangents(outputs, p.setting), variables = p.differentiable;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i].requires_grad()) variables.push_back(seeds[i]);
    const auto f = [&](const std::vector<Tensor>& in) {
        std::vector<Tensor> x(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(p.differentiable.size()));
        std::vector<Tensor> dy = seeds;
        for (std::size_t i = 0, k = x.size(); i < outputs.size(); ++i)
            if (outputs[i].requires_grad()) dy[i] = in[k++];
        for (Tensor& t : x)
            if (!t.requires_grad()) t = t.detach().requires_grad_();
        for (Tensor& t : dy)
            if (t.defined() && !t.requires_grad()) t = t.detach().requires_grad_();
        std::vector<Tensor> given;
        for (const Tensor& g : evaluate(sample, p.with(x), dy).gradients)
            if (g.defined()) given.push_back(g);
        return p.mixed(given);
    };
    return gradcheck(f, variables, options);
}

std::vector<std::string> rows_for(Check check)
{
    const bool needs_gradient =
        check == Check::gradient || check == Check::gradcheck || check == Check::twice;
    std::vector<std::string> names;
    for (const OpInfo& row : op_infos())
        if (!row.skips.contains(check) && (row.differentiable || !needs_gradient)) names.push_back(row.name);
    return names;
}

std::string describe(const Sample& sample, std::int64_t size)
{
    return sample.what + ", n = " + std::to_string(size);
}

} // namespace reprise::test
