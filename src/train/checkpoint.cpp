#include <reprise/train/checkpoint.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <locale>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include <reprise/device.hpp>
#include <reprise/error.hpp>
#include <reprise/grad_mode.hpp>
#include <reprise/io.hpp>
#include <reprise/model_file.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/path_text.hpp>
#include <reprise/random.hpp>

#include "train/checkpoint_contents.hpp"

namespace reprise::train {

using detail::fail;

namespace fs = std::filesystem;

namespace {

using State = std::map<std::string, Tensor>;

constexpr const char *save_name = "save_checkpoint", *load_name = "load_checkpoint", *format_key = "format",
                     *format_name = "reprise checkpoint ", *format_version = "1", *parts_key = "parts",
                     *step_key = "step", *metric_key = "metric", *generator = "generator",
                     *file_extension = ".safetensors", *step_prefix = "step-";
constexpr std::size_t step_digits = 12; // so that files sort by their names

Device host() { return Device("reference"); }

// A number, numbers, a text or a tensor are one tensor without a name of its own.
State unnamed(const Tensor& t) { return {{"", t}}; }
const Tensor& tensor_of(const State& state)
{
    if (state.size() != 1 || !state.begin()->first.empty())
        fail(ErrorKind::argument, load_name, "The file has tensors with names in place of a variable.");
    return state.begin()->second;
}

template <class T> State state_of(const std::vector<T>& elements)
{
    return unnamed(from_vector(elements, {static_cast<std::int64_t>(elements.size())}, {.device = host()}));
}
template <class T> std::vector<T> elements_of(const State& state, DType dtype)
{
    const Tensor& t = tensor_of(state);
    if (t.dtype() != dtype || t.dim() != 1)
        fail(ErrorKind::argument, load_name, "The file has ", name_of(t.dtype()), to_string(t.shape()),
             " in place of ", name_of(dtype), "[n].");
    return t.to_vector<T>();
}
template <class T> T element_of(const State& state, DType dtype)
{
    const std::vector<T> all = elements_of<T>(state, dtype);
    if (all.size() != 1)
        fail(ErrorKind::argument, load_name, "The file has ", all.size(), " numbers in place of one.");
    return all[0];
}

// Returns a function that gives a variable its present value back.
template <class T> std::function<void()> copy_of(T& variable)
{
    return [&variable, before = variable] { variable = before; };
}

} // namespace

Part::Part(const std::string& name, Access access) : name_(name), access_(std::move(access))
{
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto fits = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
    if (name.empty() || !is_letter(name[0]) || !std::all_of(name.begin(), name.end(), fits) ||
        name == generator)
        fail(ErrorKind::argument, "Part", "The name (", name,
             ") must begin with a letter, have letters, digits, _ and - only, and not be \"generator\".");
}

Part::Part(const std::string& name, data::DataLoader& loader)
    : Part(name, {[&loader] { return loader.state_dict(); },
                  [&loader](const State& values) { loader.load_state_dict(values); },
                  [&loader] { return loader.backup(); }})
{}
Part::Part(const std::string& name, std::function<std::int64_t()> get, std::function<bool(std::int64_t)> set)
    : Part(name, {[get] { return state_of(std::vector{get()}); },
                  [set](const State& s) {
                      const auto value = element_of<std::int64_t>(s, i64);
                      if (!set(value))
                          fail(ErrorKind::argument, load_name, "The number (", value,
                               ") does not fit its variable.");
                  },
                  [get, set]() -> Restore { return [set, before = get()] { set(before); }; }})
{}
Part::Part(const std::string& name, double& number)
    : Part(name, {[&number] { return state_of(std::vector{number}); },
                  [&number](const State& s) { number = element_of<double>(s, f64); },
                  [&number] { return copy_of(number); }})
{}
Part::Part(const std::string& name, std::vector<double>& numbers)
    : Part(name, {[&numbers] { return state_of(numbers); },
                  [&numbers](const State& s) { numbers = elements_of<double>(s, f64); },
                  [&numbers] { return copy_of(numbers); }})
{}
Part::Part(const std::string& name, std::string& text)
    : Part(name, {[&text] { return state_of(std::vector<std::uint8_t>(text.begin(), text.end())); },
                  [&text](const State& s) {
                      const auto bytes = elements_of<std::uint8_t>(s, u8);
                      text.assign(bytes.begin(), bytes.end());
                  },
                  [&text] { return copy_of(text); }})
{}
Part::Part(const std::string& name, Tensor& tensor)
    : Part(name, {[&tensor] { return unnamed(tensor); },
                  [&tensor](const State& s) {
                      const Device device = tensor.defined() ? tensor.device() : default_device();
                      tensor = tensor_of(s).to(device);
                  },
                  [&tensor]() -> Restore {
                      return [&tensor, handle = tensor,
                              value = tensor.defined() ? tensor.snapshot() : Tensor()] {
                          tensor = handle;
                          const no_grad guard;
                          if (handle.defined()) tensor.assign(value); // it may have been assigned meanwhile
                      };
                  }})
{}

Part::State Part::snapshots(State state)
{
    for (auto& [name, value] : state) value = value.snapshot();
    return state;
}

// The parts of one call.
class Parts {
public:
    Parts(const char* op, const std::vector<Part>& parts) : parts_(parts)
    {
        for (const Part& p : parts)
            if (!names_.insert(p.name_).second)
                fail(ErrorKind::argument, op, "Two parts have the same name (", p.name_,
                     "): give each its own.");
    }

    // Returns all tensors by their names in the file, and the names of the parts, as a part may have no tensor.
    State tensors() const
    {
        State all;
        for (const Part& p : parts_)
            for (const auto& [key, value] : p.access_.save())
                all.emplace(key.empty() ? p.name_ : p.name_ + '.' + key, value);
        return all;
    }
    std::string names() const { return joined(names_); }

    void load(const ModelFile& file, bool strict) const
    {
        std::set<std::string> there, missing;
        std::istringstream list(file.metadata(parts_key).to_text());
        for (std::string name; list >> name;) there.insert(name);
        std::set_difference(names_.begin(), names_.end(), there.begin(), there.end(),
                            std::inserter(missing, missing.end()));
        const bool has_all = missing.empty(), has_more = there.size() > names_.size();
        if (!has_all || (strict && has_more))
            fail(ErrorKind::argument, load_name, "The checkpoint has the parts (", joined(there),
                 "), but those to load are (", names(), ")",
                 has_all ? ": name all, or leave out some with strict = false." : ".");
        std::map<std::string, State> values;
        for (const auto& [name, stored] : file.tensors()) {
            const std::size_t dot = std::min(name.find('.'), name.size());
            const std::string part = name.substr(0, dot);
            if (names_.contains(part))
                values[part].emplace(dot == name.size() ? "" : name.substr(dot + 1),
                                     file.load(name, {.device = host()}));
        }
        assign(values);
    }

private:
    static std::string joined(const std::set<std::string>& names)
    {
        std::string all;
        for (const std::string& name : names) all += (all.empty() ? "" : " ") + name;
        return all;
    }

    // Where a part throws, it and those before it get their values back.
    void assign(const std::map<std::string, State>& values) const
    {
        std::vector<Part::Restore> before;
        for (const Part& p : parts_) {
            try {
                before.push_back(p.backup());
                const auto found = values.find(p.name_);
                p.access_.load(found == values.end() ? State{} : found->second);
            } catch (...) {
                for (std::size_t i = before.size(); i-- > 0;) {
                    try {
                        before[i]();
                    } catch (...) { // the first error says what happened
                    }
                }
                rethrow_with_name(p.name_);
            }
        }
    }
    [[noreturn]] static void rethrow_with_name(const std::string& part)
    {
        try {
            throw;
        } catch (const Error& e) {
            throw Error(e.kind(), std::string(e.what()) + " The part is (" + part + ").");
        }
    }

    const std::vector<Part>& parts_;
    std::set<std::string> names_;
};

namespace {

using Texts = std::map<std::string, std::string>;

void save(const fs::path& path, const std::vector<Part>& parts, const Texts& metadata)
{
    if (path.extension() == ".json")
        fail(ErrorKind::argument, save_name, "The file (", path_text(path),
             ") would be loaded as an index: give it another name than .json.");
    CheckpointContents contents = checkpoint_contents(parts);
    contents.metadata.insert(metadata.begin(), metadata.end());
    save_safetensors(path, contents.tensors, {.metadata = contents.metadata});
}

std::optional<std::string> text_of(const ModelFile& file, const char* key)
{
    const auto found = file.metadata().find(key);
    return found == file.metadata().end() ? std::nullopt : std::optional(found->second.to_text());
}

bool read_number(const std::string& text, std::int64_t& number)
{
    return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc{};
}

// A stream, as libc++ has no std::from_chars for doubles before version 20; streams do not read infinities.
bool read_number(const std::string& text, double& number)
{
    std::istringstream in(text);
    in.imbue(std::locale::classic());
    if (in >> number) return true;
    number = (text == "-inf" ? -1 : 1) * std::numeric_limits<double>::infinity();
    return text == "inf" || text == "-inf";
}

// Returns the number of a file's metadata; nullopt where there is none.
template <class T> std::optional<T> number_of(const ModelFile& file, const char* key)
{
    const std::optional<std::string> text = text_of(file, key);
    T number{};
    return text && read_number(*text, number) ? std::optional<T>(number) : std::nullopt;
}

// In full, so that the number read is the number written.
std::string text_of(double number)
{
    char text[64];
    return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

ModelFile opened(const fs::path& path)
{
    ModelFile file(path);
    const std::string found = text_of(file, format_key).value_or("");
    if (!found.starts_with(format_name))
        fail(ErrorKind::argument, load_name, "The file (", path_text(path),
             ") is no checkpoint: save_checkpoint() writes them.");
    if (found != std::string(format_name) + format_version || !file.tensors().contains(generator) ||
        !text_of(file, parts_key))
        fail(ErrorKind::argument, load_name, "The file (", path_text(path),
             ") is a checkpoint of another version (", found.substr(std::string(format_name).size()),
             ") than (", format_version, ").");
    return file;
}

void load(const ModelFile& file, const std::vector<Part>& parts, const LoadCheckpointOptions& options)
{
    const Parts all(load_name, parts);
    detail::of_file(file.path(), [&] {
        const auto random = elements_of<std::int64_t>(unnamed(file.load(generator, {.device = host()})), i64);
        if (random.size() != 2)
            fail(ErrorKind::argument, load_name, "The state of the generator is damaged.");
        all.load(file, options.strict);
        if (options.generator)
            set_generator_state(
                {static_cast<std::uint64_t>(random[0]), static_cast<std::uint64_t>(random[1])});
    });
}

} // namespace

CheckpointContents checkpoint_contents(const std::vector<Part>& parts)
{
    const Parts all(save_name, parts);
    CheckpointContents contents{
        all.tensors(), {{format_key, std::string(format_name) + format_version}, {parts_key, all.names()}}};
    const GeneratorState random = generator_state();
    const std::vector numbers{static_cast<std::int64_t>(random.seed),
                              static_cast<std::int64_t>(random.ordinal)};
    contents.tensors.emplace(generator, tensor_of(state_of(numbers)));
    return contents;
}

void save_checkpoint(const fs::path& path, const std::vector<Part>& parts) { save(path, parts, {}); }

void load_checkpoint(const fs::path& path, const std::vector<Part>& parts,
                     const LoadCheckpointOptions& options)
{
    load(opened(path), parts, options);
}

namespace {

// Calls f() with errors of the file system as Error(file).
template <class F> auto in_folder(const fs::path& folder, const F& f)
{
    try {
        return f();
    } catch (const fs::filesystem_error& e) {
        fail(ErrorKind::file, "Checkpoints", "The folder (", path_text(folder),
             ") can't be used: ", e.what());
    }
}

// Returns the number of a file's name; nullopt for other files.
std::optional<std::int64_t> step_of(const fs::path& file)
{
    const std::string name = path_text(file.filename()), prefix = step_prefix;
    if (name.size() != prefix.size() + step_digits + std::string(file_extension).size() ||
        !name.starts_with(prefix) || !name.ends_with(file_extension))
        return std::nullopt;
    const char *begin = name.data() + prefix.size(), *end = begin + step_digits;
    std::int64_t step = 0;
    const auto [at, error] = std::from_chars(begin, end, step);
    return error == std::errc{} && at == end && step >= 0 ? std::optional(step) : std::nullopt;
}

} // namespace

Checkpoints::Checkpoints(fs::path folder, Options options) : folder_(std::move(folder)), options_(options)
{
    if (options_.keep_last < 1)
        fail(ErrorKind::argument, "Checkpoints", "The keep_last (0) must be at least 1.");
}

fs::path Checkpoints::path_of(std::int64_t step) const
{
    std::string number = std::to_string(step);
    if (step < 0 || number.size() > step_digits)
        fail(ErrorKind::argument, "Checkpoints", "The step (", step, ") must be from 0 to 999999999999.");
    return folder_ / (step_prefix + number.insert(0, step_digits - number.size(), '0') + file_extension);
}

std::vector<fs::path> Checkpoints::files() const
{
    return in_folder(folder_, [&] {
        std::vector<fs::path> found;
        if (fs::exists(folder_))
            for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
                if (step_of(entry.path())) found.push_back(entry.path());
        std::sort(found.begin(), found.end());
        return found;
    });
}

std::optional<fs::path> Checkpoints::best_file() const
{
    const fs::path best = folder_ / "best.safetensors";
    return in_folder(folder_, [&] { return fs::exists(best) ? std::optional(best) : std::nullopt; });
}

std::optional<double> Checkpoints::best_metric() const
{
    const std::optional<fs::path> best = best_file();
    return best ? number_of<double>(opened(*best), metric_key) : std::nullopt;
}

void Checkpoints::prepare()
{
    if (std::exchange(is_prepared_, true)) return;
    in_folder(folder_, [&] {
        fs::create_directories(folder_);
        for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
            if (path_text(entry.path().filename()).find(std::string(file_extension) + ".partial-") !=
                std::string::npos)
                fs::remove(entry.path());
    });
    try {
        best_ = best_metric();
    } catch (const Error&) { // a damaged file must not keep a run from saving
    }
}

void Checkpoints::save(std::int64_t step, const std::vector<Part>& parts, std::optional<double> metric)
{
    const fs::path path = path_of(step);
    prepare();
    if (const std::vector<fs::path> all = files(); !all.empty() && all.back() > path)
        fail(ErrorKind::state, "Checkpoints", "The folder (", path_text(folder_),
             ") has a checkpoint of a later step (", *step_of(all.back()), ") than (", step,
             "): load it, or remove it with remove_after().");
    Texts metadata{{step_key, std::to_string(step)}};
    if (metric) metadata.emplace(metric_key, text_of(*metric));
    // The best one first: a run that is killed between the two goes on from the step before, and comes here again.
    if (metric && !std::isnan(*metric) &&
        (!best_ || (options_.higher_is_better ? *metric > *best_ : *metric < *best_))) {
        train::save(folder_ / "best.safetensors", parts, metadata);
        best_ = metric;
    }
    train::save(path, parts, metadata);
    const std::vector<fs::path> all = files();
    for (std::size_t i = 0; i + options_.keep_last < all.size(); ++i) {
        std::error_code ignored; // a file that can't be removed now is removed by a later call
        fs::remove(all[i], ignored);
    }
}

void Checkpoints::remove_after(std::int64_t step)
{
    const fs::path path = path_of(step);
    for (const fs::path& file : files())
        if (file > path) in_folder(folder_, [&] { fs::remove(file); });
}

namespace {

std::optional<std::int64_t> load_step(const std::optional<fs::path>& path, const std::vector<Part>& parts,
                                      const LoadCheckpointOptions& options)
{
    if (!path) return std::nullopt;
    const ModelFile file = opened(*path);
    const auto step = number_of<std::int64_t>(file, step_key);
    if (!step)
        fail(ErrorKind::argument, load_name, "The checkpoint (", path_text(*path),
             ") has no number of a step.");
    load(file, parts, options);
    return step;
}

} // namespace

std::optional<std::int64_t> Checkpoints::load_last(const std::vector<Part>& parts,
                                                   const LoadCheckpointOptions& options) const
{
    const std::vector<fs::path> all = files();
    return load_step(all.empty() ? std::nullopt : std::optional(all.back()), parts, options);
}

std::optional<std::int64_t> Checkpoints::load_best(const std::vector<Part>& parts,
                                                   const LoadCheckpointOptions& options) const
{
    return load_step(best_file(), parts, options);
}

} // namespace reprise::train
