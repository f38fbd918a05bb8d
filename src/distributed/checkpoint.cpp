#include <reprise/distributed/checkpoint.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <reprise/error.hpp>
#include <reprise/io.hpp>
#include <reprise/path_text.hpp>
#include <reprise/whole_file.hpp>

#include "distributed/world_state.hpp"
#include "io/safetensors_header.hpp"
#include "train/checkpoint_contents.hpp"

namespace reprise::distributed {

using detail::fail;

namespace fs = std::filesystem;

namespace {

constexpr const char* op = "save_checkpoint";
constexpr std::chrono::minutes limit{10}; // for a rank to write its file

// The files of a checkpoint: checkpoint-3-rank-0-of-4.safetensors, of the third one that was saved.
class Files {
public:
    explicit Files(const fs::path& index) : folder_(index.parent_path()), stem_(path_text(index.stem()) + '-')
    {}

    std::string name(const std::string& generation, int rank, int ranks) const
    {
        return stem_ + generation + "-rank-" + std::to_string(rank) + "-of-" + std::to_string(ranks) +
               ".safetensors";
    }
    fs::path path(const std::string& name) const { return folder_ / path_of_text(name); }

    // The number of one that follows all that there are.
    std::string next_generation() const
    {
        std::uint64_t last = 0;
        each([&](const fs::path&, std::uint64_t generation) { last = std::max(last, generation); });
        return std::to_string(last + 1);
    }
    // Removes the files of others.  One that can't be removed now is removed after a later checkpoint.
    void remove_but(const std::string& generation) const
    {
        std::vector<fs::path> others;
        each([&](const fs::path& file, std::uint64_t g) {
            if (std::to_string(g) != generation) others.push_back(file);
        });
        std::error_code ignored;
        for (const fs::path& file : others) fs::remove(file, ignored);
    }

private:
    // Calls f(file, generation) for the files of all checkpoints, and those that a killed process left half-written.
    template <class F> void each(const F& f) const
    {
        static const std::regex pattern(R"((\d{1,18})-rank-\d+-of-\d+\.safetensors(\.partial-.*)?)");
        std::error_code ignored;
        fs::directory_iterator at(folder_.empty() ? fs::path(".") : folder_, ignored);
        for (; at != fs::directory_iterator(); at.increment(ignored)) {
            const std::string name = path_text(at->path().filename());
            std::smatch found;
            const std::string rest = name.starts_with(stem_) ? name.substr(stem_.size()) : std::string();
            if (std::regex_match(rest, found, pattern)) f(at->path(), std::stoull(found[1]));
        }
    }

    fs::path folder_;
    std::string stem_;
};

std::string lines_of(const std::map<std::string, Tensor>& tensors)
{
    std::string lines;
    for (const auto& entry : tensors) lines += entry.first + '\n';
    return lines;
}
std::set<std::string> names_in(const std::string& lines)
{
    std::set<std::string> names;
    std::istringstream list(lines);
    for (std::string name; std::getline(list, name);) names.insert(name);
    return names;
}

// The ranks of one save.
class Ranks {
public:
    explicit Ranks(const World& world) : world_(world) {}
    int rank() const { return world_.rank(); }
    int size() const { return world_.size(); }

    std::vector<std::string> gather(const std::string& text,
                                    std::chrono::milliseconds least_timeout = {}) const
    {
        return world_.state()->gather_texts(op, text, least_timeout);
    }
    // Calls f() on this rank, and throws on all ranks if it throws on one.  The others wait at least so long.
    template <class F> void all(const F& f, std::chrono::milliseconds least_timeout = {}) const
    {
        std::exception_ptr error;
        std::string text; // the kind of the error, and what it says
        try {
            f();
        } catch (const Error& e) {
            error = std::current_exception();
            text = std::to_string(static_cast<int>(e.kind())) + ' ' + e.what();
        } catch (const std::exception& e) {
            error = std::current_exception();
            text = std::to_string(static_cast<int>(ErrorKind::file)) + ' ' + e.what();
        } catch (...) {
            error = std::current_exception();
            text = std::to_string(static_cast<int>(ErrorKind::file)) + " an unknown exception";
        }
        const std::vector<std::string> texts = gather(text, least_timeout);
        if (error) std::rethrow_exception(error);
        for (std::size_t k = 0; k < texts.size(); ++k) {
            if (texts[k].empty()) continue;
            std::istringstream in(texts[k]);
            int kind = 0;
            in >> kind;
            fail(static_cast<ErrorKind>(kind), op, "Rank (", k,
                 ") can't save its part, and the checkpoint of before stays:",
                 texts[k].substr(texts[k].find(' ')));
        }
    }

private:
    const World& world_;
};

// Returns the entries that each rank writes: rank 0 all of its own, others what rank 0 does not have.
std::vector<std::set<std::string>> shares(const std::vector<std::string>& names_of_ranks)
{
    std::vector<std::set<std::string>> all;
    std::set<std::string> before; // of ranks before
    for (const std::string& lines : names_of_ranks) {
        std::set<std::string> names = names_in(lines);
        if (!all.empty()) std::erase_if(names, [&](const std::string& n) { return all[0].contains(n); });
        for (const std::string& name : names)
            if (!before.insert(name).second)
                fail(ErrorKind::argument, op, "Several ranks have the entry (", name,
                     "), but rank 0 has not: let it have the entry, too, as its value is saved.");
        all.push_back(std::move(names));
    }
    return all;
}

} // namespace

void save_checkpoint(const fs::path& path, const std::vector<train::Part>& parts, const World& world)
{
    const Ranks ranks(world);
    const Files files(path);
    train::CheckpointContents contents;
    std::string generation;
    ranks.all([&] {
        if (path.extension() != ".json")
            fail(ErrorKind::argument, op, "The path (", path_text(path), ") of an index must end in .json.");
        contents = train::checkpoint_contents(parts);
        if (ranks.rank() == 0) generation = files.next_generation();
    });
    generation = ranks.gather(generation)[0];
    // The same on all ranks, as are its errors.
    const std::vector<std::set<std::string>> written = shares(ranks.gather(lines_of(contents.tensors)));
    const std::string file = files.name(generation, ranks.rank(), ranks.size());
    std::uint64_t bytes = 0, bytes_of_file = 0;
    const auto write = [&] {
        const std::set<std::string>& mine = written[static_cast<std::size_t>(ranks.rank())];
        std::erase_if(contents.tensors, [&](const auto& entry) { return !mine.contains(entry.first); });
        save_safetensors(files.path(file), contents.tensors, {.metadata = contents.metadata});
        for (const auto& entry : contents.tensors)
            bytes += static_cast<std::uint64_t>(entry.second.numel().value()) * size_of(entry.second.dtype());
        bytes_of_file = fs::file_size(files.path(file));
    };
    ranks.all(write, limit);
    const std::vector<std::string> sizes =
        ranks.gather(std::to_string(bytes) + ' ' + std::to_string(bytes_of_file));
    ranks.all([&] {
        if (ranks.rank() != 0) return;
        io::WeightMap owners;
        std::uint64_t all_bytes = 0;
        for (std::size_t k = 0; k < written.size(); ++k) {
            const std::string of_rank = files.name(generation, static_cast<int>(k), ranks.size());
            std::istringstream in(sizes[k]);
            std::uint64_t bytes_of_rank = 0, file_of_rank = 0;
            in >> bytes_of_rank >> file_of_rank;
            std::error_code error;
            if (fs::file_size(files.path(of_rank), error) != file_of_rank)
                fail(ErrorKind::file, op, "The file (", of_rank, ") of rank (", k,
                     ") is not in rank 0's folder: give one that all ranks see.");
            for (const std::string& name : written[k]) owners.emplace(name, of_rank);
            all_bytes += bytes_of_rank;
        }
        WholeFile index(path);
        index.write(io::make_index(owners, all_bytes));
        index.commit();
    });
    if (ranks.rank() == 0) files.remove_but(generation);
}

} // namespace reprise::distributed
