#include "kernels/tuning.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <reprise/error.hpp>
#include <reprise/path_text.hpp>
#include <reprise/whole_file.hpp>

#include "kernels/code_cache.hpp"
#include "kernels/hash.hpp"
#include "kernels/shader_compiler.hpp"

namespace reprise::kernels {

namespace {

namespace fs = std::filesystem;

thread_local const Tuning* forced = nullptr;

// A file: its head, a line "<name> <number>" for each member that was measured, and a line "end".
struct Member {
    const char* name;
    std::uint32_t Tuning::*of_tuning;
    std::optional<std::uint32_t> StoredTuning::*of_stored;
};
constexpr Member members[] = {
    {"large_tiles", &Tuning::large_tiles, &StoredTuning::large_tiles},
    {"large_matrix_tiles", &Tuning::large_matrix_tiles, &StoredTuning::large_matrix_tiles}};

std::string head_of(const device::Capabilities& c)
{
    return "reprise tuning 1\n" + c.driver + '\n' + c.name + '\n' + std::to_string(shader_texts_hash()) +
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
    Tuning t = otherwise;
    for (std::string name; in >> name;) {
        if (name == "end") return t;
        const auto* const m = std::find_if(std::begin(members), std::end(members),
                                           [&](const Member& known) { return name == known.name; });
        if (m == std::end(members) || !(in >> t.*m->of_tuning)) break;
    }
    return otherwise;
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
    const auto [at, is_new] = l.by_file.try_emplace(path_text(file) + head);
    if (is_new) at->second = load(file, head, default_of(c));
    return at->second;
}

void require_cache_folder(const char* function)
{
    if (code_cache().empty())
        detail::fail(ErrorKind::argument, function,
                     "There is no cache folder to store the choice in: set the environment variable "
                     "REPRISE_CACHE_DIR (unless set_process_options() turned variables off), or call "
                     "set_cache_directory().");
}

void store_tuning(const device::Capabilities& c, const StoredTuning& measured)
{
    require_cache_folder("store_tuning");
    const std::string head = head_of(c);
    const fs::path file = file_of(head);
    fs::create_directories(file.parent_path());
    std::string text = head;
    Tuning t = default_of(c);
    for (const Member& m : members) {
        const std::optional<std::uint32_t>& value = measured.*m.of_stored;
        if (!value) continue;
        t.*m.of_tuning = *value;
        text += std::string(m.name) + ' ' + std::to_string(*value) + '\n';
    }
    WholeFile out(file);
    out.write(text + "end\n");
    out.commit();
    Loaded& l = loaded();
    const std::lock_guard lock(l.mutex);
    l.by_file[path_text(file) + head] = t;
}

ForcedTuning::ForcedTuning(const Tuning& t) : tuning_(t), outer_(std::exchange(forced, &tuning_)) {}
ForcedTuning::~ForcedTuning() { forced = outer_; }

} // namespace reprise::kernels
