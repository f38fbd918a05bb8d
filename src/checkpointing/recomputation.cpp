#include <reprise/checkpointing/recomputation.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include "checkpointing/checks.hpp"

namespace reprise {

namespace {

constexpr const char* op = "RecomputationEngine";

using Tensors = std::vector<Tensor>;

struct Recording {
    Device device;
    std::vector<Spec> specs;
    Program program{};
};

Device device_of(const Tensors& inputs) { return inputs.empty() ? default_device() : inputs[0].device(); }

std::vector<Spec> specs_of(const Tensors& inputs)
{
    std::vector<Spec> specs;
    for (const Tensor& t : inputs) specs.push_back({t.shape(), t.dtype()});
    return specs;
}

// Whether they differ in sizes only.
bool same_kind(const Recording& r, const Device& device, const std::vector<Spec>& given)
{
    return r.device == device && std::equal(r.specs.begin(), r.specs.end(), given.begin(), given.end(),
                                            [](const Spec& a, const Spec& b) {
                                                return a.dtype == b.dtype && a.shape.size() == b.shape.size();
                                            });
}

// What the recorded sizes are at a call, where they differ from it; each once.
using Differences = std::vector<std::pair<Dim, Dim>>;

Differences differences(const std::vector<Spec>& recorded, const std::vector<Spec>& given)
{
    Differences found;
    for (std::size_t i = 0; i < given.size(); ++i)
        for (std::size_t d = 0; d < given[i].shape.size(); ++d) {
            const std::pair<Dim, Dim> pair{recorded[i].shape[d], given[i].shape[d]};
            if (pair.first != pair.second && std::find(found.begin(), found.end(), pair) == found.end())
                found.push_back(pair);
        }
    return found;
}

// All differences are symbols, each with one size.
bool fits(const Recording& r, const std::vector<Spec>& given)
{
    const Differences all = differences(r.specs, given);
    return std::all_of(all.begin(), all.end(), [&](const auto& pair) {
        return !pair.first.is_constant() && std::all_of(all.begin(), all.end(), [&](const auto& other) {
            return other.first != pair.first || other.second == pair.second;
        });
    });
}

// A symbol for each difference: sizes that were equal and are equal now stay one.
std::vector<Spec> generalised(const std::vector<Spec>& recorded, const std::vector<Spec>& given)
{
    const Differences all = differences(recorded, given);
    DimVector symbols;
    for (std::size_t i = 0; i < all.size(); ++i) symbols.push_back(symbol("size_" + std::to_string(i)));
    std::vector<Spec> specs = recorded;
    for (std::size_t i = 0; i < given.size(); ++i)
        for (std::size_t d = 0; d < given[i].shape.size(); ++d) {
            const auto found =
                std::find(all.begin(), all.end(), std::pair{recorded[i].shape[d], given[i].shape[d]});
            if (found != all.end())
                specs[i].shape[d] = symbols[static_cast<std::size_t>(found - all.begin())];
        }
    return specs;
}

std::size_t count_symbols(const Recording& r)
{
    std::size_t count = 0;
    for (const Spec& s : r.specs)
        count += static_cast<std::size_t>(
            std::count_if(s.shape.begin(), s.shape.end(), [](const Dim& d) { return !d.is_constant(); }));
    return count;
}

// None: the sizes break a condition of the recording.
std::optional<Tensors> call_if_it_fits(const Program& program, const Tensors& inputs)
{
    try {
        return program.call(inputs);
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

    std::mutex mutex; // of what follows; never held while the function or a program runs
    std::vector<std::shared_ptr<const Recording>> recordings{}; // the one used last first
    bool follows = true;                                        // sizes that are symbols
    RecomputationStatistics statistics{};

    Tensors recompute(const Tensors& inputs);

private:
    Tensors replay(const Tensors& inputs);
    std::shared_ptr<const Recording> find(const Device&, const std::vector<Spec>& given);
    std::optional<std::vector<Spec>> more_general(const Device&, const std::vector<Spec>& given);
    std::shared_ptr<const Recording> record(const Device&, const std::vector<Spec>&,
                                            const std::vector<Spec>& given);
    std::shared_ptr<const Recording> record_symbols(const Device&, const std::vector<Spec>&,
                                                    const std::vector<Spec>& given);
};

Tensors RecomputationEngine::Layer::recompute(const Tensors& inputs)
{
    Tensors outputs;
    if (is_recording()) {
        outputs = function(inputs);
        for (Tensor& t : outputs) t = t.detach();
    } else outputs = replay(inputs);
    const std::lock_guard lock(mutex);
    ++statistics.recomputations;
    return outputs;
}

Tensors RecomputationEngine::Layer::replay(const Tensors& inputs)
{
    const Device device = device_of(inputs);
    const std::vector<Spec> given = specs_of(inputs);
    std::optional<std::vector<Spec>> general;
    auto recording = find(device, given);
    if (recording && differences(recording->specs, given).empty()) return recording->program.call(inputs);
    if (!recording && (general = more_general(device, given)))
        recording = record_symbols(device, *general, given);
    if (recording)
        if (auto outputs = call_if_it_fits(recording->program, inputs)) return *std::move(outputs);
    Tensors outputs = record(device, given, given)->program.call(inputs);
    if (general && !recording) { // it works for these sizes, and not for symbols
        const std::lock_guard lock(mutex);
        follows = false;
    }
    return outputs;
}

// The one with the fewest symbols that serves these sizes.
std::shared_ptr<const Recording> RecomputationEngine::Layer::find(const Device& device,
                                                                  const std::vector<Spec>& given)
{
    const std::lock_guard lock(mutex);
    auto best = recordings.end();
    std::size_t least = 0;
    for (auto r = recordings.begin(); r != recordings.end(); ++r) {
        if (!same_kind(**r, device, given) || !fits(**r, given)) continue;
        const std::size_t symbols = differences((*r)->specs, given).size();
        if (best != recordings.end() && symbols >= least) continue;
        best = r;
        least = symbols;
    }
    if (best == recordings.end()) return nullptr;
    std::rotate(recordings.begin(), best, best + 1);
    return recordings.front();
}

// None: nothing was recorded for inputs of this kind, or the function does not follow.
std::optional<std::vector<Spec>> RecomputationEngine::Layer::more_general(const Device& device,
                                                                          const std::vector<Spec>& given)
{
    const std::lock_guard lock(mutex);
    if (!follows) return std::nullopt;
    const Recording* most = nullptr;
    for (const auto& r : recordings)
        if (same_kind(*r, device, given) && (!most || count_symbols(*r) > count_symbols(*most)))
            most = r.get();
    if (!most) return std::nullopt;
    return generalised(most->specs, given);
}

// Null: the function does not work for symbols.
std::shared_ptr<const Recording> RecomputationEngine::Layer::record_symbols(const Device& device,
                                                                            const std::vector<Spec>& specs,
                                                                            const std::vector<Spec>& given)
{
    try {
        return record(device, specs, given);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::state && error.kind() != ErrorKind::shape &&
            error.kind() != ErrorKind::argument)
            throw;
        return nullptr;
    }
}

// `given`: the sizes that it is made for.  Where another thread has made one for them meanwhile, it is that.
std::shared_ptr<const Recording> RecomputationEngine::Layer::record(const Device& device,
                                                                    const std::vector<Spec>& specs,
                                                                    const std::vector<Spec>& given)
{
    RecordOptions there = options;
    there.device = device;
    const auto made =
        std::make_shared<const Recording>(Recording{device, specs, record_function(function, specs, there)});
    std::shared_ptr<const Recording> gone;
    const std::lock_guard lock(mutex);
    ++statistics.recordings;
    const auto other = std::find_if(recordings.begin(), recordings.end(), [&](const auto& r) {
        return same_kind(*r, device, given) && fits(*r, given) && count_symbols(*r) == count_symbols(*made);
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
    checkpointing::require_id(op, id);
    detail::require_function(op, function);
    auto layer = std::make_shared<Layer>();
    layer->function = std::move(function);
    layer->options = options_;
    layer->programs = programs_;
    const std::lock_guard lock(mutex_);
    if (!layers_.try_emplace(id, std::move(layer)).second) checkpointing::fail_registered(op, id);
}

bool RecomputationEngine::remove_function(const std::string& id)
{
    std::shared_ptr<Layer> gone;
    const std::lock_guard lock(mutex_);
    const auto found = layers_.find(id);
    if (found == layers_.end()) return false;
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
    const auto layer = find(id);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (!inputs[i].defined())
            detail::fail(ErrorKind::argument, op, "Input (", i, ") for the layer (", id,
                         ") is undefined: give it a value first.");
    return layer->recompute(inputs);
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
