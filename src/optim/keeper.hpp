// Serializes a schedule's state: one list of entries, its keep(), serves for saving, checking and loading.
#pragma once
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <reprise/optim/lr_scheduler.hpp>

#include "optim/numbers.hpp"

namespace reprise::optim {

class LRScheduler::Keeper {
public:
    template <class Keep> static StateDict save(const Keep& keep)
    {
        Keeper keeper(Mode::save, {});
        keep(keeper);
        return std::move(keeper.entries_);
    }
    // Checks all entries before it assigns the first one.
    template <class Keep> static void load(const StateDict& entries, const Keep& keep)
    {
        Keeper check(Mode::check, entries);
        keep(check);
        for (const auto& entry : entries)
            if (!check.seen_.contains(entry.first))
                detail::fail(ErrorKind::argument, "load_state_dict", "The entry (", entry.first,
                             ") is not known to this schedule: the state is of another one.");
        Keeper load(Mode::load, entries);
        keep(load);
    }

    void operator()(const char* name, std::vector<double>& values)
    {
        const std::string key = prefix_ + name;
        if (mode_ == Mode::save) {
            entries_[key] = halves_of(values);
            return;
        }
        const auto found = entries_.find(key);
        const auto numbers = found == entries_.end() ? std::nullopt : numbers_of(found->second);
        if (!numbers || numbers->size() != values.size())
            detail::fail(ErrorKind::argument, "load_state_dict", "The entry (", key,
                         ") is missing or does not hold ", values.size(), " numbers.");
        seen_.insert(key);
        if (mode_ == Mode::load) values = *numbers;
    }
    void operator()(const char* name, double& value)
    {
        std::vector<double> one{value};
        (*this)(name, one);
        value = one[0];
    }
    void operator()(const char* name, std::int64_t& value)
    {
        auto number = static_cast<double>(value);
        (*this)(name, number);
        value = std::llround(number);
    }
    void operator()(const Schedulers& parts)
    {
        const std::string outer = prefix_;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            prefix_ = outer + "_schedulers." + std::to_string(i) + ".";
            parts[i]->keep(*this);
        }
        prefix_ = outer;
    }

private:
    enum class Mode { save, check, load };
    Keeper(Mode mode, StateDict entries) : mode_(mode), entries_(std::move(entries)) {}
    Mode mode_;
    StateDict entries_;
    std::string prefix_;
    std::set<std::string> seen_;
};

} // namespace reprise::optim
