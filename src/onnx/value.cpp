#include "onnx/value.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <span>

#include <reprise/ops.hpp>
#include <reprise/program.hpp>

namespace reprise::onnx {

namespace {

// Integers of constants with at most this many elements are known on the host.
constexpr std::size_t most_host_integers = 1024;

template <class T> std::vector<T> copy_as(const std::vector<std::byte>& bytes)
{
    std::vector<T> out(bytes.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
    return out;
}

// Calls f with the elements as a vector of the C++ type that corresponds to the dtype.
template <class F> auto with_elements(DType dtype, const std::vector<std::byte>& bytes, const F& f)
{
    switch (dtype) {
    case DType::f64: return f(copy_as<double>(bytes));
    case DType::i64: return f(copy_as<std::int64_t>(bytes));
    case DType::i32: return f(copy_as<std::int32_t>(bytes));
    case DType::i16: return f(copy_as<std::int16_t>(bytes));
    case DType::i8: return f(copy_as<std::int8_t>(bytes));
    case DType::u8:
    case DType::boolean: return f(copy_as<std::uint8_t>(bytes));
    default: return f(copy_as<float>(bytes));
    }
}

std::shared_ptr<const Integers> host_integers(const Constant& constant)
{
    if (constant.type().is_floating() || constant.numel() > most_host_integers) return nullptr;
    const std::vector<std::int64_t> values = constant.integers();
    return std::make_shared<Integers>(Integers{constant.shape(), {values.begin(), values.end()}});
}

// One element without dimensions, which may be a symbol.
Tensor element(const Dim& value, DType dtype, const Device& device)
{
    return reshape(arange(value, value + 1, {.dtype = dtype, .device = device}), Shape{1});
}

} // namespace

bool Integers::constant() const
{
    return std::all_of(values.begin(), values.end(), [](const Dim& d) { return d.is_constant(); });
}

std::vector<std::int64_t> Integers::numbers() const
{
    std::vector<std::int64_t> out;
    for (const Dim& value : values) out.push_back(value.value());
    return out;
}

struct Constant::Copies {
    std::mutex mutex;
    std::map<std::string, Tensor> by_device;
};

Constant::Constant(const ElementType& type, std::vector<std::int64_t> shape, std::vector<std::byte> bytes)
    : type_(&type), shape_(std::move(shape)), bytes_(std::move(bytes)), copies_(std::make_shared<Copies>())
{}

Tensor Constant::tensor(const Device& device) const
{
    const std::lock_guard lock(copies_->mutex);
    Tensor& copy = copies_->by_device[device.name()];
    if (!copy.defined()) {
        const outside_recording off;
        copy = from_bytes(bytes_, Shape(shape_), {.dtype = type_->held, .device = device});
    }
    return copy;
}

std::vector<double> Constant::numbers() const
{
    if (type_->held == f16 || type_->held == bf16) {
        const outside_recording off;
        const Device host("reference");
        const Tensor wide = from_bytes(bytes_, Shape(shape_), {.dtype = type_->held, .device = host}).to(f64);
        return wide.to_vector<double>();
    }
    return with_elements(type_->held, bytes_,
                         [](const auto& v) { return std::vector<double>(v.begin(), v.end()); });
}

std::vector<std::int64_t> Constant::integers() const
{
    return with_elements(type_->held, bytes_,
                         [](const auto& v) { return std::vector<std::int64_t>(v.begin(), v.end()); });
}

Value::Value(Tensor tensor, const ElementType* type) : tensor_(std::move(tensor))
{
    if (tensor_.defined()) type_ = type ? type : &element_type_of(tensor_.dtype());
}

Value::Value(Integers integers, const ElementType& type)
    : type_(&type), integers_(std::make_shared<Integers>(std::move(integers)))
{}

Value::Value(std::shared_ptr<const Constant> constant)
    : type_(&constant->type()), integers_(host_integers(*constant)), constant_(std::move(constant))
{}

Value::Value(std::vector<Value> items) : items_(std::make_shared<const std::vector<Value>>(std::move(items)))
{}

Value Value::sizes(const DimVector& values)
{
    return {Integers{{static_cast<std::int64_t>(values.size())}, values}, element_type_of(i64)};
}

Value Value::scalar(const Dim& value) { return {Integers{{}, {value}}, element_type_of(i64)}; }

Shape Value::shape() const
{
    if (tensor_.defined()) return tensor_.shape();
    if (constant_) return Shape(constant_->shape());
    return integers_ ? Shape(integers_->shape) : Shape();
}

Tensor Value::tensor(const Device& device) const
{
    if (tensor_.defined() || !present()) return tensor_;
    if (constant_) return constant_->tensor(device);
    if (!integers_) return {};
    const DType dtype = type_->held;
    const Shape shape(integers_->shape);
    if (integers_->constant())
        return from_vector(integers_->numbers(), shape, {.dtype = dtype, .device = device});
    std::vector<Tensor> parts;
    for (const Dim& value : integers_->values) parts.push_back(element(value, dtype, device));
    return reshape(cat(parts), shape);
}

std::vector<double> Value::read_numbers() const
{
    if (constant_) return constant_->numbers();
    if (!integers_ && type_->is_floating()) return tensor_.to_vector<double>();
    const std::vector<std::int64_t> numbers = read_integers().numbers();
    return {numbers.begin(), numbers.end()};
}

Integers Value::read_integers() const
{
    if (integers_) return *integers_;
    if (constant_) {
        const std::vector<std::int64_t> values = constant_->integers();
        return {constant_->shape(), {values.begin(), values.end()}};
    }
    const Tensor whole = tensor_.dtype() == boolean ? tensor_.to(i32) : tensor_;
    const std::vector<std::int64_t> values = whole.to_vector<std::int64_t>();
    return {tensor_.shape().vec(), {values.begin(), values.end()}};
}

} // namespace reprise::onnx
