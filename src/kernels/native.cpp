#include "kernels/native.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "device/native/conv.hpp"
#include "device/native/gemm.hpp"
#include "kernels/conv_sizes.hpp"
#include "ops/launch_where.hpp"
#include "ops/quantized.hpp"

namespace reprise::kernels {

namespace {

using device::Capabilities;
using device::LaunchArguments;
using ops::ConvProblem;
using ops::GemmProblem;
using ops::Use;
using ops::View;
using Native = std::shared_ptr<const device::HostFunction>;
using Wanted = ConvProblem::Wanted;

// Depthwise convolutions and those of few channels leave most of a tile unused.
constexpr std::int64_t least_channels = 4;

// Reads the arguments of a launch one after the other.  Its first ints are the dtypes of its operands.
class Arguments {
public:
    explicit Arguments(const LaunchArguments& a) : operand_(a.operands.data()), next_(a.ints.data()) {}
    device::native::Elements elements() // null if the operand is absent
    {
        return {reinterpret_cast<void*>(static_cast<std::uintptr_t>((operand_++)->address)),
                static_cast<DType>(next())};
    }
    std::int64_t next() { return *next_++; }
    std::array<std::int64_t, 3> next_three()
    {
        const std::array<std::int64_t, 3> three{next_[0], next_[1], next_[2]};
        next_ += 3;
        return three;
    }

private:
    const device::Operand* operand_;
    const std::int32_t* next_;
};

// Reads the elements of a matrix with such rows, whose indices are row-major.
device::native::Elements::Reader reader_of(QuantizedFormat format, std::int64_t columns)
{
    const std::int64_t bytes = ops::layout_of(format).row_bytes(columns).value();
    return [=](const void* data, std::int64_t first, std::int64_t count, float* to) {
        const auto* const rows = static_cast<const std::byte*>(data);
        ops::dequantize(format, rows + first / columns * bytes, first % columns, count, to);
    };
}

void run_gemm(const LaunchArguments& arguments)
{
    Arguments from(arguments);
    device::native::Product p;
    for (device::native::Elements* const e : {&p.a.elements, &p.b.elements, &p.bias, &p.c})
        *e = from.elements();
    for (std::int64_t* const size :
         {&p.outers, &p.inners, &p.m, &p.n, &p.k, &p.c_outer, &p.c_inner, &p.c_row})
        *size = from.next();
    for (device::native::Product::Operand* const o : {&p.a, &p.b})
        for (std::int64_t* const stride : {&o->outer, &o->inner, &o->row, &o->column}) *stride = from.next();
    const std::int64_t format = from.next() - 1; // -1: the matrix is not quantised
    device::native::Elements::Reader reader;
    if (format >= 0) {
        reader = reader_of(static_cast<QuantizedFormat>(format), std::max(p.b.row, p.b.column));
        p.b.elements.reader = &reader;
    }
    device::native::multiply(device::native::tiles().front(), p);
}

void run_conv(const LaunchArguments& arguments, Wanted wanted)
{
    Arguments from(arguments);
    device::native::Elements x, weight, bias, y;
    for (device::native::Elements* const e : {&x, &weight, &bias, &y}) *e = from.elements();
    device::native::Convolution c;
    for (std::int64_t* const size : {&c.images, &c.groups, &c.in_channels, &c.out_channels})
        *size = from.next();
    for (auto* const sizes : {&c.in, &c.out, &c.kernel, &c.stride, &c.padding, &c.dilation})
        *sizes = from.next_three();
    const device::native::Tile& tile = device::native::tiles().front();
    switch (wanted) {
    case Wanted::y: return device::native::convolve(tile, c, x, weight, bias, y);
    case Wanted::x: return device::native::gradient_by_input(tile, c, weight, y, x);
    case Wanted::weight: return device::native::gradient_by_weight(tile, c, x, y, weight);
    }
}

// One function for each direction: launches that compute the same must have the same one.
const Native& conv_function(Wanted wanted)
{
    const auto of = [](Wanted w) {
        return std::make_shared<const device::HostFunction>(
            [w](const LaunchArguments& a) { run_conv(a, w); });
    };
    static const Native y = of(Wanted::y), x = of(Wanted::x), weight = of(Wanted::weight);
    return wanted == Wanted::y ? y : wanted == Wanted::x ? x : weight;
}

std::string refuse(const Capabilities& caps, std::initializer_list<const View*> operands)
{
    if (!caps.native_from) return "the device is no CPU, or native code is off";
    const auto fits = [](const View* v) { return v->dtype == f32 || v->dtype == f16 || v->dtype == bf16; };
    return std::all_of(operands.begin(), operands.end(), fits) ? ""
                                                               : "the operands are not of f32, f16 or bf16";
}

Dim is_enough(const Capabilities& caps, const Dim& multiplications)
{
    return ops::is_at_least(multiplications, static_cast<std::int64_t>(caps.native_from.value_or(0)));
}

Dim multiplications_of(const GemmProblem& p)
{
    const Shape& c = p.c.sizes();
    return c[0] * c[1] * c[2] * c[3] * p.a.sizes()[3];
}

Dim multiplications_of(const ConvProblem& p)
{
    const Shape &y = p.y.sizes(), &weight = p.weight.sizes();
    return y[0] * y[1] * image_of(p.y) * weight[1] * image_of(p.weight);
}

void launch(ops::Lowering& l, const char* name, std::vector<ops::LaunchOperand> operands, DimVector ints,
            const Dim& multiplications, const Native& function)
{
    ops::LaunchSpec spec;
    spec.kernel = name;
    for (const ops::LaunchOperand& o : operands) spec.ints.push_back(static_cast<std::int64_t>(o.dtype));
    spec.ints.insert(spec.ints.end(), ints.begin(), ints.end());
    spec.operands = std::move(operands);
    // Slices of time scale the measured time of a launch with its groups.
    spec.groups = ceil_div(multiplications, std::int64_t{1} << 20);
    spec.disjoint = true;
    spec.flops = 2 * multiplications;
    spec.native = function;
    l.launch(std::move(spec));
}

// The operand of a bias, which may be absent.
ops::LaunchOperand operand_of(const std::optional<View>& bias)
{
    return {bias.value_or(View()), Use::read, !bias};
}

} // namespace

std::string refuse_native_gemm(const Capabilities& caps, const GemmProblem& p)
{
    return refuse(caps, {&p.a, p.format ? &p.a : &p.b, &p.c});
}

Dim native_gemm_serves(const Capabilities& caps, const GemmProblem& p)
{
    return is_enough(caps, multiplications_of(p));
}

void native_gemm(ops::Lowering& l, const Capabilities&, const GemmProblem& p)
{
    static const Native function = std::make_shared<const device::HostFunction>(run_gemm);
    const Shape &c = p.c.sizes(), &to = p.c.layout.strides;
    DimVector ints{c[0], c[1], c[2], c[3], p.a.sizes()[3], to[0], to[1], to[2]};
    for (const View* const v : {&p.a, &p.b})
        ints.insert(ints.end(), v->layout.strides.begin(), v->layout.strides.end());
    ints.push_back(p.format ? std::int64_t{*p.format} + 1 : 0);
    launch(l, "native_gemm", {{p.a, Use::read}, {p.b, Use::read}, operand_of(p.bias), {p.c, Use::write}},
           std::move(ints), multiplications_of(p), function);
}

std::string refuse_native_conv(const Capabilities& caps, const ConvProblem& p)
{
    return refuse(caps, {&p.x, &p.weight, &p.y});
}

Dim native_conv_serves(const Capabilities& caps, const ConvProblem& p)
{
    const Dim channels = p.wanted == Wanted::x
                             ? p.weight.sizes()[1]
                             : floor_div(p.weight.sizes()[0], p.groups); // of a group's result
    return is_enough(caps, multiplications_of(p)) * ops::is_at_least(channels, least_channels);
}

void native_conv(ops::Lowering& l, const Capabilities&, const ConvProblem& p)
{
    constexpr std::array<const char*, 3> names{"native_conv_y", "native_conv_x", "native_conv_weight"};
    DimVector ints{p.x.sizes()[0], p.groups, p.weight.sizes()[1], floor_div(p.weight.sizes()[0], p.groups)};
    for (const View* const v : {&p.x, &p.y, &p.weight})
        ints.insert(ints.end(), v->sizes().begin() + 2, v->sizes().end());
    for (const auto& sizes : {p.stride, p.padding, p.dilation})
        ints.insert(ints.end(), sizes.begin(), sizes.end());
    const auto use = [&](Wanted result) { return p.wanted == result ? Use::write : Use::read; };
    launch(
        l, names.at(static_cast<std::size_t>(p.wanted)),
        {{p.x, use(Wanted::x)}, {p.weight, use(Wanted::weight)}, operand_of(p.bias), {p.y, use(Wanted::y)}},
        std::move(ints), multiplications_of(p), conv_function(p.wanted));
}

} // namespace reprise::kernels
