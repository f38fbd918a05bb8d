// The sums that CheckpointedGradientAccumulator stores by name.
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

// Returns the kind of the first difference; nullopt if there is none.
inline std::optional<ErrorKind> difference(const Type& a, const Type& b)
{
    if (a.dtype != b.dtype) return ErrorKind::dtype;
    if (!(a.device == b.device)) return ErrorKind::device;
    if (!same(a.shape, b.shape)) return ErrorKind::shape;
    return std::nullopt;
}

// Creates a zero sum. It may become state of a program, so it is created outside of the recording.
inline Variable zeros_of(const Type& type)
{
    const outside_recording eager;
    return Variable(zeros(type.shape, {.dtype = type.dtype, .device = type.device}), false);
}

} // namespace checkpointing

struct CheckpointedGradientAccumulator::Sum {
    explicit Sum(const checkpointing::Type& t) : type(t), value(checkpointing::zeros_of(t)) {}

    const checkpointing::Type type;
    Variable value; // valid if `count` is not 0; never replaced once a program uses it
    std::int64_t count = 0;
    std::uint64_t changes = 0;
    std::weak_ptr<void> programs{}; // expired if no program has the sum as state
};

// A snapshot of a name's sum, from which a new sum is computed without the lock.
struct CheckpointedGradientAccumulator::Before {
    std::shared_ptr<Sum> sum;
    bool is_new = false;
    Tensor value{};
    bool counts = false, in_program = false;
    std::uint64_t changes = 0;
};

// Shared with programs, which count their calls in it. All members are called with the mutex locked.
struct CheckpointedGradientAccumulator::State {
    using Counts = std::map<std::string, std::int64_t>; // 0 for absent names

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
    // Returns null if there is no sum, or an unused one of another type.
    std::shared_ptr<Sum> sum_for(const std::string& name, const checkpointing::Type& type) const
    {
        const auto found = sums.find(name);
        if (found == sums.end()) return nullptr;
        const Sum& s = *found->second;
        const bool free = s.count == 0 && s.programs.expired();
        return free && difference(s.type, type) ? nullptr : found->second;
    }
    static void take_snapshot(Before& b)
    {
        b.value = b.sum->value.detach().clone();
        b.counts = b.sum->count > 0;
        b.in_program = !b.sum->programs.expired();
        b.changes = b.sum->changes;
    }
    bool is_unchanged(const Befores& all) const
    {
        return all.size() == sums.size() && std::all_of(all.begin(), all.end(), [&](const auto& entry) {
                   const auto found = sums.find(entry.first);
                   return found != sums.end() && found->second == entry.second.sum &&
                          found->second->changes == entry.second.changes;
               });
    }
    // Returns a handle; while one exists, the sum counts as used by a program.
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
