#include <reprise/train/checkpoint.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include <reprise/device.hpp>
#include <reprise/error.hpp>
#include <reprise/io.hpp>
#include <reprise/model_file.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/random.hpp>

namespace reprise::train {

using detail::fail;

namespace fs = std::filesystem;

namespace {

using State = std::map<std::string, Tensor>;

constexpr const char *save_name = "save_checkpoint", *load_name = "load_checkpoint", *format_key = "format",
                     *format = "reprise checkpoint 1", *parts_key = "parts", *step_key = "step",
                     *metric_key = "metric", *generator = "generator", *extension = ".safetensors",
                     *step_prefix = "step-";
constexpr std::size_t step_digits = 12; // so that files sort by their names

Device host() { return Device("reference"); }

// A number, numbers or a text are one tensor without a name of its own.
template <class T> State state_of(const std::vector<T>& elements)
{
    return {{"", from_vector(elements, {static_cast<std::int64_t>(elements.size())}, {.device = host()})}};
}
template <class T> std::vector<T> elements_of(const State& state, DType dtype)
{
    const auto found = state.find("");
    if (state.size() != 1 || found == state.end() || found->second.dtype() != dtype ||
        found->second.dim() != 1)
        fail(ErrorKind::argument, load_name, "The file has something else than ", name_of(dtype),
             " numbers.");
    return found->second.to_vector<T>();
}
template <class T> T element_of(const State& state, DType dtype)
{
    const std::vector<T> all = elements_of<T>(state, dtype);
    if (all.size() != 1)
        fail(ErrorKind::argument, load_name, "The file has ", all.size(), " numbers in place of one.");
    return all[0];
}

} // namespace

Part::Part(const std::string& name, std::function<State()> save, std::function<void(const State&)> load)
    : name_(name), save_(std::move(save)), load_(std::move(load))
{
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-';
    };
    if (name.empty() || name == generator || !std::all_of(name.begin(), name.end(), fits))
        fail(ErrorKind::argument, "Part", "The name (", name,
             ") must have letters, digits, _ and - only, and not be ", generator, ".");
}

Part::Part(const std::string& name, std::int64_t& number)
    : Part(
          name, [&number] { return state_of(std::vector{number}); },
          [&number](const State& s) { number = element_of<std::int64_t>(s, i64); })
{}
Part::Part(const std::string& name, double& number)
    : Part(
          name, [&number] { return state_of(std::vector{number}); },
          [&number](const State& s) { number = element_of<double>(s, f64); })
{}
Part::Part(const std::string& name, std::vector<double>& numbers)
    : Part(
          name, [&numbers] { return state_of(numbers); },
          [&numbers](const State& s) { numbers = elements_of<double>(s, f64); })
{}
Part::Part(const std::string& name, std::string& text)
    : Part(
          name, [&text] { return state_of(std::vector<std::uint8_t>(text.begin(), text.end())); },
          [&text](const State& s) {
              const auto bytes = elements_of<std::uint8_t>(s, u8);
              text.assign(bytes.begin(), bytes.end());
          })
{}

// The parts of one call.
class Parts {
public:
    Parts(const char* op, const std::vector<Part>& parts) : parts_(parts)
    {
        for (const Part& p : parts)
            if (!names_.insert(p.name_).second)
                fail(ErrorKind::argument, op, "Two parts have the name (", p.name_, "): give each its own.");
    }

    // Returns all tensors by their names in the file, and the names of the parts, as a part may have no tensor.
    State tensors() const
    {
        State all;
        for (const Part& p : parts_)
            for (auto& [key, value] : p.save_())
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
        const bool too_many = strict && there.size() + missing.size() > names_.size();
        if (!missing.empty() || too_many)
            fail(ErrorKind::argument, load_name, "The checkpoint has the parts (", joined(there),
                 "), but those to load are (", names(), ")",
                 too_many ? ": name all, or leave out some with strict = false." : ".");
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

    // Each load_state_dict() changes all or nothing; where one throws, those before it get their values back.
    void assign(const std::map<std::string, State>& values) const
    {
        std::vector<State> before;
        for (const Part& p : parts_) {
            try {
                State old = p.save_();
                const auto found = values.find(p.name_);
                p.load_(found == values.end() ? State{} : found->second);
                before.push_back(std::move(old));
            } catch (const Error& e) {
                for (std::size_t i = before.size(); i-- > 0;) parts_[i].load_(before[i]);
                throw Error(e.kind(), std::string(e.what()) + " The part is (" + p.name_ + ").");
            }
        }
    }

    const std::vector<Part>& parts_;
    std::set<std::string> names_;
};

namespace {

using Texts = std::map<std::string, std::string>;

void save(const fs::path& path, const std::vector<Part>& parts, Texts metadata)
{
    const Parts all(save_name, parts);
    State tensors = all.tensors();
    const GeneratorState random = generator_state();
    tensors.emplace(generator, state_of(std::vector{static_cast<std::int64_t>(random.seed),
                                                    static_cast<std::int64_t>(random.ordinal)})
                                   .at(""));
    metadata.insert({{format_key, format}, {parts_key, all.names()}});
    save_safetensors(path, tensors, {.metadata = metadata});
}

std::optional<std::string> text_of(const ModelFile& file, const char* key)
{
    const auto found = file.metadata().find(key);
    return found == file.metadata().end() ? std::nullopt : std::optional(found->second.to_text());
}

// Returns the number of a file's metadata; nullopt where there is none.
template <class T> std::optional<T> number_of(const ModelFile& file, const char* key)
{
    const std::optional<std::string> text = text_of(file, key);
    T number{};
    if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc{})
        return std::nullopt;
    return number;
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
    if (text_of(file, format_key) != format || !file.tensors().contains(generator) ||
        !text_of(file, parts_key))
        fail(ErrorKind::argument, load_name, "The file (", path.string(),
             ") is no checkpoint: save_checkpoint() writes them.");
    return file;
}

void load(const ModelFile& file, const std::vector<Part>& parts, const LoadCheckpointOptions& options)
{
    const Parts all(load_name, parts);
    detail::of_file(file.path(), [&] {
        const auto random = elements_of<std::int64_t>({{"", file.load(generator, {.device = host()})}}, i64);
        if (random.size() != 2)
            fail(ErrorKind::argument, load_name, "The state of the generator is damaged.");
        all.load(file, options.strict);
        if (options.generator)
            set_generator_state(
                {static_cast<std::uint64_t>(random[0]), static_cast<std::uint64_t>(random[1])});
    });
}

} // namespace

void save_checkpoint(const fs::path& path, const std::vector<Part>& parts) { save(path, parts, {}); }

void load_checkpoint(const fs::path& path, const std::vector<Part>& parts,
                     const LoadCheckpointOptions& options)
{
    load(opened(path), parts, options);
}

Checkpoints::Checkpoints(fs::path folder, Options options) : folder_(std::move(folder)), options_(options)
{
    if (options_.keep_last < 1)
        fail(ErrorKind::argument, "Checkpoints", "The keep_last (0) must be at least 1.");
    try {
        fs::create_directories(folder_);
        for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
            if (entry.path().filename().string().find(std::string(extension) + ".partial-") !=
                std::string::npos)
                fs::remove(entry.path());
    } catch (const fs::filesystem_error& e) {
        fail(ErrorKind::file, "Checkpoints", "The folder (", folder_.string(), ") can't be used: ", e.what());
    }
}

std::vector<fs::path> Checkpoints::files() const
{
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(step_prefix) && name.ends_with(extension)) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::optional<fs::path> Checkpoints::best_file() const
{
    return fs::exists(best_path()) ? std::optional(best_path()) : std::nullopt;
}

std::optional<double> Checkpoints::best_metric() const
{
    return best_file() ? number_of<double>(opened(best_path()), metric_key) : std::nullopt;
}

void Checkpoints::save(std::int64_t step, const std::vector<Part>& parts, std::optional<double> metric)
{
    std::string number = std::to_string(step);
    if (step < 0 || number.size() > step_digits)
        fail(ErrorKind::argument, "Checkpoints", "The step (", step, ") must be from 0 to 999999999999.");
    Texts metadata{{step_key, number}};
    if (metric) metadata.emplace(metric_key, text_of(*metric));
    number.insert(0, step_digits - number.size(), '0');
    // The best one first: a run that is killed between the two goes on from the step before, and comes here again.
    if (metric && !std::isnan(*metric)) {
        const std::optional<double> best = best_metric();
        if (!best || (options_.higher_is_better ? *metric > *best : *metric < *best))
            train::save(best_path(), parts, metadata);
    }
    train::save(folder_ / (step_prefix + number + extension), parts, metadata);
    const std::vector<fs::path> all = files();
    for (std::size_t i = 0; i + options_.keep_last < all.size(); ++i) {
        std::error_code ignored; // it is removed after the next one
        fs::remove(all[i], ignored);
    }
}

namespace {

std::optional<std::int64_t> load_step(const std::optional<fs::path>& path, const std::vector<Part>& parts,
                                      const LoadCheckpointOptions& options)
{
    if (!path) return std::nullopt;
    const ModelFile file = opened(*path);
    const auto step = number_of<std::int64_t>(file, step_key);
    if (!step)
        fail(ErrorKind::argument, load_name, "The checkpoint (", path->string(),
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
