#include "kernels/tuning.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include <reprise/whole_file.hpp>

#include "kernels/code_cache.hpp"
#include "kernels/hash.hpp"
#include "kernels/shader_compiler.hpp"

namespace reprise::kernels {

namespace {

namespace fs = std::filesystem;

thread_local const Tuning* forced = nullptr;

// A file: its head, then a line "<name> <number>" for each member.
constexpr std::pair<const char*, std::uint32_t Tuning::*> members[] = {
    {"large_tiles", &Tuning::large_tiles},
    {"large_side", &Tuning::large_side},
    {"large_matrix_tiles", &Tuning::large_matrix_tiles}};

std::string head_of(const device::Capabilities& c)
{
    return "reprise tuning 1\n" + c.driver + '\n' + c.name + '\n' + std::to_string(shader_compiler_hash(c)) +
           '\n';
}

// Empty if there is no cache folder.
fs::path file_of(const std::string& head)
{
    const fs::path folder = code_cache();
    Hash h;
    h.add(head);
    return folder.empty() ? folder : folder / ("tuning_" + std::to_string(h.value()) + ".txt");
}

Tuning default_of(const device::Capabilities& c)
{
    Tuning t;
    if (c.compute_units != 0) t.large_tiles = t.large_matrix_tiles = std::min(t.large_tiles, c.compute_units);
    return t;
}

// A file that is missing, damaged or of another device changes nothing.
Tuning load(const fs::path& file, const std::string& head, const Tuning& otherwise)
{
    std::ifstream in(file, std::ios::binary);
    std::string found(head.size(), '\0');
    if (file.empty() || !in.read(found.data(), static_cast<std::streamsize>(found.size())) || found != head)
        return otherwise;
    Tuning t;
    for (const auto& [name, member] : members) {
        std::string word;
        if (!(in >> word >> t.*member) || word != name) return otherwise;
    }
    return t;
}

struct Loaded {
    std::mutex mutex;
    std::map<std::string, Tuning> by_file;
};

Loaded& loaded()
{
    static Loaded l;
    return l;
}

} // namespace

Tuning tuning_of(const device::Capabilities& c)
{
    if (forced) return *forced;
    const std::string head = head_of(c);
    const fs::path file = file_of(head);
    Loaded& l = loaded();
    const std::lock_guard lock(l.mutex);
    const auto [at, is_new] = l.by_file.try_emplace(file.string() + head);
    if (is_new) at->second = load(file, head, default_of(c));
    return at->second;
}

void store_tuning(const device::Capabilities& c, const Tuning& t)
{
    const std::string head = head_of(c);
    const fs::path file = file_of(head);
    if (file.empty()) throw std::runtime_error("there is no cache folder: set REPRISE_CACHE_DIR");
    fs::create_directories(file.parent_path());
    std::string text = head;
    for (const auto& [name, member] : members)
        text += std::string(name) + ' ' + std::to_string(t.*member) + '\n';
    WholeFile out(file);
    out.write(text);
    out.commit();
    Loaded& l = loaded();
    const std::lock_guard lock(l.mutex);
    l.by_file[file.string() + head] = t;
}

ForcedTuning::ForcedTuning(const Tuning& t) : tuning_(t), outer_(std::exchange(forced, &tuning_)) {}
ForcedTuning::~ForcedTuning() { forced = outer_; }

} // namespace reprise::kernels
