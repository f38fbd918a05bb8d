// A libnccl.so.2 without a GPU: its collectives are work of the emulated driver.  Ranks are threads or processes of one
// machine, which write what they send to files in a folder that the id names.  A collective computes once all have.
// Sums are in the order of ranks.  Communicators are nonblocking: a call is in progress for a while, the initialisation
// and the first collective until all ranks have made them, and meanwhile no other may be made.  Sizes that differ, or a
// failure of "emulated_nccl_end", leave a collective without an end.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

extern "C" int reprise_emulated_cuda_refusal(const char* function);
extern "C" void reprise_emulated_cuda_between_works(const std::function<void()>&);
extern "C" void reprise_emulated_cuda_break();
extern "C" void reprise_emulated_cuda_send_when(void* stream, std::function<bool()> is_ready,
                                                std::function<void()> work);

#define RP_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<char>;

enum Result { success = 0, system_error = 2, invalid_usage = 5, in_progress = 7 };

struct Id {
    char bytes[128];
};

struct Communicator {
    fs::path folder;
    int rank = 0, size = 0;
    std::uint64_t sent = 0; // collectives
    std::atomic<bool> is_aborted = false;
    // The last call is in progress until its state was asked for twice, and all ranks have made it.
    int polls = 0;
    std::string waits_for;

    // Tells the other ranks.
    void tell(const std::string& what) const { std::ofstream(folder / (what + "." + std::to_string(rank))); }
    bool all_told(const std::string& what) const
    {
        for (int k = 0; k < size; ++k)
            if (!fs::exists(folder / (what + "." + std::to_string(k)))) return false;
        return true;
    }
    bool is_in_progress()
    {
        if (!waits_for.empty() && !all_told(waits_for)) return true;
        waits_for.clear();
        return polls > 0 && polls-- > 0;
    }
    // Begins a call; false: another one is in progress.
    bool enter()
    {
        if (polls > 0 || !waits_for.empty()) return false;
        polls = 2;
        return true;
    }

    fs::path file(std::uint64_t collective, int from) const
    {
        return folder / (std::to_string(collective) + "." + std::to_string(from));
    }
    Bytes read(std::uint64_t collective, int from) const
    {
        std::ifstream in(file(collective, from), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void write(std::uint64_t collective, const Bytes& bytes) const
    {
        const fs::path part = file(collective, rank).string() + ".part";
        std::ofstream(part, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        fs::rename(part, file(collective, rank));
    }
    // Whether all ranks have written, unless sizes may differ the same number of bytes.
    bool have_all_written(std::uint64_t collective, bool sizes_may_differ, std::size_t own_bytes) const
    {
        for (int k = 0; k < size; ++k) {
            std::error_code missing;
            const auto bytes = fs::file_size(file(collective, k), missing);
            if (missing || (!sizes_may_differ && bytes != own_bytes)) return false;
        }
        return true;
    }
};

// Adds a collective: what this rank writes, and what it does once all have written.
void add(const std::shared_ptr<Communicator>& c, void* stream, bool sizes_may_differ,
         std::function<Bytes()> own, std::function<void(std::uint64_t)> then)
{
    const std::uint64_t number = c->sent++;
    if (number == 0) c->tell(c->waits_for = "connected");
    const bool never_ends = reprise_emulated_cuda_refusal("emulated_nccl_end") != 0;
    auto written = std::make_shared<std::optional<Bytes>>();
    const auto is_ready = [=] {
        if (c->is_aborted) return true;
        if (never_ends) return false;
        if (!*written) c->write(number, written->emplace(own()));
        return c->have_all_written(number, sizes_may_differ, (*written)->size());
    };
    reprise_emulated_cuda_send_when(stream, is_ready, [=] {
        if (c->is_aborted) return;
        if (own() != **written) reprise_emulated_cuda_break(); // it was overwritten meanwhile
        then(number);
        // All ranks have written this one, so they have read the one before.
        if (number > 0) fs::remove(c->file(number - 1, c->rank));
    });
}

Bytes bytes_at(const void* from, std::size_t n)
{
    const char* p = static_cast<const char*>(from);
    return {p, p + n};
}

float widened(std::uint16_t half) // f16
{
    const auto sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
    const std::uint32_t exponent = half >> 10 & 31u, mantissa = half & 1023u;
    float magnitude = 0;
    if (exponent == 0) magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    else {
        const std::uint32_t bits =
            exponent == 31 ? 0x7F800000u | mantissa << 13 : (exponent + 112) << 23 | mantissa << 13;
        std::memcpy(&magnitude, &bits, 4);
    }
    return sign ? -magnitude : magnitude;
}

template <class T> T reduced(int op, T a, T b)
{
    switch (op) {
    case 1: return static_cast<T>(a * b);
    case 2: return std::max(a, b);
    case 3: return std::min(a, b);
    default: return static_cast<T>(a + b);
    }
}

template <class T>
void reduce(int op, const std::vector<Bytes>& parts, std::size_t begin, char* to, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) {
        T sum{}, next{};
        std::memcpy(&sum, parts[0].data() + (begin + i) * sizeof(T), sizeof(T));
        for (std::size_t k = 1; k < parts.size(); ++k) {
            std::memcpy(&next, parts[k].data() + (begin + i) * sizeof(T), sizeof(T));
            sum = reduced(op, sum, next);
        }
        std::memcpy(to + i * sizeof(T), &sum, sizeof(T));
    }
}

// Numbers of 16 bits, as sums of floats.
template <class Widen, class Narrow> void reduce_halves(int op, const std::vector<Bytes>& parts,
                                                        std::size_t begin, char* to, std::size_t count,
                                                        const Widen& widen, const Narrow& narrow)
{
    for (std::size_t i = 0; i < count; ++i) {
        float sum = 0;
        for (std::size_t k = 0; k < parts.size(); ++k) {
            std::uint16_t bits = 0;
            std::memcpy(&bits, parts[k].data() + (begin + i) * 2, 2);
            sum = k == 0 ? widen(bits) : reduced(op, sum, widen(bits));
        }
        const std::uint16_t bits = narrow(sum);
        std::memcpy(to + i * 2, &bits, 2);
    }
}

std::size_t size_of(int type)
{
    constexpr std::size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return sizes[type];
}

void reduce(int type, int op, const std::vector<Bytes>& parts, std::size_t begin, char* to, std::size_t count)
{
    switch (type) {
    case 0: return reduce<std::int8_t>(op, parts, begin, to, count);
    case 1: return reduce<std::uint8_t>(op, parts, begin, to, count);
    case 2: return reduce<std::int32_t>(op, parts, begin, to, count);
    case 4: return reduce<std::int64_t>(op, parts, begin, to, count);
    case 6:
        return reduce_halves(op, parts, begin, to, count, widened, [](float v) {
            const auto half = static_cast<_Float16>(v);
            std::uint16_t bits = 0;
            std::memcpy(&bits, &half, 2);
            return bits;
        });
    case 7: return reduce<float>(op, parts, begin, to, count);
    case 8: return reduce<double>(op, parts, begin, to, count);
    case 9:
        return reduce_halves(
            op, parts, begin, to, count,
            [](std::uint16_t bits) {
                const std::uint32_t wide = std::uint32_t{bits} << 16;
                float v = 0;
                std::memcpy(&v, &wide, 4);
                return v;
            },
            [](float v) {
                std::uint32_t bits = 0;
                std::memcpy(&bits, &v, 4);
                return static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
            });
    }
}

std::vector<Bytes> all(const Communicator& c, std::uint64_t number)
{
    std::vector<Bytes> parts;
    for (int k = 0; k < c.size; ++k) parts.push_back(c.read(number, k));
    return parts;
}

using Handle = std::shared_ptr<Communicator>*;

// A group of sends and receives is one collective: a rank writes all that it sends, with sizes, by receiver.
struct Transfer {
    int peer;
    const char* send;
    char* receive;
    std::size_t bytes;
};
thread_local int groups = 0;
thread_local std::vector<Transfer> transfers;
thread_local Handle transferring = nullptr;
thread_local void* stream_of_transfers = nullptr;

void add_transfers(const std::shared_ptr<Communicator>& c, void* stream, const std::vector<Transfer>& list)
{
    add(
        c, stream, true,
        [=] {
            Bytes out;
            for (int to = 0; to < c->size; ++to) {
                std::uint64_t n = 0;
                const char* from = nullptr;
                for (const Transfer& t : list)
                    if (t.send && t.peer == to) n = t.bytes, from = t.send;
                const Bytes head = bytes_at(&n, sizeof n);
                out.insert(out.end(), head.begin(), head.end());
                if (from) out.insert(out.end(), from, from + n);
            }
            return out;
        },
        [=](std::uint64_t number) {
            for (const Transfer& t : list) {
                if (!t.receive) continue;
                const Bytes in = c->read(number, t.peer);
                std::size_t at = 0;
                for (int to = 0;; ++to) {
                    std::uint64_t n = 0;
                    std::memcpy(&n, in.data() + at, sizeof n);
                    at += sizeof n;
                    if (to == c->rank) {
                        std::memcpy(t.receive, in.data() + at, std::min<std::size_t>(n, t.bytes));
                        break;
                    }
                    at += n;
                }
            }
        });
}

} // namespace

#define RP_ENTER                                                                                             \
    if (reprise_emulated_cuda_refusal(__func__) != 0) return system_error;
#define RP_ENTER_WITH(communicator)                                                                          \
    RP_ENTER                                                                                                 \
    if (!(*(communicator))->enter()) return invalid_usage;

RP_EXPORT int ncclGetUniqueId(Id* id)
{
    RP_ENTER
    std::string folder = (fs::temp_directory_path() / "emulated-nccl-XXXXXX").string();
    if (folder.size() >= sizeof id->bytes || !mkdtemp(folder.data())) return system_error;
    std::memset(id->bytes, 0, sizeof id->bytes);
    std::memcpy(id->bytes, folder.data(), folder.size());
    return success;
}

RP_EXPORT int ncclGetVersion(int* version)
{
    *version = 21405;
    return success;
}

struct Config {
    std::size_t size;
    unsigned magic, version;
    int blocking;
};
RP_EXPORT int ncclCommInitRankConfig(Handle* communicator, int size, Id id, int rank, const Config* config)
{
    RP_ENTER
    if (config->magic != 0xcafebeef || config->version < 21400 || config->blocking != 0) return invalid_usage;
    auto c = std::make_shared<Communicator>();
    c->folder = id.bytes;
    c->rank = rank;
    c->size = size;
    c->polls = 2;
    c->tell(c->waits_for = "here");
    *communicator = new std::shared_ptr(std::move(c));
    return in_progress;
}
RP_EXPORT int ncclCommFinalize(Handle communicator)
{
    RP_ENTER_WITH(communicator)
    return in_progress;
}

// The last one removes the folder.
RP_EXPORT int ncclCommDestroy(Handle communicator)
{
    reprise_emulated_cuda_between_works([&] {
        Communicator& c = **communicator;
        c.is_aborted = true; // for what is still on the stream
        c.tell("left");
        std::error_code ignored;
        if (c.all_told("left")) fs::remove_all(c.folder, ignored);
        delete communicator;
    });
    return success;
}
RP_EXPORT int ncclCommAbort(Handle communicator) { return ncclCommDestroy(communicator); }
RP_EXPORT int ncclCommGetAsyncError(Handle communicator, int* error)
{
    *error = (*communicator)->is_in_progress() ? in_progress : success;
    if (reprise_emulated_cuda_refusal(__func__) != 0) *error = system_error;
    return success;
}
RP_EXPORT const char* ncclGetLastError(Handle) { return "the emulation was told to fail"; }
RP_EXPORT const char* ncclGetErrorString(int error)
{
    return error == invalid_usage ? "invalid usage" : "unhandled system error";
}

RP_EXPORT int ncclAllReduce(const void* x, void* y, std::size_t count, int type, int op, Handle h,
                            void* stream)
{
    RP_ENTER_WITH(h)
    const auto c = *h;
    add(
        c, stream, false, [=] { return bytes_at(x, count * size_of(type)); },
        [=](std::uint64_t n) { reduce(type, op, all(*c, n), 0, static_cast<char*>(y), count); });
    return in_progress;
}
RP_EXPORT int ncclReduceScatter(const void* x, void* y, std::size_t count, int type, int op, Handle h,
                                void* stream)
{
    RP_ENTER_WITH(h)
    const auto c = *h;
    add(
        c, stream, false,
        [=] { return bytes_at(x, count * size_of(type) * static_cast<std::size_t>(c->size)); },
        [=](std::uint64_t n) {
            reduce(type, op, all(*c, n), count * static_cast<std::size_t>(c->rank), static_cast<char*>(y),
                   count);
        });
    return in_progress;
}
RP_EXPORT int ncclBroadcast(const void* x, void* y, std::size_t count, int type, int root, Handle h,
                            void* stream)
{
    RP_ENTER_WITH(h)
    const auto c = *h;
    add(
        c, stream, true, [=] { return c->rank == root ? bytes_at(x, count * size_of(type)) : Bytes(); },
        [=](std::uint64_t n) { std::memcpy(y, c->read(n, root).data(), count * size_of(type)); });
    return in_progress;
}
RP_EXPORT int ncclAllGather(const void* x, void* y, std::size_t count, int type, Handle h, void* stream)
{
    RP_ENTER_WITH(h)
    const auto c = *h;
    const std::size_t bytes = count * size_of(type);
    add(
        c, stream, false, [=] { return bytes_at(x, bytes); },
        [=](std::uint64_t n) {
            for (int k = 0; k < c->size; ++k)
                std::memcpy(static_cast<char*>(y) + bytes * static_cast<std::size_t>(k), c->read(n, k).data(),
                            bytes);
        });
    return in_progress;
}
RP_EXPORT int ncclGroupStart()
{
    ++groups;
    return success;
}
RP_EXPORT int ncclSend(const void* x, std::size_t count, int type, int peer, Handle h, void* stream)
{
    RP_ENTER
    if (groups == 0) return invalid_usage;
    transfers.push_back({peer, static_cast<const char*>(x), nullptr, count * size_of(type)});
    transferring = h;
    stream_of_transfers = stream;
    return success;
}
RP_EXPORT int ncclRecv(void* y, std::size_t count, int type, int peer, Handle h, void* stream)
{
    RP_ENTER
    if (groups == 0) return invalid_usage;
    transfers.push_back({peer, nullptr, static_cast<char*>(y), count * size_of(type)});
    transferring = h;
    stream_of_transfers = stream;
    return success;
}
RP_EXPORT int ncclGroupEnd()
{
    --groups;
    if (groups > 0 || !transferring) return success;
    const Handle h = std::exchange(transferring, nullptr);
    const std::vector<Transfer> list = std::exchange(transfers, {});
    RP_ENTER_WITH(h)
    const auto to_self = [&](bool sends) {
        return std::count_if(list.begin(), list.end(), [&](const Transfer& t) {
            return t.peer == (*h)->rank && (sends ? t.send != nullptr : t.receive != nullptr);
        });
    };
    if (to_self(true) != to_self(false)) return invalid_usage;
    add_transfers(*h, stream_of_transfers, list);
    return in_progress;
}
