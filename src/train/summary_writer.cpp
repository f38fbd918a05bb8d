#include <reprise/train/summary_writer.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <span>
#include <system_error>
#include <type_traits>

#include <boost/crc.hpp>

#include <reprise/device.hpp>
#include <reprise/dtype.hpp>
#include <reprise/error.hpp>
#include <reprise/path_text.hpp>
#include <reprise/train/image.hpp>

#if defined(_WIN32)
#include <process.h>
#include <windows.h>
#else
#include <unistd.h>
#endif

namespace reprise::train {

using detail::fail;

namespace {

constexpr const char* op = "SummaryWriter";

template <class T> std::string little_endian(T value)
{
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    const auto bits = std::bit_cast<Bits>(value);
    std::string out;
    for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(bits >> (8 * i) & 0xff);
    return out;
}

// ---- protocol buffers ----

// A message of the wire format (https://protobuf.dev/programming-guides/encoding): the fields of event.proto and
// summary.proto are numbers, texts and messages.
class Message {
public:
    Message& integer(std::uint32_t field, std::int64_t value)
    {
        key(field, 0);
        varint(static_cast<std::uint64_t>(value));
        return *this;
    }
    Message& number(std::uint32_t field, double value)
    {
        key(field, 1);
        bytes_ += little_endian(value);
        return *this;
    }
    Message& number(std::uint32_t field, float value)
    {
        key(field, 5);
        bytes_ += little_endian(value);
        return *this;
    }
    Message& text(std::uint32_t field, const std::string& value)
    {
        key(field, 2);
        varint(value.size());
        bytes_ += value;
        return *this;
    }
    Message& message(std::uint32_t field, const Message& value) { return text(field, value.bytes_); }
    Message& numbers(std::uint32_t field, std::span<const double> values)
    {
        std::string packed;
        for (const double v : values) packed += little_endian(v);
        return text(field, packed);
    }
    const std::string& bytes() const { return bytes_; }

private:
    void key(std::uint32_t field, std::uint32_t wire_type) { varint(field << 3 | wire_type); }
    void varint(std::uint64_t value)
    {
        for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
    }
    std::string bytes_;
};

// The numbers of the fields.
namespace event {
constexpr std::uint32_t wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7;
} // namespace event
namespace session_log {
constexpr std::uint32_t status = 1;
constexpr std::int64_t start = 1;
} // namespace session_log
namespace summary {
constexpr std::uint32_t value = 1;
} // namespace summary
namespace value {
constexpr std::uint32_t tag = 1, simple_value = 2, image = 4, histogram = 5, tensor = 8, metadata = 9;
} // namespace value
namespace image {
constexpr std::uint32_t height = 1, width = 2, colorspace = 3, encoded = 4;
} // namespace image
namespace histogram {
constexpr std::uint32_t min = 1, max = 2, count = 3, sum = 4, sum_of_squares = 5, limits = 6, buckets = 7;
} // namespace histogram
namespace metadata {
constexpr std::uint32_t plugin_data = 1, plugin_name = 1;
} // namespace metadata
namespace tensor {
constexpr std::uint32_t dtype = 1, shape = 2, dim = 2, size = 1, strings = 8;
constexpr std::int64_t of_strings = 7;
} // namespace tensor

// ---- tfrecord ----

// CRC-32C (Castagnoli), rotated and shifted by a constant, so that a checksum may be part of checked data.
std::string masked_crc(const std::string& data)
{
    boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
    crc.process_bytes(data.data(), data.size());
    return little_endian(std::rotr(static_cast<std::uint32_t>(crc.checksum()), 15) + 0xa282ead8u);
}

std::string record_of(const std::string& data)
{
    const std::string length = little_endian(static_cast<std::uint64_t>(data.size()));
    return length + masked_crc(length) + data + masked_crc(data);
}

double wall_time()
{
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name()
{
#if defined(_WIN32)
    wchar_t name[MAX_COMPUTERNAME_LENGTH + 1] = {};
    DWORD size = MAX_COMPUTERNAME_LENGTH + 1;
    if (GetComputerNameW(name, &size) != 0) return path_text(name);
#else
    char name[256] = {};
    if (gethostname(name, sizeof name - 1) == 0 && name[0] != '\0') return name;
#endif
    return "localhost";
}

std::string file_name(const std::string& suffix)
{
    static std::atomic<unsigned> next{0};
#if defined(_WIN32)
    const int process = _getpid();
#else
    const int process = getpid();
#endif
    return "events.out.tfevents." + std::to_string(static_cast<std::int64_t>(wall_time())) + "." +
           host_name() + "." + std::to_string(process) + "." + std::to_string(next++) + suffix;
}

// ---- histograms ----

// Returns the ascending upper limits of the buckets: powers of 1.1 from 1e-12 to 1e20 with both signs, 0, and the
// largest double.
const std::vector<double>& bucket_limits()
{
    static const std::vector<double> all = [] {
        std::vector<double> positive;
        for (double v = 1e-12; v < 1e20; v *= 1.1) positive.push_back(v);
        std::vector<double> out{std::numeric_limits<double>::lowest()};
        for (std::size_t i = positive.size(); i-- > 0;) out.push_back(-positive[i]);
        out.push_back(0);
        out.insert(out.end(), positive.begin(), positive.end());
        out.push_back(std::numeric_limits<double>::max());
        return out;
    }();
    return all;
}

Message histogram_of(const std::vector<double>& values)
{
    const std::vector<double>& limits = bucket_limits();
    std::vector<double> counts(limits.size(), 0);
    double least = std::numeric_limits<double>::infinity(), largest = -least, sum = 0, squares = 0, count = 0;
    for (const double v : values) {
        if (!std::isfinite(v)) continue;
        // A bucket has the values from the limit before its own up to below its own.
        const auto at = std::upper_bound(limits.begin(), limits.end() - 1, v);
        ++counts[static_cast<std::size_t>(at - limits.begin())];
        least = std::min(least, v);
        largest = std::max(largest, v);
        sum += v;
        squares += v * v;
        ++count;
    }
    if (count == 0) fail(ErrorKind::argument, op, "None of the (", values.size(), ") values is finite.");
    // The buckets from the one before the first that has values, which gives its lower limit.
    const auto is_full = [](double n) { return n > 0; };
    std::ptrdiff_t first = std::find_if(counts.begin(), counts.end(), is_full) - counts.begin();
    const std::ptrdiff_t end = std::find_if(counts.rbegin(), counts.rend(), is_full).base() - counts.begin();
    first = std::max<std::ptrdiff_t>(first - 1, 0);
    Message out;
    out.number(histogram::min, least).number(histogram::max, largest).number(histogram::count, count);
    out.number(histogram::sum, sum).number(histogram::sum_of_squares, squares);
    const auto part = [&](const std::vector<double>& all) {
        return std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
    };
    return out.numbers(histogram::limits, part(limits)).numbers(histogram::buckets, part(counts));
}

} // namespace

struct SummaryWriter::Impl {
    std::filesystem::path path;
    std::ofstream file;

    void write(const Message& event)
    {
        const std::string record = record_of(event.bytes());
        file.write(record.data(), static_cast<std::streamsize>(record.size()));
        file.flush();
        if (!file) fail(ErrorKind::file, op, "The file (", path_text(path), ") can't be written.");
    }
    // Writes an event with a value, whose other fields are set.
    void write(const std::string& tag, Message content, std::int64_t step)
    {
        if (tag.empty()) fail(ErrorKind::argument, op, "The tag must not be empty.");
        Message all;
        all.message(summary::value, content.text(value::tag, tag));
        write(Message()
                  .number(event::wall_time, wall_time())
                  .integer(event::step, step)
                  .message(event::summary, all));
    }
};

SummaryWriter::SummaryWriter(const std::filesystem::path& folder, const Options& options)
    : impl_(std::make_unique<Impl>())
{
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    impl_->path = folder / path_of_text(file_name(options.filename_suffix));
    impl_->file.open(impl_->path, std::ios::binary);
    if (!impl_->file)
        fail(ErrorKind::file, op, "The file (", path_text(impl_->path), ") can't be created",
             error ? ": " + error.message() : std::string(), ".");
    const auto begin = [&] {
        Message out;
        out.number(event::wall_time, wall_time());
        if (options.purge_step) out.integer(event::step, *options.purge_step);
        return out;
    };
    impl_->write(begin().text(event::file_version, "brain.Event:2"));
    if (options.purge_step)
        impl_->write(
            begin().message(event::session_log, Message().integer(session_log::status, session_log::start)));
}
SummaryWriter::~SummaryWriter() = default;
SummaryWriter::SummaryWriter(SummaryWriter&&) noexcept = default;
SummaryWriter& SummaryWriter::operator=(SummaryWriter&&) noexcept = default;

const std::filesystem::path& SummaryWriter::path() const { return impl_->path; }

void SummaryWriter::add_scalar(const std::string& tag, double number, std::int64_t step)
{
    impl_->write(tag, Message().number(value::simple_value, static_cast<float>(number)), step);
}
void SummaryWriter::add_scalar(const std::string& tag, const Tensor& number, std::int64_t step)
{
    add_scalar(tag, number.item<double>(), step);
}

void SummaryWriter::add_histogram(const std::string& tag, const std::vector<double>& values,
                                  std::int64_t step)
{
    impl_->write(tag, Message().message(value::histogram, histogram_of(values)), step);
}
void SummaryWriter::add_histogram(const std::string& tag, const Tensor& values, std::int64_t step)
{
    add_histogram(tag, values.detach().to(Device("reference")).to(f64).to_vector<double>(), step);
}

void SummaryWriter::add_image(const std::string& tag, const Tensor& picture, std::int64_t step)
{
    const std::string png = to_png(picture);
    // PNG's header has width, height and the color type as big-endian numbers and a byte from byte 16 on.
    const auto big_endian = [&](std::size_t at) {
        std::int64_t n = 0;
        for (std::size_t i = at; i < at + 4; ++i) n = n << 8 | static_cast<unsigned char>(png[i]);
        return n;
    };
    const std::int64_t channels = png[25] == 0 ? 1 : png[25] == 2 ? 3 : 4;
    Message content;
    content.integer(image::height, big_endian(20)).integer(image::width, big_endian(16));
    content.integer(image::colorspace, channels).text(image::encoded, png);
    impl_->write(tag, Message().message(value::image, content), step);
}

void SummaryWriter::add_text(const std::string& tag, const std::string& text, std::int64_t step)
{
    Message plugin, content, one;
    plugin.message(metadata::plugin_data, Message().text(metadata::plugin_name, "text"));
    one.message(tensor::dim, Message().integer(tensor::size, 1));
    content.integer(tensor::dtype, tensor::of_strings)
        .message(tensor::shape, one)
        .text(tensor::strings, text);
    impl_->write(tag, Message().message(value::metadata, plugin).message(value::tensor, content), step);
}

} // namespace reprise::train
