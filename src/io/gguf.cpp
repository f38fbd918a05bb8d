#include "io/gguf.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include <reprise/error.hpp>

namespace reprise::io {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they stand in the file");

constexpr std::string_view magic = "GGUF";
constexpr std::size_t max_dimensions = 4;       // of the format
constexpr std::uint64_t max_name_bytes = 65535; // of the format, for keys
constexpr int max_list_depth = 4;               // of lists in lists; the format sets no limit
constexpr std::uint64_t max_elements = 1 << 24; // of all lists together: they take 40 bytes each in memory
constexpr std::uint64_t min_value_bytes = 8 + 4 + 1;      // of a key with its value
constexpr std::uint64_t min_tensor_bytes = 8 + 4 + 4 + 8; // of a tensor's entry
constexpr std::int64_t default_alignment = 32;

enum class ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, list, u64, i64, f64 };
constexpr std::uint32_t value_types = 13;
// The fewest bytes of a value of each type, in their order.
constexpr std::array<std::uint64_t, value_types> min_bytes{1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};

struct TensorType {
    std::uint32_t number;
    DType dtype;
};
constexpr std::array<TensorType, 8> dtypes{{{0, DType::f32},
                                            {1, DType::f16},
                                            {24, DType::i8},
                                            {25, DType::i16},
                                            {26, DType::i32},
                                            {27, DType::i64},
                                            {28, DType::f64},
                                            {30, DType::bf16}}};

// Reads numbers and texts one behind the other.
class Reader {
public:
    Reader(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

    template <class... Parts> [[noreturn]] void fail(const Parts&... parts) const
    {
        detail::fail(ErrorKind::file, "ModelFile", "The file (", file_, ") is no valid GGUF file: ", parts...,
                     ".");
    }
    // What is read next, for errors.
    void set_place(std::string place) { place_ = std::move(place); }
    const std::string& place() const { return place_; }

    std::uint64_t position() const { return position_; }
    std::uint64_t left() const { return bytes_.size() - position_; }

    template <class T> T number()
    {
        T value{};
        std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
        return value;
    }
    std::string text(std::uint64_t limit = std::numeric_limits<std::uint64_t>::max())
    {
        const auto length = number<std::uint64_t>();
        if (length > left())
            fail(place_, " has a text of ", length, " bytes where ", left(),
                 " are left; it may be truncated");
        if (length > limit) fail(place_, " has a text of ", length, " bytes, more than ", limit);
        const auto content = take(length);
        return {reinterpret_cast<const char*>(content.data()), content.size()};
    }

private:
    std::span<const std::byte> take(std::uint64_t count)
    {
        if (count > left())
            fail("it ends at byte ", bytes_.size(), ", inside of ", place_, "; it may be truncated");
        const auto out = bytes_.subspan(static_cast<std::size_t>(position_), static_cast<std::size_t>(count));
        position_ += count;
        return out;
    }
    std::span<const std::byte> bytes_;
    const std::string& file_;
    std::uint64_t position_ = 0;
    std::string place_ = "its header";
};

class GgufHeader {
public:
    GgufHeader(std::span<const std::byte> bytes, const std::string& file) : in_(bytes, file), bytes_(bytes) {}

    Contents read()
    {
        check_version();
        const std::uint64_t tensors = count("tensors", min_tensor_bytes);
        const std::uint64_t values = count("metadata values", min_value_bytes);
        for (std::uint64_t i = 0; i < values; ++i) read_metadata(i);
        const std::uint64_t alignment = read_alignment();
        for (std::uint64_t i = 0; i < tensors; ++i) read_tensor(i, alignment);
        place_tensors(alignment);
        return std::move(out_);
    }

private:
    // Where a tensor's bytes are in the data.
    struct Extent {
        std::uint64_t offset, bytes;
        std::map<std::string, StoredTensor>::iterator tensor;
    };

    void check_version()
    {
        for (const char letter : magic)
            if (in_.number<char>() != letter) in_.fail("it does not begin with GGUF");
        const auto version = in_.number<std::uint32_t>();
        if (version != 0 && (version & 0xffff) == 0)
            in_.fail("its numbers are big-endian: convert it with gguf_convert_endian.py of llama.cpp");
        if (version != 2 && version != 3)
            in_.fail("it has the version ", version, ", but only 2 and 3 can be read");
    }

    std::uint64_t count(const char* what, std::uint64_t bytes_of_each)
    {
        const auto count = in_.number<std::uint64_t>();
        if (count > in_.left() / bytes_of_each)
            in_.fail("its header promises ", count, " ", what, ", more than the ", in_.left(),
                     " bytes that follow can hold; it may be truncated");
        return count;
    }

    ValueType value_type()
    {
        const auto type = in_.number<std::uint32_t>();
        if (type >= value_types) in_.fail(in_.place(), " has the unknown type (", type, ")");
        return ValueType{type};
    }

    void read_metadata(std::uint64_t index)
    {
        in_.set_place("the key of its metadata value " + std::to_string(index));
        std::string key = in_.text(max_name_bytes);
        in_.set_place("its metadata value (" + key + ")");
        const auto [at, added] = out_.metadata.emplace(std::move(key), MetadataValue{});
        if (!added) in_.fail(in_.place(), " comes twice");
        at->second = value(value_type(), 0);
    }

    template <class T> MetadataValue integer() { return {static_cast<std::int64_t>(in_.number<T>())}; }

    MetadataValue value(ValueType type, int depth)
    {
        switch (type) {
        case ValueType::u8: return integer<std::uint8_t>();
        case ValueType::i8: return integer<std::int8_t>();
        case ValueType::u16: return integer<std::uint16_t>();
        case ValueType::i16: return integer<std::int16_t>();
        case ValueType::u32: return integer<std::uint32_t>();
        case ValueType::i32: return integer<std::int32_t>();
        case ValueType::i64: return integer<std::int64_t>();
        case ValueType::u64: {
            const auto n = in_.number<std::uint64_t>();
            if (std::in_range<std::int64_t>(n)) return {static_cast<std::int64_t>(n)};
            return {n};
        }
        case ValueType::f32: return {static_cast<double>(in_.number<float>())};
        case ValueType::f64: return {in_.number<double>()};
        case ValueType::boolean: {
            const auto byte = in_.number<std::uint8_t>();
            if (byte > 1) in_.fail(in_.place(), " has a bool of (", int{byte}, "), which is neither 0 nor 1");
            return {byte == 1};
        }
        case ValueType::text: return {in_.text()};
        case ValueType::list: return list(depth);
        }
        in_.fail(in_.place(), " has an unknown type"); // unreachable: value_type() checks it
    }

    MetadataValue list(int depth)
    {
        if (depth == max_list_depth)
            in_.fail(in_.place(), " has lists in more than ", max_list_depth, " levels");
        const ValueType type = value_type();
        const auto count = in_.number<std::uint64_t>();
        if (count > in_.left() / min_bytes[static_cast<std::size_t>(type)])
            in_.fail(in_.place(), " has a list of ", count, " elements, more than the ", in_.left(),
                     " bytes that follow can hold; it may be truncated");
        elements_ += count;
        if (elements_ > max_elements)
            in_.fail("the lists of its metadata have more than ", max_elements, " elements, up to ",
                     in_.place());
        std::vector<MetadataValue> out;
        for (std::uint64_t i = 0; i < count; ++i) out.push_back(value(type, depth + 1));
        return {std::move(out)};
    }

    std::uint64_t read_alignment() const
    {
        const auto found = out_.metadata.find("general.alignment");
        if (found == out_.metadata.end()) return default_alignment;
        const auto* alignment = std::get_if<std::int64_t>(&found->second.value);
        if (!alignment) in_.fail("its metadata value (general.alignment) is no integer");
        if (*alignment <= 0 || *alignment > std::int64_t{1} << 31 ||
            !std::has_single_bit(static_cast<std::uint64_t>(*alignment)))
            in_.fail("its metadata value (general.alignment) is ", *alignment,
                     ", which is no power of two up to 2^31");
        return static_cast<std::uint64_t>(*alignment);
    }

    StoredType tensor_type()
    {
        const auto number = in_.number<std::uint32_t>();
        const auto found = std::find_if(dtypes.begin(), dtypes.end(),
                                        [&](const TensorType& t) { return t.number == number; });
        if (found != dtypes.end()) return found->dtype;
        if (const auto blocks = block_type_of(number)) return *blocks;
        in_.fail(in_.place(), " has the type (", number, "), which is not known here");
    }

    void read_tensor(std::uint64_t index, std::uint64_t alignment)
    {
        in_.set_place("the name of its tensor " + std::to_string(index));
        std::string name = in_.text(max_name_bytes);
        in_.set_place("its tensor (" + name + ")");
        const auto dimensions = in_.number<std::uint32_t>();
        if (dimensions > max_dimensions)
            in_.fail(in_.place(), " has ", dimensions, " dimensions, more than ", max_dimensions);
        std::vector<std::int64_t> sizes(dimensions);
        for (std::size_t i = dimensions; i-- > 0;) {
            const auto size = in_.number<std::uint64_t>();
            if (!std::in_range<std::int64_t>(size))
                in_.fail(in_.place(), " has a size (", size, ") above 2^63 - 1");
            sizes[i] = static_cast<std::int64_t>(size);
        }
        const StoredType type = tensor_type();
        const auto offset = in_.number<std::uint64_t>();
        if (offset % alignment != 0)
            in_.fail(in_.place(), " has the offset ", offset, ", which is no multiple of the alignment ",
                     alignment);
        const std::uint64_t bytes = bytes_of(type, sizes);
        const auto [at, added] =
            out_.tensors.emplace(std::move(name), StoredTensor{.shape = sizes, .type = type});
        if (!added) in_.fail(in_.place(), " comes twice");
        extents_.push_back({offset, bytes, at});
    }

    std::uint64_t bytes_of(const StoredType& type, std::vector<std::int64_t> sizes) const
    {
        std::uint64_t unit = 0;
        if (const auto* blocks = std::get_if<BlockType>(&type)) {
            const std::int64_t row = sizes.empty() ? 1 : sizes.back(), block = elements_per_block(*blocks);
            if (row % block != 0)
                in_.fail(in_.place(), " has rows of ", row, " elements, which are no whole blocks of ",
                         name_of(*blocks), " with ", block);
            sizes.back() /= block;
            unit = static_cast<std::uint64_t>(bytes_per_block(*blocks));
        } else {
            unit = size_of(std::get<DType>(type));
        }
        const auto bytes = byte_count(sizes, unit);
        if (!bytes) in_.fail(in_.place(), " has more than 2^63 - 1 bytes");
        return *bytes;
    }

    void place_tensors(std::uint64_t alignment)
    {
        const std::uint64_t start = (in_.position() + alignment - 1) / alignment * alignment;
        const auto data =
            bytes_.subspan(static_cast<std::size_t>(std::min<std::uint64_t>(start, bytes_.size())));
        std::stable_sort(extents_.begin(), extents_.end(),
                         [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
        const Extent* before = nullptr; // the last one that is not empty
        for (const Extent& extent : extents_) {
            const std::string& name = extent.tensor->first;
            if (extent.offset > data.size() || extent.bytes > data.size() - extent.offset)
                in_.fail("its tensor (", name, ") of ", extent.bytes, " bytes at the offset ", extent.offset,
                         " does not lie in its ", data.size(), " bytes of data; it may be truncated");
            extent.tensor->second.bytes =
                data.subspan(static_cast<std::size_t>(extent.offset), static_cast<std::size_t>(extent.bytes));
            if (extent.bytes == 0) continue;
            if (before && extent.offset < before->offset + before->bytes)
                in_.fail("its tensors (", before->tensor->first, "), which ends at the offset ",
                         before->offset + before->bytes, ", and (", name, "), which begins at ",
                         extent.offset, ", overlap");
            before = &extent;
        }
    }

    Reader in_;
    std::span<const std::byte> bytes_;
    Contents out_;
    std::vector<Extent> extents_;
    std::uint64_t elements_ = 0; // of lists so far
};

} // namespace

bool is_gguf(std::span<const std::byte> file) noexcept
{
    return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

Contents read_gguf(std::span<const std::byte> bytes, const std::string& file)
{
    return GgufHeader(bytes, file).read();
}

} // namespace reprise::io
