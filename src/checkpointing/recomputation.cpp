#include <reprise/checkpointing/recomputation.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include "checkpointing/checks.hpp"
#include "checkpointing/recording.hpp"

namespace reprise {

using checkpointing::Call;
using checkpointing::count_symbols;
using checkpointing::differences;
using checkpointing::generalised;
using checkpointing::Ones;
using checkpointing::Recording;

namespace {

constexpr const char* op = "RecomputationEngine";

using Tensors = std::vector<Tensor>;

// Returns nullopt if the sizes violate a guard of the recording.
std::optional<Tensors> try_replay(const Recording& r, const Call& call)
{
    try {
        return r(call);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::shape) throw;
        return std::nullopt;
    }
}

} // namespace

struct RecomputationEngine::Layer {
    TracedFunction function;
    RecordOptions options;
    std::size_t programs = 0; // maximum number of programs
    std::uint64_t number = 0; // number of its registration

    std::mutex mutex; // guards the members below; never held while the function or a program runs
    std::vector<std::shared_ptr<const Recording>> recordings{}; // most recently used first
    bool supports_symbols = true;                               // whether recording with symbolic sizes works
    RecomputationStatistics statistics{};

    Tensors recompute(const Tensors& inputs);

private:
    using Specs = std::vector<Spec>;
    Tensors replay(const Call&);
    std::shared_ptr<const Recording> find(const Call&);
    std::optional<Specs> more_general(const Call&);
    std::optional<Specs> more_special(const Call&, const Recording& failed);
    std::shared_ptr<const Recording> record(const Specs&, const Call&);
    std::shared_ptr<const Recording> record_symbols(const Specs&, const Call&);
};

Tensors RecomputationEngine::Layer::recompute(const Tensors& inputs)
{
    Tensors outputs;
    if (is_recording()) {
        outputs = function(inputs);
        for (Tensor& t : outputs)
            if (t.defined()) t = t.detach().clone();
    } else outputs = replay(Call(inputs));
    const std::lock_guard lock(mutex);
    ++statistics.recomputations;
    return outputs;
}

Tensors RecomputationEngine::Layer::replay(const Call& call)
{
    std::optional<Specs> symbols;
    auto recording = find(call);
    if (recording && differences(recording->specs, call.specs).empty()) return (*recording)(call);
    if (!recording && (symbols = more_general(call))) recording = record_symbols(*symbols, call);
    const bool symbols_failed = symbols && !recording;
    while (recording) {
        if (auto outputs = try_replay(*recording, call)) return *std::move(outputs);
        symbols = more_special(call, *recording);
        recording = symbols ? record_symbols(*symbols, call) : nullptr;
    }
    Tensors outputs = (*record(call.specs, call))(call);
    if (symbols_failed) { // recording works with these sizes, but not with symbols
        const std::lock_guard lock(mutex);
        supports_symbols = false;
    }
    return outputs;
}

// Returns the recording with the fewest symbols that serves these sizes.
std::shared_ptr<const Recording> RecomputationEngine::Layer::find(const Call& call)
{
    const std::lock_guard lock(mutex);
    auto best = recordings.end();
    std::size_t min_symbols = 0;
    for (auto r = recordings.begin(); r != recordings.end(); ++r) {
        if (!same_kind(**r, call) || !fits(**r, call)) continue;
        const std::size_t symbols = differences((*r)->specs, call.specs).size();
        if (best != recordings.end() && symbols >= min_symbols) continue;
        best = r;
        min_symbols = symbols;
    }
    if (best == recordings.end()) return nullptr;
    std::rotate(recordings.begin(), best, best + 1);
    return recordings.front();
}

// Generalises the recording with most symbols to these sizes. Returns nullopt if there is no recording for inputs of
// this kind, or the function does not work with symbols.
std::optional<std::vector<Spec>> RecomputationEngine::Layer::more_general(const Call& call)
{
    const std::lock_guard lock(mutex);
    if (!supports_symbols) return std::nullopt;
    const Recording* most_symbolic = nullptr;
    for (const auto& r : recordings)
        if (same_kind(*r, call) &&
            (!most_symbolic || count_symbols(r->specs) > count_symbols(most_symbolic->specs)))
            most_symbolic = r.get();
    if (!most_symbolic) return std::nullopt;
    return generalised(most_symbolic->specs, call.specs, Ones::symbols);
}

// Returns specs with the fewest symbols that serve these sizes and those of another recording. They have fewer symbols
// than `failed`, the recording whose guard these sizes violate.
std::optional<std::vector<Spec>> RecomputationEngine::Layer::more_special(const Call& call,
                                                                          const Recording& failed)
{
    std::optional<Specs> best;
    std::size_t min_symbols = count_symbols(failed.specs);
    const std::lock_guard lock(mutex);
    for (const auto& r : recordings) {
        if (!same_kind(*r, call) || fits(*r, call)) continue;
        Specs specs = generalised(r->specs, call.specs, Ones::numbers);
        const std::size_t symbols = count_symbols(specs);
        if (symbols == 0 || symbols >= min_symbols) continue;
        best = std::move(specs);
        min_symbols = symbols;
    }
    return best;
}

// Returns null if the function does not work with symbols.
std::shared_ptr<const Recording> RecomputationEngine::Layer::record_symbols(const Specs& specs,
                                                                            const Call& call)
{
    try {
        return record(specs, call);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::state && error.kind() != ErrorKind::shape &&
            error.kind() != ErrorKind::argument)
            throw;
        return nullptr;
    }
}

// Records the function. Returns another thread's recording if there is one for this call by now.
std::shared_ptr<const Recording> RecomputationEngine::Layer::record(const Specs& specs, const Call& call)
{
    RecordOptions on_device = options;
    on_device.device = call.device;
    Recording recording{call.device, call.defined, specs};
    recording.program = record_function(
        [&](const Tensors& in) {
            const Tensors all = function(checkpointing::with_undefined(in, call.defined));
            recording.outputs_defined = checkpointing::defined_of(all);
            return checkpointing::without_undefined(all);
        },
        specs, on_device);
    const auto created = std::make_shared<const Recording>(std::move(recording));
    std::shared_ptr<const Recording> removed;
    const std::lock_guard lock(mutex);
    ++statistics.recordings;
    const auto other = std::find_if(recordings.begin(), recordings.end(), [&](const auto& r) {
        return same_kind(*r, call) && fits(*r, call) &&
               count_symbols(r->specs) == count_symbols(created->specs);
    });
    if (other != recordings.end()) return *other;
    recordings.insert(recordings.begin(), created);
    if (recordings.size() > programs) {
        removed = std::move(recordings.back());
        recordings.pop_back();
    }
    statistics.programs = recordings.size();
    return created;
}

RecomputationEngine::RecomputationEngine(RecordOptions options, std::size_t programs_per_layer)
    : options_(std::move(options)), programs_(programs_per_layer)
{
    if (programs_ < 1)
        detail::fail(ErrorKind::argument, op, "The number of programs a layer (", programs_,
                     ") must be at least 1.");
}
RecomputationEngine::~RecomputationEngine() = default;

void RecomputationEngine::register_function(const std::string& id, TracedFunction function)
{
    add_function(id, std::move(function));
}

std::uint64_t RecomputationEngine::add_function(const std::string& id, TracedFunction function)
{
    checkpointing::require_id(op, id);
    detail::require_function(op, function);
    auto layer = std::make_shared<Layer>();
    layer->function = std::move(function);
    layer->options = options_;
    layer->programs = programs_;
    const std::lock_guard lock(mutex_);
    layer->number = registered_ + 1;
    if (!layers_.try_emplace(id, std::move(layer)).second) checkpointing::fail_registered(op, id);
    return ++registered_;
}

bool RecomputationEngine::remove_function(const std::string& id) { return remove_function(id, std::nullopt); }

bool RecomputationEngine::remove_function(const std::string& id, std::optional<std::uint64_t> number)
{
    std::shared_ptr<Layer> removed;
    const std::lock_guard lock(mutex_);
    const auto found = layers_.find(id);
    if (found == layers_.end() || (number && found->second->number != *number)) return false;
    removed = std::move(found->second);
    layers_.erase(found);
    return true;
}

bool RecomputationEngine::contains(const std::string& id) const
{
    const std::lock_guard lock(mutex_);
    return layers_.contains(id);
}

std::shared_ptr<RecomputationEngine::Layer> RecomputationEngine::find(const std::string& id) const
{
    const std::lock_guard lock(mutex_);
    if (const auto found = layers_.find(id); found != layers_.end()) return found->second;
    std::vector<std::string> ids;
    for (const auto& [name, layer] : layers_) ids.push_back(name);
    checkpointing::fail_unknown(op, id, ids);
}

std::vector<Tensor> RecomputationEngine::recompute(const std::string& id, const std::vector<Tensor>& inputs)
{
    return find(id)->recompute(inputs);
}

RecomputationStatistics RecomputationEngine::statistics() const
{
    std::vector<std::shared_ptr<Layer>> layers;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [id, layer] : layers_) layers.push_back(layer);
    }
    RecomputationStatistics sum;
    for (const auto& layer : layers) {
        const std::lock_guard lock(layer->mutex);
        sum.recomputations += layer->statistics.recomputations;
        sum.recordings += layer->statistics.recordings;
        sum.programs += layer->statistics.programs;
    }
    return sum;
}

RecomputationStatistics RecomputationEngine::statistics(const std::string& id) const
{
    const auto layer = find(id);
    const std::lock_guard lock(layer->mutex);
    return layer->statistics;
}

} // namespace reprise
