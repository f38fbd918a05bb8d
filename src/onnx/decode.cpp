// Decodes the tensors of a file.
#include <algorithm>
#include <cstring>
#include <limits>

#include <reprise/error.hpp>

#include "onnx/value.hpp"

namespace reprise::onnx {

namespace {

constexpr const char* reader = "onnx::Model";

template <class... Parts> [[noreturn]] void malformed(const proto::TensorProto& tensor, const Parts&... parts)
{
    detail::fail(ErrorKind::file, reader, "The tensor (", tensor.name(), ") is malformed: ", parts..., ".");
}

std::size_t count_elements(const proto::TensorProto& tensor, const ElementType& type)
{
    std::uint64_t count = 1;
    bool empty = false;
    const auto most =
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / size_of(type.held);
    for (const std::int64_t size : tensor.dims()) {
        if (size < 0) malformed(tensor, "it has a size (", size, ") below 0");
        empty |= size == 0;
        if (size && count > most / static_cast<std::uint64_t>(size))
            malformed(tensor, "it has more than 2^63 - 1 bytes");
        if (size) count *= static_cast<std::uint64_t>(size);
    }
    return empty ? 0 : count;
}

// Writes numbers as the elements of the dtype that holds them.
class Elements {
public:
    explicit Elements(const ElementType& type) : type_(type) {}
    void reserve(std::size_t count) { bytes_.reserve(count * size_of(type_.held)); }
    // Adds an element by its bits in the file, which are those of an unsigned integer.
    void add_pattern(std::uint64_t bits)
    {
        if (type_.small)
            return add(static_cast<float>(decode(static_cast<std::uint32_t>(bits), *type_.small)));
        switch (size_of(type_.held)) {
        case 1: return add(static_cast<std::uint8_t>(with_sign(bits)));
        case 2: return add(static_cast<std::uint16_t>(bits));
        case 4: return add(static_cast<std::uint32_t>(bits));
        default: return add(bits);
        }
    }
    template <class T> void add(T value)
    {
        const auto* begin = reinterpret_cast<const std::byte*>(&value);
        bytes_.insert(bytes_.end(), begin, begin + sizeof(T));
    }
    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    std::uint64_t with_sign(std::uint64_t bits) const
    {
        const bool negative = type_.kind == ElementType::Kind::with_sign && bits >> (type_.bits - 1) & 1;
        return negative && type_.bits < 8 ? bits | ~((std::uint64_t{1} << type_.bits) - 1) : bits;
    }
    const ElementType& type_;
    std::vector<std::byte> bytes_;
};

// Unpacks little-endian elements; elements of fewer than 8 bits are packed from the lowest bits up.
std::vector<std::byte> unpack(const proto::TensorProto& tensor, const ElementType& type, std::size_t count,
                              const std::byte* data, std::size_t bytes)
{
    const std::size_t expected =
        type.bits >= 8 ? count * (type.bits / 8) : count / (8 / type.bits) + (count % (8 / type.bits) != 0);
    if (bytes != expected)
        malformed(tensor, "its (", count, ") elements of the type (", type.name, ") need (", expected,
                  ") bytes, but it has (", bytes, ")");
    if (type.bits == 8 * size_of(type.held)) return {data, data + bytes};
    Elements out(type);
    out.reserve(count);
    const std::size_t per_byte = type.bits < 8 ? 8 / type.bits : 1, width = type.bits / 8;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t bits = 0;
        if (type.bits < 8) {
            const auto shift = static_cast<unsigned>(i % per_byte * type.bits);
            bits = std::to_integer<std::uint64_t>(data[i / per_byte]) >> shift & ((1u << type.bits) - 1);
        } else {
            for (std::size_t b = 0; b < width; ++b)
                bits |= std::to_integer<std::uint64_t>(data[i * width + b]) << (8 * b);
        }
        out.add_pattern(bits);
    }
    return out.take();
}

template <class List> void check_list(const proto::TensorProto& tensor, const List& list, std::size_t count)
{
    if (static_cast<std::size_t>(list.size()) != count)
        malformed(tensor, "its shape has (", count, ") elements, but it has data for (", list.size(), ")");
}

// Elements that are stored as a list of numbers.
std::vector<std::byte> from_list(const proto::TensorProto& tensor, const ElementType& type, std::size_t count)
{
    Elements out(type);
    using Proto = proto::TensorProto;
    const auto each = [&](const auto& list, const auto& f) {
        check_list(tensor, list, count);
        out.reserve(count);
        for (const auto& item : list) f(item);
        return out.take();
    };
    const auto same = [&](auto item) { out.add(item); };
    const auto bits = [&](auto item) { out.add_pattern(static_cast<std::uint64_t>(item)); };
    switch (tensor.data_type()) {
    case Proto::FLOAT: return each(tensor.float_data(), same);
    case Proto::DOUBLE: return each(tensor.double_data(), same);
    case Proto::INT64: return each(tensor.int64_data(), [&](auto item) { out.add(std::int64_t{item}); });
    case Proto::UINT32:
    case Proto::UINT64: return each(tensor.uint64_data(), bits);
    default: break;
    }
    if (type.bits >= 8) return each(tensor.int32_data(), bits);
    const std::size_t per_byte = 8 / type.bits;
    check_list(tensor, tensor.int32_data(), (count + per_byte - 1) / per_byte);
    std::vector<std::byte> packed;
    for (const std::int32_t item : tensor.int32_data()) packed.push_back(static_cast<std::byte>(item & 0xff));
    return unpack(tensor, type, count, packed.data(), packed.size());
}

std::uint64_t parse_count(const proto::TensorProto& tensor, const std::string& key, const std::string& text)
{
    std::uint64_t value = 0;
    if (text.empty() || text.size() > 18 ||
        !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
        malformed(tensor, "the ", key, " of its external data is (", text, "), which is no count");
    for (const char c : text) value = 10 * value + static_cast<std::uint64_t>(c - '0');
    return value;
}

std::vector<std::byte> read_external(const proto::TensorProto& tensor, const ExternalData& external)
{
    std::string location;
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> length;
    for (const auto& entry : tensor.external_data()) {
        if (entry.key() == "location") location = entry.value();
        if (entry.key() == "offset") offset = parse_count(tensor, entry.key(), entry.value());
        if (entry.key() == "length") length = parse_count(tensor, entry.key(), entry.value());
    }
    if (!external || location.empty()) malformed(tensor, "its external data has no file");
    return external(location, offset, length);
}

} // namespace

std::string why_not(const proto::TensorProto& tensor)
{
    if (find_element_type(tensor.data_type())) return {};
    return "the library has no tensors of the type " + std::string(element_type_name(tensor.data_type()));
}

std::shared_ptr<const Constant> decode_tensor(const proto::TensorProto& tensor, const ExternalData& external)
{
    const ElementType* type = find_element_type(tensor.data_type());
    if (!type) malformed(tensor, why_not(tensor));
    if (tensor.has_segment()) malformed(tensor, "it is a segment of a larger tensor");
    const std::size_t count = count_elements(tensor, *type);
    std::vector<std::byte> bytes;
    if (tensor.data_location() == proto::TensorProto::EXTERNAL) {
        const std::vector<std::byte> data = read_external(tensor, external);
        bytes = unpack(tensor, *type, count, data.data(), data.size());
    } else if (tensor.has_raw_data()) {
        const std::string& raw = tensor.raw_data();
        bytes = unpack(tensor, *type, count, reinterpret_cast<const std::byte*>(raw.data()), raw.size());
    } else {
        bytes = from_list(tensor, *type, count);
    }
    if (type->held == boolean)
        for (std::byte& b : bytes) b = b == std::byte{0} ? b : std::byte{1};
    return std::make_shared<Constant>(
        *type, std::vector<std::int64_t>(tensor.dims().begin(), tensor.dims().end()), std::move(bytes));
}

} // namespace reprise::onnx
