#include "kernels/code_cache.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>

#include <reprise/path_text.hpp>
#include <reprise/whole_file.hpp>

#include "base/log.hpp"
#include "base/process.hpp"
#include "kernels/hash.hpp"

namespace reprise::kernels {

namespace {

namespace fs = std::filesystem;

struct Cache {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const SpirV>> by_text; // key: compiler hash and text
    std::mutex folder_mutex;
    std::optional<fs::path> folder;   // of set_cache_directory()
    std::atomic<bool> warned = false; // that nothing can be written there
    std::atomic<std::uint64_t> compilations{0};
};

Cache& cache()
{
    static Cache c;
    return c;
}

// Returns the cache folder by the platform's convention; empty if there is none.
fs::path standard_folder()
{
    const auto variable = [](const char* name) -> fs::path {
        return path_of_text(detail::environment_variable(name).value_or(""));
    };
    if (const auto named = detail::environment_variable("REPRISE_CACHE_DIR")) return path_of_text(*named);
    if (const fs::path xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute()) return xdg / "reprise";
    if (const fs::path local = variable("LOCALAPPDATA"); local.is_absolute())
        return local / "reprise" / "cache";
    if (const fs::path home = variable("HOME"); home.is_absolute()) return home / ".cache" / "reprise";
    return {};
}

std::string hexadecimal(std::uint64_t v)
{
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(v));
    return text;
}

// Returns the header of a cache file: everything that its code depends on, so that colliding file names do no harm.
std::string head_of(const std::string& text, const device::Capabilities& c)
{
    return "reprise kernel 1\n" + c.driver + '\n' + c.name + '\n' + hexadecimal(shader_compiler_hash(c)) +
           '\n' + text + '\0';
}

std::uint64_t checksum(const SpirV& words)
{
    Hash h;
    for (const std::uint32_t w : words) h.add(w);
    return h.value();
}

// Returns null if the file is missing, has another header or is damaged.
std::shared_ptr<const SpirV> load(const fs::path& file, const std::string& head)
{
    std::error_code error;
    if (!fs::exists(file, error)) return nullptr;
    const bool is_file = fs::is_regular_file(file, error); // else it can't be read, or only waited for
    const std::size_t size = is_file ? static_cast<std::size_t>(fs::file_size(file, error)) : 0;
    constexpr std::size_t most = std::size_t{64} << 20; // kernels have kilobytes
    const std::size_t fixed = head.size() + sizeof(std::uint64_t);
    std::string bytes;
    std::ifstream in;
    if (!error && size >= fixed && size <= most) {
        bytes.resize(size);
        in.open(file, std::ios::binary);
    }
    const bool is_whole = in.is_open() && (size - fixed) % 4 == 0 &&
                          in.read(bytes.data(), static_cast<std::streamsize>(size)) &&
                          bytes.compare(0, head.size(), head) == 0;
    if (is_whole) {
        std::uint64_t sum = 0;
        std::memcpy(&sum, bytes.data() + head.size(), sizeof sum);
        auto words = std::make_shared<SpirV>((size - fixed) / 4);
        std::memcpy(words->data(), bytes.data() + fixed, size - fixed);
        if (checksum(*words) == sum) return words;
    }
    detail::log(LogLevel::warning, "The cached kernel ", file,
                " does not fit or is damaged: it is compiled again.");
    return nullptr;
}

void save(const fs::path& file, const std::string& head, const SpirV& words)
{
    try {
        fs::create_directories(file.parent_path());
        WholeFile out(file);
        const std::uint64_t sum = checksum(words);
        out.write(head);
        out.write(std::as_bytes(std::span(&sum, 1)));
        out.write(std::as_bytes(std::span(words)));
        out.commit();
    } catch (const std::exception& error) {
        if (!cache().warned.exchange(true)) // once for a folder
            detail::log(LogLevel::warning,
                        "The cache of kernels cannot be written, so the next process compiles "
                        "them again: ",
                        error.what());
    }
}

} // namespace

std::uint64_t shader_compilations() noexcept { return cache().compilations; }

void forget_codes()
{
    std::lock_guard lock(cache().mutex);
    cache().by_text.clear();
}

namespace {

Code find_or_compile(const std::string& who, Author author, const std::string& text,
                     const device::Capabilities& caps)
{
    Hash h;
    h.add(who);
    h.add(text);
    h.add(shader_compiler_hash(caps));
    const bool cuda = caps.is_cuda(); // whose kernel names must be identifiers
    const std::string name = (cuda && author == Author::user ? "user" : who) + "_" + hexadecimal(h.value());
    // A null device needs no code: a plan has the kernel's name.
    if (!caps.computes) return {name, std::make_shared<const SpirV>()};
    Cache& c = cache();
    std::lock_guard lock(c.mutex);
    auto& words = c.by_text[hexadecimal(shader_compiler_hash(caps)) + text];
    if (words) return {name, words};
    const fs::path folder = code_cache();
    h.add(caps.driver);
    h.add(caps.name);
    const fs::path file = folder.empty() ? fs::path() : folder / (hexadecimal(h.value()) + ".spv");
    const std::string head = head_of(text, caps);
    if (!file.empty()) words = load(file, head);
    if (words) {
        detail::log(LogLevel::debug, "Read ", name, " from the cache of kernels.");
        return {name, words};
    }
    const detail::Stopwatch watch;
    // if this throws, the entry stays null
    words = std::make_shared<const SpirV>(
        compile_shader(name, author == Author::user ? who : name, text, caps, author));
    ++c.compilations;
    detail::log(LogLevel::debug, "Compiled ", name, " in ", watch, ".");
    if (!file.empty()) save(file, head, *words);
    return {name, words};
}

} // namespace

Code code_of(const std::string& text, const device::Capabilities& caps, const std::string& name)
{
    return find_or_compile(name, Author::library, text, caps);
}

Code code_of_user(const std::string& name, const std::string& text, const device::Capabilities& caps)
{
    return find_or_compile(name, Author::user, text, caps);
}

fs::path code_cache()
{
    std::lock_guard lock(cache().folder_mutex);
    return cache().folder ? *cache().folder : standard_folder();
}

void set_code_cache(const std::filesystem::path& folder)
{
    std::lock_guard lock(cache().folder_mutex);
    cache().folder = folder;
    cache().warned = false;
}

} // namespace reprise::kernels
