// The values of a graph while it runs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

#include "onnx/element_type.hpp"
#include "onnx/proto.hpp"

namespace reprise::onnx {

// Integers that are known on the host, in row-major order: sizes, axes and indices.  They may contain symbols.
struct Integers {
    std::vector<std::int64_t> shape; // of a tensor with these elements
    std::vector<Dim> values;

    bool constant() const;                     // whether no value contains a symbol
    std::vector<std::int64_t> numbers() const; // the values; Error(state) unless they are constant
};

// A constant of the file.  Its tensors are created when they are used first, one for each device.
class Constant {
public:
    // Takes the elements in row-major order, of the dtype that holds the type.
    Constant(const ElementType& type, std::vector<std::int64_t> shape, std::vector<std::byte> bytes);

    const ElementType& type() const { return *type_; }
    const std::vector<std::int64_t>& shape() const { return shape_; }
    std::size_t numel() const { return bytes_.size() / size_of(type_->held); }
    Tensor tensor(const Device&) const;
    std::vector<double> numbers() const;        // all elements, converted
    std::vector<std::int64_t> integers() const; // those of an integer type or bool, exact

private:
    const ElementType* type_;
    std::vector<std::int64_t> shape_;
    std::vector<std::byte> bytes_;
    struct Copies;
    std::shared_ptr<Copies> copies_;
};

// A value: absent (an optional input that is not given), a tensor, integers of the host, a constant, or a sequence.
class Value {
public:
    Value() = default; // absent
    // A tensor, of the type that its dtype stands for unless a type is given.
    Value(Tensor tensor, const ElementType* type = nullptr);
    Value(Integers integers, const ElementType& type); // integers of the host
    explicit Value(std::shared_ptr<const Constant> constant);
    // A sequence of tensors.
    explicit Value(std::vector<Value> items);
    static Value sizes(const DimVector& values); // a list of int64
    static Value scalar(const Dim& value);       // an int64 without dimensions

    bool present() const { return type_ != nullptr || items_ != nullptr; }
    bool is_sequence() const { return items_ != nullptr; }
    const std::vector<Value>& items() const { return *items_; }
    const ElementType& type() const { return *type_; }
    Shape shape() const;
    // The elements as a tensor; integers of the host and constants are copied to the device.
    Tensor tensor(const Device&) const;
    // The elements, where they are integers or bools that are known on the host; null otherwise.
    const Integers* integers() const { return integers_.get(); }
    const Constant* constant() const { return constant_.get(); }
    // Reads all elements, from the device where they are there: Error(state) while they are being recorded.
    std::vector<double> read_numbers() const;
    Integers read_integers() const; // the same for integers and bools

private:
    const ElementType* type_ = nullptr; // null: absent or a sequence
    Tensor tensor_;
    std::shared_ptr<const Integers> integers_;
    std::shared_ptr<const Constant> constant_;
    std::shared_ptr<const std::vector<Value>> items_;
};

// Reads the bytes of external data: location, offset and length (nullopt: to the end of the file).
using ExternalData = std::function<std::vector<std::byte>(const std::string& location, std::uint64_t offset,
                                                          std::optional<std::uint64_t> length)>;
// Returns why a tensor can't be imported; empty where it can.
std::string why_not(const proto::TensorProto&);
// Decodes a tensor of the file.  Error(file) where its sizes and its data do not fit; `external` may be null where the
// tensor's data is in the message.
std::shared_ptr<const Constant> decode_tensor(const proto::TensorProto&, const ExternalData& external);

} // namespace reprise::onnx
