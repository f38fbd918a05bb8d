#include <reprise/train/early_stopping.hpp>

#include <cmath>
#include <limits>

#include <reprise/device.hpp>
#include <reprise/error.hpp>
#include <reprise/ops/creation.hpp>

namespace reprise::train {

using detail::fail;

namespace {

constexpr const char *op = "EarlyStopping", *best_key = "best", *bad_key = "bad_values", *seen_key = "values";

template <class T> Tensor one(T value)
{
    return from_vector(std::vector{value}, {1}, {.device = Device("reference")});
}

template <class T> T entry(const std::map<std::string, Tensor>& state, const char* name, DType dtype)
{
    const auto found = state.find(name);
    if (found == state.end() || !found->second.defined() || found->second.dtype() != dtype ||
        found->second.numel().value() != 1)
        fail(ErrorKind::argument, op, "The state must have the entry (", name, "), one number of dtype ",
             name_of(dtype), ".");
    return found->second.item<T>();
}

} // namespace

EarlyStopping::EarlyStopping(const Options& options)
    : options_(options), best_(std::numeric_limits<double>::quiet_NaN())
{
    if (options.patience < 1)
        fail(ErrorKind::argument, op, "The patience (", options.patience, ") must be at least 1.");
    if (!(options.min_delta >= 0) || std::isinf(options.min_delta))
        fail(ErrorKind::argument, op, "The min_delta (", options.min_delta,
             ") must be at least 0 and finite.");
}

bool EarlyStopping::step(double value)
{
    ++seen_;
    const double gain = options_.higher_is_better ? value - best_ : best_ - value;
    const bool is_first = std::isnan(best_) && !std::isnan(value);
    if (is_first || gain > options_.min_delta) {
        best_ = value;
        bad_ = 0;
    } else {
        ++bad_;
    }
    return should_stop();
}

std::map<std::string, Tensor> EarlyStopping::state_dict() const
{
    return {{best_key, one(best_)}, {bad_key, one(bad_)}, {seen_key, one(seen_)}};
}

void EarlyStopping::load_state_dict(const std::map<std::string, Tensor>& state)
{
    if (state.size() != 3)
        fail(ErrorKind::argument, op, "The state has (", state.size(), ") entries, not (3).");
    const auto best = entry<double>(state, best_key, f64);
    const auto bad = entry<std::int64_t>(state, bad_key, i64),
               seen = entry<std::int64_t>(state, seen_key, i64);
    if (bad < 0 || seen < bad)
        fail(ErrorKind::argument, op, "The state has (", bad, ") of (", seen, ") values after the best one.");
    best_ = best;
    bad_ = bad;
    seen_ = seen;
}

} // namespace reprise::train
