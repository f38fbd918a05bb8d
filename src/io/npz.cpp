// NumPy's archives: ZIP files of arrays, stored or deflated.
#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <zlib.h>

#include <reprise/io.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/path_text.hpp>
#include <reprise/whole_file.hpp>

#include "io/mapped_file.hpp"
#include "io/npy.hpp"

namespace reprise {

using detail::fail;

namespace {

using Bytes = std::span<const std::byte>;

constexpr const char* loader = "load_npz";
constexpr std::uint32_t end_signature = 0x06054b50, entry_signature = 0x02014b50,
                        local_signature = 0x04034b50;
constexpr std::uint32_t end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
constexpr std::size_t end_size = 22, entry_size = 46, local_size = 30, locator64_size = 20, end64_size = 56;
constexpr std::uint32_t unknown32 = 0xffffffff; // the number is in the extra field of ZIP64
constexpr int stored = 0, deflated = 8;         // methods

std::uint64_t number(Bytes bytes, std::size_t at, std::size_t width)
{
    std::uint64_t value = 0;
    for (std::size_t i = width; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(bytes[at + i]);
    return value;
}

struct Entry {
    std::string name;
    std::uint64_t flags = 0, method = 0, crc = 0, packed = 0, size = 0, offset = 0;
};

// Reads the directory at the end of an archive.
class Archive {
public:
    Archive(Bytes file, std::string name) : file_(file), name_(std::move(name)) {}

    std::vector<Entry> entries() const
    {
        const std::size_t end = find_end();
        std::uint64_t count = number(file_, end + 10, 2), at = number(file_, end + 16, 4);
        if (end >= locator64_size && number(file_, end - locator64_size, 4) == locator64_signature) {
            const std::uint64_t end64 = number(file_, end - locator64_size + 8, 8);
            need(end64, end64_size, "directory");
            if (number(file_, end64, 4) != end64_signature) malformed("its ZIP64 directory has no signature");
            count = number(file_, end64 + 32, 8);
            at = number(file_, end64 + 48, 8);
        }
        std::vector<Entry> list;
        for (std::uint64_t i = 0; i < count; ++i) list.push_back(read_entry(at));
        refuse_overlaps(list);
        return list;
    }

    std::vector<std::byte> content(const Entry& entry) const
    {
        const Bytes packed = file_.subspan(start_of(entry), entry.packed);
        if (entry.flags & 1) malformed("(" + entry.name + ") is encrypted");
        std::vector<std::byte> data;
        if (entry.method == stored) data.assign(packed.begin(), packed.end());
        else if (entry.method == deflated) data = inflated(entry, packed);
        else
            malformed("(" + entry.name + ") is compressed by the method (" + std::to_string(entry.method) +
                      ")");
        if (data.size() != entry.size) malformed("(" + entry.name + ") has not the size that it says");
        if (checksum(data) != entry.crc)
            malformed("(" + entry.name + ") has another checksum: it is damaged");
        return data;
    }

    static std::uint64_t checksum(Bytes data)
    {
        uLong crc = crc32(0, nullptr, 0);
        constexpr std::size_t most = std::numeric_limits<uInt>::max() / 2;
        for (std::size_t at = 0; at < data.size(); at += most)
            crc = crc32(crc, reinterpret_cast<const Bytef*>(data.data() + at),
                        static_cast<uInt>(std::min(most, data.size() - at)));
        return crc;
    }

private:
    [[noreturn]] void malformed(const std::string& why) const
    {
        fail(ErrorKind::file, loader, "The file (", name_, ") is no valid archive of NumPy: ", why, ".");
    }
    void need(std::uint64_t at, std::uint64_t bytes, const std::string& what) const
    {
        if (at > file_.size() || bytes > file_.size() - at)
            malformed("its part (" + what + ") goes beyond its end; it may be truncated");
    }
    // Where the data of an entry begins.
    std::uint64_t start_of(const Entry& entry) const
    {
        need(entry.offset, local_size, entry.name);
        if (number(file_, entry.offset, 4) != local_signature)
            malformed("(" + entry.name + ") has no signature");
        const std::uint64_t start = entry.offset + local_size + number(file_, entry.offset + 26, 2) +
                                    number(file_, entry.offset + 28, 2);
        need(start, entry.packed, entry.name);
        return start;
    }
    // Entries that share data could have any size together, although each has no more than its data can have.
    void refuse_overlaps(const std::vector<Entry>& list) const
    {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges; // begin and end
        for (const Entry& entry : list) ranges.emplace_back(entry.offset, start_of(entry) + entry.packed);
        std::sort(ranges.begin(), ranges.end());
        for (std::size_t i = 1; i < ranges.size(); ++i)
            if (ranges[i].first < ranges[i - 1].second) malformed("two of its entries have the same data");
    }
    std::size_t find_end() const
    {
        constexpr std::size_t longest_comment = 0xffff;
        if (file_.size() < end_size) malformed("it has (" + std::to_string(file_.size()) + ") bytes");
        const std::size_t last = file_.size() - end_size;
        for (std::size_t back = 0; back <= std::min(last, longest_comment); ++back)
            if (number(file_, last - back, 4) == end_signature) return last - back;
        malformed("it has no directory at its end; it may be truncated");
    }
    Entry read_entry(std::uint64_t& at) const
    {
        need(at, entry_size, "directory");
        if (number(file_, at, 4) != entry_signature) malformed("an entry of its directory has no signature");
        const std::uint64_t name_size = number(file_, at + 28, 2), extra = number(file_, at + 30, 2);
        const std::uint64_t comment = number(file_, at + 32, 2);
        need(at + entry_size, name_size + extra + comment, "directory");
        Entry entry;
        entry.flags = number(file_, at + 8, 2);
        entry.method = number(file_, at + 10, 2);
        entry.crc = number(file_, at + 16, 4);
        entry.packed = number(file_, at + 20, 4);
        entry.size = number(file_, at + 24, 4);
        entry.offset = number(file_, at + 42, 4);
        const auto* name = reinterpret_cast<const char*>(file_.data() + at + entry_size);
        entry.name.assign(name, name_size);
        read_large(entry, file_.subspan(at + entry_size + name_size, extra));
        at += entry_size + name_size + extra + comment;
        return entry;
    }
    // Numbers that do not fit 32 bits are in an extra field, in this order.
    void read_large(Entry& entry, Bytes extra) const
    {
        constexpr std::uint64_t zip64 = 1;
        while (extra.size() >= 4) {
            const std::uint64_t size = number(extra, 2, 2);
            if (size > extra.size() - 4) malformed("the extra field of (" + entry.name + ") is too long");
            if (number(extra, 0, 2) == zip64) {
                Bytes field = extra.subspan(4, size);
                for (std::uint64_t* value : {&entry.size, &entry.packed, &entry.offset}) {
                    if (*value != unknown32) continue;
                    if (field.size() < 8) malformed("the sizes of (" + entry.name + ") are missing");
                    *value = number(field, 0, 8);
                    field = field.subspan(8);
                }
            }
            extra = extra.subspan(4 + size);
        }
    }
    std::vector<std::byte> inflated(const Entry& entry, Bytes packed) const
    {
        constexpr std::uint64_t highest_ratio = 1032; // of deflate
        if (entry.size / highest_ratio > packed.size())
            malformed("(" + entry.name + ") can't have the size that it says");
        std::vector<std::byte> data(entry.size);
        z_stream stream{};
        if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
            fail(ErrorKind::out_of_memory, loader, "The host lacks memory to decompress (", entry.name, ").");
        const auto part = [](std::size_t bytes) {
            return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max() / 2));
        };
        std::size_t in = 0, out = 0;
        int status = Z_OK;
        while (status == Z_OK) {
            stream.next_in =
                reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + in)); // zlib reads it only
            stream.avail_in = part(packed.size() - in);
            stream.next_out = reinterpret_cast<Bytef*>(data.data() + out);
            stream.avail_out = part(data.size() - out);
            const uInt had_in = stream.avail_in, had_out = stream.avail_out;
            status = inflate(&stream, Z_NO_FLUSH);
            in += had_in - stream.avail_in;
            out += had_out - stream.avail_out;
            if (status == Z_OK && had_in == stream.avail_in && had_out == stream.avail_out) break;
        }
        inflateEnd(&stream);
        if (status != Z_STREAM_END || out != data.size())
            malformed("(" + entry.name + ") can't be decompressed");
        return data;
    }

    Bytes file_;
    std::string name_;
};

// Writes an archive.
class Writer {
public:
    explicit Writer(const std::filesystem::path& path, bool compressed) : file_(path), compressed_(compressed)
    {}

    void add(const std::string& name, const std::string& header, Bytes data)
    {
        std::vector<std::byte> whole(header.size() + data.size());
        std::copy_n(reinterpret_cast<const std::byte*>(header.data()), header.size(), whole.begin());
        std::copy(data.begin(), data.end(), whole.begin() + static_cast<std::ptrdiff_t>(header.size()));
        const std::vector<std::byte> packed = compressed_ ? pack(whole) : whole;
        std::string fields;
        put(fields, 20, 2);    // the version that is needed
        put(fields, 0x800, 2); // names are UTF-8
        put(fields, compressed_ ? deflated : stored, 2);
        put(fields, 0, 2);
        put(fields, (1 << 5) | 1, 2); // the first date: 1 January 1980
        put(fields, Archive::checksum(whole), 4);
        put(fields, small(packed.size()), 4);
        put(fields, small(whole.size()), 4);
        put(fields, name.size(), 2);
        put(fields, 0, 2);
        std::string local, entry;
        put(local, local_signature, 4);
        put(entry, entry_signature, 4);
        put(entry, 20, 2);
        entry += fields;
        put(entry, 0, 2);
        put(entry, 0, 2);
        put(entry, 0, 2);
        put(entry, 0, 4);
        put(entry, small(offset_), 4);
        directory_ += entry + name;
        ++count_;
        write(local + fields + name);
        file_.write(packed);
        offset_ += packed.size();
    }

    void finish()
    {
        const std::uint64_t start = offset_;
        std::string end;
        put(end, end_signature, 4);
        put(end, 0, 4);
        put(end, count_, 2);
        put(end, count_, 2);
        put(end, small(directory_.size()), 4);
        put(end, small(start), 4);
        put(end, 0, 2);
        write(directory_ + end);
        file_.commit();
    }

private:
    static void put(std::string& to, std::uint64_t value, std::size_t width)
    {
        for (std::size_t i = 0; i < width; ++i) to += static_cast<char>(value >> (8 * i) & 0xff);
    }
    static std::uint64_t small(std::uint64_t value)
    {
        if (value >= unknown32)
            fail(ErrorKind::file, "save_npz", "The archive would have more than 4 GiB (", value,
                 " bytes), which it can't: use save_safetensors().");
        return value;
    }
    void write(const std::string& text)
    {
        file_.write(text);
        offset_ += text.size();
    }
    static std::vector<std::byte> pack(Bytes whole)
    {
        small(whole.size());
        z_stream stream{};
        if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
            Z_OK)
            fail(ErrorKind::out_of_memory, "save_npz", "The host lacks memory to compress (", whole.size(),
                 ") bytes.");
        std::vector<std::byte> out(deflateBound(&stream, static_cast<uLong>(whole.size())));
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(whole.data())); // zlib reads it only
        stream.avail_in = static_cast<uInt>(whole.size());
        stream.next_out = reinterpret_cast<Bytef*>(out.data());
        stream.avail_out =
            static_cast<uInt>(std::min<std::size_t>(out.size(), std::numeric_limits<uInt>::max()));
        deflate(&stream, Z_FINISH);
        out.resize(stream.total_out);
        deflateEnd(&stream);
        return out;
    }

    WholeFile file_;
    bool compressed_;
    std::string directory_;
    std::uint64_t offset_ = 0, count_ = 0;
};

} // namespace

void save_npz(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
              bool compressed)
{
    constexpr std::size_t most = 0xffff; // entries, and bytes of a name
    if (tensors.size() >= most)
        fail(ErrorKind::argument, "save_npz", "There are (", tensors.size(),
             ") tensors, but an archive has 65,534 at most.");
    Writer archive(path, compressed);
    for (const auto& [name, tensor] : tensors) {
        if (!tensor.defined()) fail(ErrorKind::argument, "save_npz", "The tensor (", name, ") is undefined.");
        if (name.size() + 4 > most)
            fail(ErrorKind::argument, "save_npz", "A name has (", name.size(), ") bytes.");
        archive.add(name + ".npy", io::npy_header("save_npz", tensor), to_bytes(tensor));
    }
    archive.finish();
}

namespace {

std::map<std::string, Tensor> read_all(const std::filesystem::path& path, const std::optional<Device>& device)
{
    const io::MappedFile file = io::map_file(loader, path);
    const Archive archive(file.bytes, path_text(path));
    std::map<std::string, Tensor> tensors;
    for (const Entry& entry : archive.entries()) {
        constexpr std::string_view ending = ".npy";
        if (!entry.name.ends_with(ending)) continue;
        const std::string name = entry.name.substr(0, entry.name.size() - ending.size());
        if (tensors.count(name))
            fail(ErrorKind::file, loader, "The file (", path_text(path), ") has the array (", name,
                 ") twice.");
        tensors[name] =
            io::decode_npy(loader, path_text(path) + ": " + entry.name, archive.content(entry), device);
    }
    return tensors;
}

[[noreturn]] void lacks_memory(const std::filesystem::path& path)
{
    fail(ErrorKind::out_of_memory, loader, "The host lacks memory for the file (", path_text(path), ").");
}

} // namespace

std::map<std::string, Tensor> load_npz(const std::filesystem::path& path, const std::optional<Device>& device)
{
    try {
        return read_all(path, device);
    } catch (const std::bad_alloc&) {
        lacks_memory(path);
    } catch (const std::length_error&) { // of containers
        lacks_memory(path);
    }
}

} // namespace reprise
