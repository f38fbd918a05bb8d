#include "io/npy.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <reprise/io.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/path_text.hpp>
#include <reprise/whole_file.hpp>

#include "io/mapped_file.hpp"
#include "io/model.hpp"

namespace reprise {

using detail::fail;

namespace io {
namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";
constexpr std::size_t npy_alignment = 64; // of the elements in a file

struct NpyType {
    DType dtype;
    const char* code; // NumPy's, without the byte order
};
constexpr std::array<NpyType, 9> npy_types{{{DType::f32, "f4"},
                                            {DType::f64, "f8"},
                                            {DType::f16, "f2"},
                                            {DType::i64, "i8"},
                                            {DType::i32, "i4"},
                                            {DType::i16, "i2"},
                                            {DType::i8, "i1"},
                                            {DType::u8, "u1"},
                                            {DType::boolean, "b1"}}};

struct NpyHeader {
    std::string descr; // "<f4"
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
};

// Reads the dictionary of the header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class NpyParser {
public:
    NpyParser(const char* op, const std::string& name, std::string_view text)
        : op_(op), name_(name), rest_(text)
    {}

    NpyHeader parse()
    {
        NpyHeader header;
        bool descr = false, order = false, shape = false;
        take('{');
        while (!accept('}')) {
            const std::string key = text();
            take(':');
            if (key == "descr" && !descr) descr = true, header.descr = text();
            else if (key == "fortran_order" && !order) order = true, header.fortran_order = truth();
            else if (key == "shape" && !shape) shape = true, header.shape = sizes();
            else malformed("the key (" + key + ")");
            if (accept('}')) break;
            take(',');
        }
        if (!descr || !order || !shape) malformed("not all of descr, fortran_order and shape");
        skip_space();
        if (!rest_.empty()) malformed("text after its dictionary");
        return header;
    }

private:
    [[noreturn]] void malformed(const std::string& what) const
    {
        fail(ErrorKind::file, op_, "The file (", name_, ") is no valid array of NumPy: its header has ", what,
             ".");
    }
    void skip_space()
    {
        const std::size_t at = rest_.find_first_not_of(" \n\t");
        rest_.remove_prefix(std::min(at, rest_.size()));
    }
    bool accept(char c)
    {
        skip_space();
        if (rest_.empty() || rest_[0] != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void take(char c)
    {
        if (!accept(c)) malformed(std::string("no (") + c + ") where one is expected");
    }
    std::string text()
    {
        skip_space();
        const char quote = rest_.empty() ? '\0' : rest_[0];
        if (quote == '[') // a structured array
            fail(ErrorKind::dtype, op_, "The array (", name_,
                 ") has records for elements: save each field as an array.");
        if (quote != '\'' && quote != '"') malformed("no text where one is expected");
        const std::size_t end = rest_.find(quote, 1);
        if (end == rest_.npos) malformed("a text without an end");
        const std::string found(rest_.substr(1, end - 1));
        rest_.remove_prefix(end + 1);
        return found;
    }
    bool truth()
    {
        skip_space();
        for (const bool value : {true, false}) {
            const std::string_view word = value ? "True" : "False";
            if (!rest_.starts_with(word)) continue;
            rest_.remove_prefix(word.size());
            return value;
        }
        malformed("no truth value where one is expected");
    }
    std::int64_t number()
    {
        skip_space();
        std::int64_t value = 0;
        std::size_t digits = 0;
        while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') {
            if (digits == 18) malformed("a size above 10^18");
            value = 10 * value + (rest_[digits++] - '0');
        }
        if (digits == 0) malformed("no size where one is expected");
        rest_.remove_prefix(digits);
        if (!rest_.empty() && rest_[0] == 'L') rest_.remove_prefix(1); // written by Python 2
        return value;
    }
    std::vector<std::int64_t> sizes()
    {
        std::vector<std::int64_t> list;
        take('(');
        while (!accept(')')) {
            list.push_back(number());
            if (accept(')')) break;
            take(',');
        }
        return list;
    }

    const char* op_;
    const std::string& name_;
    std::string_view rest_;
};

DType dtype_of(const char* op, const std::string& name, const std::string& descr)
{
    const std::string code = descr.empty() ? "" : descr.substr(1);
    const bool order = !descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos;
    for (const NpyType& type : npy_types)
        if (order && code == type.code) return type.dtype;
    fail(ErrorKind::dtype, op, "The array (", name, ") has elements of the type (", descr,
         "), which the library does not have: convert it in NumPy by astype().");
}

void swap_bytes(std::vector<std::byte>& bytes, std::size_t width)
{
    for (std::size_t at = 0; at + width <= bytes.size(); at += width)
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
}

std::uint64_t little_endian(std::span<const std::byte> bytes)
{
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
    return value;
}

} // namespace

Tensor decode_npy(const char* op, const std::string& name, std::span<const std::byte> file,
                  const std::optional<Device>& device)
{
    const std::string_view all(reinterpret_cast<const char*>(file.data()), file.size());
    constexpr std::size_t before_length = npy_magic.size() + 2; // the version
    if (file.size() < before_length + 4 || !all.starts_with(npy_magic))
        fail(ErrorKind::file, op, "The file (", name, ") is no array of NumPy: it does not begin as one.");
    const int version = std::to_integer<int>(file[npy_magic.size()]);
    if (version < 1 || version > 3)
        fail(ErrorKind::file, op, "The file (", name, ") has the version (", version,
             ") of NumPy's format, not 1 to 3.");
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    const std::uint64_t length = little_endian(file.subspan(before_length, length_bytes));
    const std::size_t start = before_length + length_bytes;
    if (length > file.size() - start)
        fail(ErrorKind::file, op, "The header of the file (", name, ") has (", length,
             ") bytes, which go beyond its end: it may be truncated.");
    const std::string_view text = all.substr(start, static_cast<std::size_t>(length));
    const NpyHeader header = NpyParser(op, name, text).parse();
    const DType dtype = dtype_of(op, name, header.descr);
    const std::span<const std::byte> data = file.subspan(start + static_cast<std::size_t>(length));
    const auto bytes = byte_count(header.shape, size_of(dtype));
    if (!bytes || *bytes != data.size())
        fail(ErrorKind::file, op, "The array (", name, ") of the shape ", to_string(Shape(header.shape)),
             " has (", data.size(), ") bytes of elements, which is not their number: it may be truncated.");
    std::vector<std::byte> elements(data.begin(), data.end());
    if (header.descr[0] == '>') swap_bytes(elements, size_of(dtype));
    if (dtype == boolean)
        for (std::byte& b : elements) b = b == std::byte{0} ? b : std::byte{1};
    const CreationOptions options{.dtype = dtype, .device = device};
    if (!header.fortran_order || header.shape.size() < 2)
        return from_bytes(elements, Shape(header.shape), options);
    // In Fortran's order the first dimension runs fastest.
    std::vector<std::int64_t> reversed(header.shape.rbegin(), header.shape.rend()), order;
    for (std::size_t i = reversed.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    return contiguous(permute(from_bytes(elements, Shape(reversed), options), order));
}

std::string npy_header(const char* op, const Tensor& tensor)
{
    const auto type = std::find_if(npy_types.begin(), npy_types.end(),
                                   [&](const NpyType& t) { return t.dtype == tensor.dtype(); });
    if (type == npy_types.end())
        fail(ErrorKind::dtype, op, "NumPy has no elements of the dtype (", tensor.dtype(),
             "): convert it by to(f32).");
    std::string text = "{'descr': '";
    text += size_of(type->dtype) == 1 ? '|' : '<';
    text += type->code;
    text += "', 'fortran_order': False, 'shape': (";
    for (const Dim& size : tensor.shape()) text += std::to_string(size.value()) + ", ";
    if (tensor.dim() > 1) text.resize(text.size() - 2);
    if (tensor.dim() == 1) text.pop_back();
    text += "), }";
    const std::size_t before = npy_magic.size() + 4;
    text.append(npy_alignment - 1 - (before + text.size()) % npy_alignment, ' ');
    text += '\n';
    std::string header(npy_magic);
    header += '\1';
    header += '\0';
    header += static_cast<char>(text.size() & 0xff);
    header += static_cast<char>(text.size() >> 8);
    return header + text;
}

} // namespace io

void save_npy(const std::filesystem::path& path, const Tensor& tensor)
{
    if (!tensor.defined()) fail(ErrorKind::argument, "save_npy", "The tensor is undefined.");
    WholeFile file(path);
    file.write(io::npy_header("save_npy", tensor));
    file.write(to_bytes(tensor));
    file.commit();
}

Tensor load_npy(const std::filesystem::path& path, const std::optional<Device>& device)
{
    const io::MappedFile file = io::map_file("load_npy", path);
    return io::decode_npy("load_npy", path_text(path), file.bytes, device);
}

} // namespace reprise
