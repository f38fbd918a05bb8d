// quantize, dequantize, quantized_matmul: matrices in few bits.  They are u8 [rows, bytes of a row], in the layouts of
// shaders/common/quantized.glsl.
#include "ops/quantized.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "ops/accumulated.hpp"
#include "ops/indices.hpp"
#include "ops/matmul.hpp"
#include "ops/records.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "ops/vocabulary.hpp"
#include "shape/rules.hpp"

namespace reprise::ops {

Layout layout_of(QuantizedFormat format)
{
    const std::optional<BlockType> type = block_type_of(format);
    if (!type) return {4, 4, 4}; // int8: words of four elements after the scale of a row
    return {elements_per_block(*type), bytes_per_block(*type), 0};
}

float half_at(const std::byte* at)
{
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return from_f16(bits);
}

namespace {

constexpr std::int64_t part = 32; // elements with one scale
using Part = std::array<float, part>;

void scale_whole(float scale, const std::byte* bytes, std::int64_t count, float* to)
{
    for (std::int64_t i = 0; i < count; ++i)
        to[i] = scale * static_cast<float>(static_cast<std::int8_t>(bytes[i]));
}

Part part_of_q8_0(const std::byte* block)
{
    Part values{};
    scale_whole(half_at(block), block + 2, part, values.data());
    return values;
}

Part part_of_q4_0(const std::byte* block)
{
    const float scale = half_at(block);
    Part values{};
    for (std::size_t i = 0; i < part / 2; ++i) {
        const int byte = std::to_integer<int>(block[2 + i]);
        values[i] = scale * static_cast<float>((byte & 15) - 8);
        values[i + part / 2] = scale * static_cast<float>((byte >> 4) - 8);
    }
    return values;
}

Part part_of_q4_k(const std::byte* block, std::int64_t index)
{
    const auto byte = [&](std::int64_t i) { return std::to_integer<unsigned>(block[i]); };
    const std::int64_t j = index % 4;
    const unsigned low = byte(4 + j), middle = byte(8 + j), high = byte(12 + j);
    const unsigned scale_bits = index < 4 ? low & 63 : (high & 15) | low >> 6 << 4,
                   minimum_bits = index < 4 ? middle & 63 : high >> 4 | middle >> 6 << 4;
    const float scale = half_at(block) * static_cast<float>(scale_bits),
                minimum = half_at(block + 2) * static_cast<float>(minimum_bits);
    const std::byte* const from = block + 16 + index / 2 * part;
    const int shift = index % 2 * 4;
    Part values{};
    for (std::size_t i = 0; i < part; ++i)
        values[i] = scale * static_cast<float>(std::to_integer<int>(from[i]) >> shift & 15) - minimum;
    return values;
}

} // namespace

void dequantize(QuantizedFormat format, const std::byte* row, std::int64_t first, std::int64_t count,
                float* to)
{
    if (format == QuantizedFormat::int8) {
        float scale = 0;
        std::memcpy(&scale, row, sizeof scale);
        return scale_whole(scale, row + sizeof scale + first, count, to);
    }
    const Layout layout = layout_of(format);
    for (std::int64_t done = 0; done < count;) {
        const std::int64_t at = first + done, begin = at % part,
                           length = std::min(part - begin, count - done);
        const std::byte* const block = row + at / layout.elements * layout.bytes;
        const Part values = format == QuantizedFormat::q8_0 ? part_of_q8_0(block)
                            : format == QuantizedFormat::q4_0
                                ? part_of_q4_0(block)
                                : part_of_q4_k(block, at % layout.elements / part);
        std::copy_n(values.begin() + begin, length, to + done);
        done += length;
    }
}

namespace native {
namespace {

// The functions of quantize.inc, which append to `bytes`.
struct Quantizer {
    std::vector<float> elements{};
    std::vector<std::uint8_t> bytes{};

    float rp_element(uint i) const { return elements[i]; }
    void rp_put(uint byte) { bytes.push_back(static_cast<std::uint8_t>(byte)); }
#define RPF float
#define RP_FN
#include "ops/quantize.inc"
#undef RPF
#undef RP_FN
};

} // namespace
} // namespace native

namespace {

QuantizedFormat format_of(const Attributes& a) { return static_cast<QuantizedFormat>(a.integer("format")); }
std::uint32_t format_constant(const Node& n)
{
    return static_cast<std::uint32_t>(n.attributes.integer("format"));
}

// -- quantize: x f32 [rows, k] -> u8 [rows, bytes of a row] --
TensorTypes infer(const Op&, const InputTypes& in, const Attributes& a)
{
    return {{u8, {in[0].shape[0], layout_of(format_of(a)).row_bytes(in[0].shape[1])}}};
}

void lower(Lowering& l, const Node& n)
{
    const View x = l.contiguous(l.input(0)), y = l.output();
    const QuantizedFormat format = format_of(n.attributes);
    const bool by_rows = format == QuantizedFormat::int8, in_pairs = layout_of(format).bytes % 4 != 0;
    const Dim blocks =
        by_rows ? x.sizes()[0] : x.sizes()[0] * floor_div(x.sizes()[1], layout_of(format).elements);
    const records::quantize record{.x = x, .y = y, .blocks = blocks, .columns = x.sizes()[1]};
    l.launch(
        record.launch({.constants = {format_constant(n)}, .groups = ceil_div(blocks, in_pairs ? 128 : 64)}));
}

void reference(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &y = a.outputs[0];
    const QuantizedFormat format = format_of(a.attributes);
    native::Quantizer q;
    for (const double v : x.values()) q.elements.push_back(static_cast<float>(v));
    const auto columns = static_cast<std::uint32_t>(x.sizes[1]);
    const auto step =
        format == QuantizedFormat::int8 ? columns : static_cast<std::uint32_t>(layout_of(format).elements);
    for (std::uint32_t first = 0; first < q.elements.size(); first += step) switch (format) {
        case QuantizedFormat::q8_0: q.rp_put_q8_0(first); break;
        case QuantizedFormat::q4_0: q.rp_put_q4_0(first); break;
        case QuantizedFormat::q4_k: q.rp_put_q4_k(first); break;
        default: q.rp_put_int8(first, columns); break;
        }
    for (std::size_t i = 0; i < q.bytes.size(); ++i) y.set_whole(static_cast<std::int64_t>(i), q.bytes[i]);
}

// -- dequantize: u8 [rows, bytes of a row] and, optionally, indices [count] -> f32 [rows or count, k] --
TensorTypes infer_dequantize(const Op& op, const InputTypes& in, const Attributes& a)
{
    const bool by_rows = in.size() > 1;
    if (by_rows) require_indices(op.name, "indices", in[1].dtype);
    return {{f32, {in[by_rows ? 1 : 0].shape[0], layout_of(format_of(a)).columns(in[0].shape[1])}}};
}

void lower_dequantize(Lowering& l, const Node& n)
{
    const bool by_rows = n.inputs.size() > 1;
    const View q = l.contiguous(l.input(0)), y = l.output();
    const records::dequantize record{.q = q,
                                     .indices = by_rows ? records::Input(l.contiguous(l.indices(1)))
                                                        : records::Input(records::Absent{q}),
                                     .y = y,
                                     .count = y.sizes()[0],
                                     .width = y.sizes()[1],
                                     .first_row = 0,
                                     .first_column = 0,
                                     .rows = q.sizes()[0],
                                     .columns = y.sizes()[1]};
    l.launch(record.launch({.kernel = by_rows ? "dequantize_rows" : "dequantize",
                            .constants = {format_constant(n)},
                            .groups = ceil_div(y.sizes()[0] * y.sizes()[1], 256)}));
}

// Returns the elements of a row.
std::vector<float> elements_of(const HostTensor& q, std::int64_t row, QuantizedFormat format)
{
    std::vector<std::byte> bytes;
    for (std::int64_t i = 0; i < q.sizes[1]; ++i)
        bytes.push_back(static_cast<std::byte>(q.at_as<std::int64_t>(row * q.sizes[1] + i)));
    std::vector<float> elements(static_cast<std::size_t>(layout_of(format).columns(q.sizes[1]).value()));
    dequantize(format, bytes.data(), 0, std::ssize(elements), elements.data());
    return elements;
}

void reference_dequantize(const ReferenceArguments& a)
{
    const HostTensor &q = a.inputs[0], &y = a.outputs[0];
    const std::int64_t columns = y.sizes[1];
    for (std::int64_t i = 0; i < y.sizes[0]; ++i) {
        const std::int64_t row = a.inputs.size() > 1 ? a.inputs[1].at_as<std::int64_t>(i) : i;
        const bool known = row >= 0 && row < q.sizes[0];
        const std::vector<float> elements =
            known ? elements_of(q, row, format_of(a.attributes)) : std::vector<float>();
        for (std::int64_t j = 0; j < columns; ++j)
            y.put(i * columns + j, known ? double{elements[static_cast<std::size_t>(j)]}
                                         : std::numeric_limits<double>::quiet_NaN());
    }
}

// -- quantized_matmul: x [m, k] and u8 [rows, bytes of a row] -> [m, rows], x q^T; or not `transposed`: x [m, rows] ->
// [m, k], x q.  The result has the dtype of x or, if that is f16 or bf16, f32 --
bool is_transposed(const Attributes& a) { return a.integer("transposed") != 0; }

TensorTypes infer_matmul(const Op&, const InputTypes& in, const Attributes& a)
{
    const Dim columns = layout_of(format_of(a)).columns(in[1].shape[1]);
    return {{accumulated(in[0].dtype), {in[0].shape[0], is_transposed(a) ? in[1].shape[0] : columns}}};
}

std::vector<Tensor> vjp_matmul(const VjpArguments& v)
{
    const Attributes& a = v.node.attributes;
    const Attributes turned = a.with("transposed", std::int64_t{is_transposed(a) ? 0 : 1});
    const DType t = v.inputs[0].dtype();
    return {cast(graph::apply1(quantized_matmul_op, {cast(v.cotangents[0], t), v.inputs[1]}, turned), t), {}};
}

void lower_matmul(Lowering& l, const Node& n)
{
    const View q = l.contiguous(l.input(1));
    const Dim rows = q.sizes()[0], columns = layout_of(format_of(n.attributes)).columns(q.sizes()[1]);
    const auto batch_of_one = [](View v) {
        v.layout.sizes.insert(v.layout.sizes.begin(), 2, Dim(1));
        v.layout.strides.insert(v.layout.strides.begin(), 2, Dim(0));
        return v;
    };
    View elements = q;
    elements.layout.sizes = {rows, columns};
    elements.layout.strides = {columns, 1};
    if (is_transposed(n.attributes)) {
        std::swap(elements.layout.sizes[0], elements.layout.sizes[1]);
        std::swap(elements.layout.strides[0], elements.layout.strides[1]);
    }
    l.widened([&] {
        l.gemm({batch_of_one(l.factor(0)), batch_of_one(elements), batch_of_one(l.output()),
                format_constant(n)});
    });
}

void reference_matmul(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &q = a.inputs[1];
    const std::int64_t columns = layout_of(format_of(a.attributes)).columns(q.sizes[1]).value();
    std::vector<float> elements;
    for (std::int64_t row = 0; row < q.sizes[0]; ++row) {
        const std::vector<float> more = elements_of(q, row, format_of(a.attributes));
        elements.insert(elements.end(), more.begin(), more.end());
    }
    HostTensor b{f32, reinterpret_cast<std::byte*>(elements.data()), {q.sizes[0], columns}, {columns, 1}};
    if (is_transposed(a.attributes)) {
        std::swap(b.sizes[0], b.sizes[1]);
        std::swap(b.strides[0], b.strides[1]);
    }
    multiply(x, b, a.outputs[0]);
}

} // namespace

const Op quantize_op{
    .name = "quantize", .infer = infer, .lower = lower, .reference = reference, .narrow = true};
const Op dequantize_op{.name = "dequantize",
                       .infer = infer_dequantize,
                       .lower = lower_dequantize,
                       .reference = reference_dequantize,
                       .narrow = true};
const Op quantized_matmul_op{.name = "quantized_matmul",
                             .infer = infer_matmul,
                             .vjp = vjp_matmul,
                             .lower = lower_matmul,
                             .reference = reference_matmul,
                             .narrow = true,
                             .doubles = true,
                             .cost = graph::Cost::compute};

} // namespace reprise::ops
