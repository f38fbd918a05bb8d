#include <reprise/checkpointing/manager.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <reprise/checkpointing/context.hpp>
#include <reprise/memory.hpp>

#include "checkpointing/checks.hpp"
#include "checkpointing/kept.hpp"

namespace reprise {

using checkpointing::Kept;
using Strategy = CheckpointConfig::Strategy;

namespace {

constexpr const char* op = "CheckpointManager";

// Stores values only, so that they keep no tape alive.
std::shared_ptr<Kept> values_of(const std::vector<Tensor>& tensors)
{
    std::vector<Tensor> values;
    for (const Tensor& t : tensors) values.push_back(t.defined() ? t.detach().clone() : t);
    return std::make_shared<Kept>(std::move(values));
}

std::uint64_t bytes_of(const std::vector<Tensor>& tensors)
{
    std::uint64_t sum = 0;
    for (const Tensor& t : tensors)
        if (t.defined() && t.numel().is_constant())
            sum += static_cast<std::uint64_t>(t.numel().value()) * size_of(t.dtype());
    return sum;
}

} // namespace

CheckpointManager::CheckpointManager(CheckpointConfig config) : config_(std::move(config))
{
    checkpointing::check(op, config_);
}
CheckpointManager::~CheckpointManager() = default;

// ---- layers ----

std::vector<CheckpointManager::Layer>::const_iterator CheckpointManager::find(const std::string& id) const
{
    return std::find_if(layers_.begin(), layers_.end(), [&](const Layer& l) { return l.id == id; });
}

std::size_t CheckpointManager::index_of(const std::string& id) const
{
    const auto found = find(id);
    if (found != layers_.end()) return static_cast<std::size_t>(found - layers_.begin());
    std::vector<std::string> ids;
    for (const Layer& l : layers_) ids.push_back(l.id);
    checkpointing::fail_unknown(op, id, ids);
}

void CheckpointManager::register_layer(const std::string& id, std::optional<std::uint64_t> bytes)
{
    add_layer(id, bytes);
}

std::uint64_t CheckpointManager::add_layer(const std::string& id, std::optional<std::uint64_t> bytes)
{
    checkpointing::require_id(op, id);
    const std::lock_guard lock(mutex_);
    if (find(id) != layers_.end()) checkpointing::fail_registered(op, id);
    layers_.push_back(
        {.id = id, .number = ++registered_, .given = bytes, .measured = {}, .kept = {}, .own = {}});
    return registered_;
}

bool CheckpointManager::remove_layer(const std::string& id) { return remove_layer(id, std::nullopt); }

bool CheckpointManager::remove_layer(const std::string& id, std::optional<std::uint64_t> number)
{
    std::shared_ptr<Kept> kept;
    {
        const std::lock_guard lock(mutex_);
        const auto found = find(id);
        if (found == layers_.end() || (number && found->number != *number)) return false;
        kept = found->kept.lock();
        layers_.erase(found);
    }
    if (kept) kept->release();
    return true;
}

bool CheckpointManager::contains(const std::string& id) const
{
    const std::lock_guard lock(mutex_);
    return find(id) != layers_.end();
}

std::vector<std::string> CheckpointManager::layers() const
{
    const std::lock_guard lock(mutex_);
    std::vector<std::string> ids;
    for (const Layer& l : layers_) ids.push_back(l.id);
    return ids;
}

std::optional<std::uint64_t> CheckpointManager::bytes(const std::string& id) const
{
    const std::lock_guard lock(mutex_);
    return layers_[index_of(id)].bytes();
}

void CheckpointManager::measure(const Device& device)
{
    const auto saved = MemoryTracker(device).saved_by_layer();
    const std::lock_guard lock(mutex_);
    for (Layer& l : layers_)
        if (const auto found = saved.find(l.id); found != saved.end() && found->second > 0)
            l.measured = found->second;
}

// ---- which are checkpoints ----

CheckpointConfig CheckpointManager::config() const
{
    const std::lock_guard lock(mutex_);
    return config_;
}

void CheckpointManager::set_config(CheckpointConfig config)
{
    checkpointing::check(op, config);
    const std::lock_guard lock(mutex_);
    config_ = std::move(config);
}

bool CheckpointManager::should_checkpoint(const std::string& id) const
{
    return checkpoint_options(id).has_value();
}

std::optional<CheckpointOptions> CheckpointManager::checkpoint_options(const std::string& id) const
{
    const auto of_context = CheckpointContext::current();
    const std::lock_guard lock(mutex_);
    const CheckpointConfig& config = of_context ? *of_context : config_;
    if (!chooses(config, index_of(id))) return std::nullopt;
    return CheckpointOptions{.policy = config.policy, .layer = id};
}

bool CheckpointManager::chooses(const CheckpointConfig& config, std::size_t layer) const
{
    const Layer& l = layers_[layer];
    if (config.strategy != Strategy::none && config.layers.contains(l.id)) return true;
    switch (config.strategy) {
    case Strategy::none:
    case Strategy::selective: return false;
    case Strategy::all: return true;
    case Strategy::every_kth: return layer % config.every == 0;
    case Strategy::by_size: return !l.bytes() || *l.bytes() > config.bytes;
    case Strategy::by_budget: return !within_budget(config, layer);
    }
    detail::fail(ErrorKind::argument, op, "There is no strategy (", static_cast<int>(config.strategy), ").");
}

// Returns whether this layer and all later ones together save at most the budget in bytes.
bool CheckpointManager::within_budget(const CheckpointConfig& config, std::size_t layer) const
{
    if (!layers_[layer].bytes()) return false;
    std::uint64_t saved = 0; // bytes of this layer and the later ones
    for (std::size_t i = layer; i < layers_.size(); ++i)
        if (!config.layers.contains(layers_[i].id)) saved += layers_[i].bytes().value_or(0);
    return saved <= config.bytes;
}

// ---- stored tensors ----

void CheckpointManager::keep(const std::string& id, const std::vector<Tensor>& tensors)
{
    for (std::size_t i = 0; i < tensors.size(); ++i)
        if (!tensors[i].defined())
            detail::fail(ErrorKind::argument, op, "Tensor (", i, ") for the layer (", id,
                         ") is undefined: give it a value first.");
    replace(id, values_of(tensors), true);
}

std::shared_ptr<Kept> CheckpointManager::lend(const std::string& id, const std::vector<Tensor>& inputs)
{
    auto kept = values_of(inputs);
    replace(id, kept, false);
    return kept;
}

// Replaces the tensors that a layer stores and releases the previous ones, whoever owns them.
void CheckpointManager::replace(const std::string& id, const std::shared_ptr<Kept>& by, bool owns)
{
    std::shared_ptr<Kept> before;
    {
        const std::lock_guard lock(mutex_);
        Layer& l = layers_[index_of(id)];
        before = l.kept.lock();
        l.kept = by;
        l.own = owns ? by : nullptr;
    }
    if (before) before->release();
}

std::vector<Tensor> CheckpointManager::retrieve(const std::string& id) const
{
    if (const auto kept = kept_by(id))
        if (auto tensors = kept->tensors()) return *std::move(tensors);
    detail::fail(ErrorKind::state, op, "The layer (", id,
                 ") keeps nothing: call keep(), or make it with keep_inputs and ask between a call that is a "
                 "checkpoint "
                 "and its backward pass.");
}

void CheckpointManager::release(const std::string& id)
{
    if (const auto kept = kept_by(id)) kept->release();
}

void CheckpointManager::clear()
{
    for (const auto& kept : all_kept()) kept->release();
}

std::shared_ptr<Kept> CheckpointManager::kept_by(const std::string& id) const
{
    const std::lock_guard lock(mutex_);
    return layers_[index_of(id)].kept.lock();
}

std::vector<std::shared_ptr<Kept>> CheckpointManager::all_kept() const
{
    std::vector<std::shared_ptr<Kept>> all;
    const std::lock_guard lock(mutex_);
    for (const Layer& l : layers_)
        if (auto kept = l.kept.lock()) all.push_back(std::move(kept));
    return all;
}

void CheckpointManager::count_call(bool checkpointed)
{
    const std::lock_guard lock(mutex_);
    ++(checkpointed ? checkpointed_ : plain_);
}

CheckpointStatistics CheckpointManager::statistics(const Device& device) const
{
    CheckpointStatistics out;
    std::set<std::string> ids;
    {
        const std::lock_guard lock(mutex_);
        out.layers = layers_.size();
        out.checkpointed = checkpointed_;
        out.plain = plain_;
        for (const Layer& l : layers_) ids.insert(l.id);
    }
    for (const auto& kept : all_kept())
        if (const auto tensors = kept->tensors()) {
            ++out.keeping;
            out.bytes_kept += bytes_of(*tensors);
        }
    for (const auto& [layer, bytes] : MemoryTracker(device).saved_by_layer())
        if (ids.contains(layer)) out.bytes_saved += bytes;
    return out;
}

} // namespace reprise
