// What CheckpointedGradientAccumulator has of its names.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <reprise/checkpointing/accumulator.hpp>
#include <reprise/error.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/program.hpp>

namespace reprise {

namespace checkpointing {

struct Type {
    explicit Type(const Tensor& t) : dtype(t.dtype()), shape(t.shape()), device(t.device()) {}

    DType dtype;
    Shape shape;
    Device device;
};

inline std::string describe(const Type& t)
{
    return std::string(name_of(t.dtype)) + to_string(t.shape) + " on " + t.device.name();
}

// What differs first; none: nothing does.
inline std::optional<ErrorKind> difference(const Type& a, const Type& b)
{
    if (a.dtype != b.dtype) return ErrorKind::dtype;
    if (!(a.device == b.device)) return ErrorKind::device;
    if (!same(a.shape, b.shape)) return ErrorKind::shape;
    return std::nullopt;
}

// State that programs may have, so it is made outside of them.
inline Variable zeros_of(const Type& type)
{
    const outside_recording eager;
    return Variable(zeros(type.shape, {.dtype = type.dtype, .device = type.device}), false);
}

} // namespace checkpointing

struct CheckpointedGradientAccumulator::Sum {
    explicit Sum(const checkpointing::Type& t) : type(t), value(checkpointing::zeros_of(t)) {}

    const checkpointing::Type type;
    Variable value; // what it holds counts where `count` is not 0; of a program's sum it is never another one
    std::int64_t count = 0;
    std::uint64_t changes = 0;
    std::weak_ptr<void> programs{}; // that have it as their state
};

// What a name had before a change, which is made without the lock.
struct CheckpointedGradientAccumulator::Before {
    std::shared_ptr<Sum> sum;
    bool is_new = false;
    Tensor value{};
    bool counts = false, in_program = false;
    std::uint64_t changes = 0;
};

// Programs have it, too: they count.  All members are called under the mutex.
struct CheckpointedGradientAccumulator::State {
    using Counts = std::map<std::string, std::int64_t>; // names that are not in it: 0

    Counts replace_counts(const Counts& by)
    {
        Counts before;
        for (auto& [name, sum] : sums) {
            const auto found = by.find(name);
            before[name] = std::exchange(sum->count, found == by.end() ? 0 : found->second);
            ++sum->changes;
        }
        return before;
    }
    // Null: there is none, or one of another type that nothing depends on.
    std::shared_ptr<Sum> sum_for(const std::string& name, const checkpointing::Type& type) const
    {
        const auto found = sums.find(name);
        if (found == sums.end()) return nullptr;
        const Sum& s = *found->second;
        const bool free = s.count == 0 && s.programs.expired();
        return free && difference(s.type, type) ? nullptr : found->second;
    }
    static void look(Before& b)
    {
        b.value = b.sum->value.detach().clone();
        b.counts = b.sum->count > 0;
        b.in_program = !b.sum->programs.expired();
        b.changes = b.sum->changes;
    }
    bool is_as(const Befores& all) const
    {
        return all.size() == sums.size() && std::all_of(all.begin(), all.end(), [&](const auto& entry) {
                   const auto found = sums.find(entry.first);
                   return found != sums.end() && found->second == entry.second.sum &&
                          found->second->changes == entry.second.changes;
               });
    }
    // While one of these lives, the sum is a program's.
    static std::shared_ptr<Sum> for_program(const std::shared_ptr<Sum>& sum)
    {
        auto owner = sum->programs.lock();
        if (!owner) {
            owner = std::make_shared<std::shared_ptr<Sum>>(sum);
            sum->programs = owner;
            ++sum->changes;
        }
        return {std::move(owner), sum.get()};
    }

    std::mutex mutex; // never held while anything is computed
    Sums sums;
};

} // namespace reprise
