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

// None: the sizes break a condition of the recording.
std::optional<Tensors> replay_if_it_fits(const Recording& r, const Call& call)
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
    std::size_t programs = 0; // at most
    std::uint64_t number = 0; // of its registration

    std::mutex mutex; // of what follows; never held while the function or a program runs
    std::vector<std::shared_ptr<const Recording>> recordings{}; // the one used last first
    bool follows = true;                                        // sizes that are symbols
    RecomputationStatistics statistics{};

    Tensors recompute(const Tensors& inputs);

private:
    using Specs = std::vector<Spec>;
    Tensors replay(const Call&);
    std::shared_ptr<const Recording> find(const Call&);
    std::optional<Specs> more_general(const Call&);
    std::optional<Specs> more_special(const Call&, const Recording& broken);
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
    const bool in_vain = symbols && !recording;
    while (recording) {
        if (auto outputs = replay_if_it_fits(*recording, call)) return *std::move(outputs);
        symbols = more_special(call, *recording);
        recording = symbols ? record_symbols(*symbols, call) : nullptr;
    }
    Tensors outputs = (*record(call.specs, call))(call);
    if (in_vain) { // it works for these sizes, and not for symbols
        const std::lock_guard lock(mutex);
        follows = false;
    }
    return outputs;
}

// The one with the fewest symbols that serves these sizes.
std::shared_ptr<const Recording> RecomputationEngine::Layer::find(const Call& call)
{
    const std::lock_guard lock(mutex);
    auto best = recordings.end();
    std::size_t least = 0;
    for (auto r = recordings.begin(); r != recordings.end(); ++r) {
        if (!same_kind(**r, call) || !fits(**r, call)) continue;
        const std::size_t symbols = differences((*r)->specs, call.specs).size();
        if (best != recordings.end() && symbols >= least) continue;
        best = r;
        least = symbols;
    }
    if (best == recordings.end()) return nullptr;
    std::rotate(recordings.begin(), best, best + 1);
    return recordings.front();
}

// None: nothing was recorded for inputs of this kind, or the function does not follow.
std::optional<std::vector<Spec>> RecomputationEngine::Layer::more_general(const Call& call)
{
    const std::lock_guard lock(mutex);
    if (!follows) return std::nullopt;
    const Recording* most = nullptr;
    for (const auto& r : recordings)
        if (same_kind(*r, call) && (!most || count_symbols(r->specs) > count_symbols(most->specs)))
            most = r.get();
    if (!most) return std::nullopt;
    return generalised(most->specs, call.specs, Ones::symbols);
}

// The fewest symbols that serve these sizes and another recording's, fewer than those whose condition they
// break.
std::optional<std::vector<Spec>> RecomputationEngine::Layer::more_special(const Call& call,
                                                                          const Recording& broken)
{
    std::optional<Specs> best;
    std::size_t least = count_symbols(broken.specs);
    const std::lock_guard lock(mutex);
    for (const auto& r : recordings) {
        if (!same_kind(*r, call) || fits(*r, call)) continue;
        Specs specs = generalised(r->specs, call.specs, Ones::numbers);
        const std::size_t symbols = count_symbols(specs);
        if (symbols == 0 || symbols >= least) continue;
        best = std::move(specs);
        least = symbols;
    }
    return best;
}

// Null: the function does not work for symbols.
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

// Where another thread has made one for the call meanwhile, it is that.
std::shared_ptr<const Recording> RecomputationEngine::Layer::record(const Specs& specs, const Call& call)
{
    RecordOptions there = options;
    there.device = call.device;
    Recording recording{call.device, call.defined, specs};
    recording.program = record_function(
        [&](const Tensors& in) {
            const Tensors all = function(checkpointing::with_undefined(in, call.defined));
            recording.gives = checkpointing::defined_of(all);
            return checkpointing::without_undefined(all);
        },
        specs, there);
    const auto made = std::make_shared<const Recording>(std::move(recording));
    std::shared_ptr<const Recording> gone;
    const std::lock_guard lock(mutex);
    ++statistics.recordings;
    const auto other = std::find_if(recordings.begin(), recordings.end(), [&](const auto& r) {
        return same_kind(*r, call) && fits(*r, call) && count_symbols(r->specs) == count_symbols(made->specs);
    });
    if (other != recordings.end()) return *other;
    recordings.insert(recordings.begin(), made);
    if (recordings.size() > programs) {
        gone = std::move(recordings.back());
        recordings.pop_back();
    }
    statistics.programs = recordings.size();
    return made;
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
    std::shared_ptr<Layer> gone;
    const std::lock_guard lock(mutex_);
    const auto found = layers_.find(id);
    if (found == layers_.end() || (number && found->second->number != *number)) return false;
    gone = std::move(found->second);
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
