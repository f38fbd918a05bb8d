// Saves an optimizer's state as named tensors, and loads it.
#include <set>

#include <reprise/io.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/optim/optimizer.hpp>
#include <reprise/program.hpp>

#include "optim/numbers.hpp"
#include "optim/state_parts.hpp"

namespace reprise::optim {

namespace {

constexpr const char* op = "load_state_dict";

template <class... Parts> [[noreturn]] void refuse(const Parts&... parts)
{
    detail::fail(ErrorKind::argument, op, parts...);
}

double number_in(const std::string& name, const Tensor& entry)
{
    const auto numbers = numbers_of(entry);
    if (!numbers || numbers->size() != 1)
        refuse("The entry (", name, ") must be one number: the halves of its bits of dtype i32, or one f32.");
    return numbers->front();
}

// Runs a check of the optimizer's numbers, whose errors then name load_state_dict.
template <class F> void of_state(const F& check)
{
    try {
        check();
    } catch (const Error& e) {
        throw Error(e.kind(), std::string("[") + op + "] " + e.what());
    }
}

std::string prefix_of(std::size_t group) { return "param_groups." + std::to_string(group) + "."; }

const Tensor* find(const StateDict& values, const std::string& name)
{
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
}

} // namespace

StateDict Optimizer::state_dict() const
{
    StateDict out;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        const Group& group = groups_[g];
        const std::string prefix = prefix_of(g);
        std::vector<std::int32_t> indices;
        for (std::size_t i = 0; i < group.count; ++i)
            indices.push_back(static_cast<std::int32_t>(group.first + i));
        out.emplace(prefix + "params", from_vector(indices, {static_cast<long long>(indices.size())}));
        for (std::size_t n = 0; n < rule_.options.size(); ++n)
            out.emplace(prefix + rule_.options[n].name, halves_of({(*group.values)[n]}));
        if (group.initial_lr) out.emplace(prefix + "initial_lr", halves_of({*group.initial_lr}));
        const std::vector<std::int64_t> steps = made(group);
        for (std::size_t i = group.first; i < group.first + group.count; ++i) {
            const std::int64_t step = steps[i - group.first];
            if (step == 0) continue;
            const std::string name = std::to_string(i) + ".";
            out.emplace(name + "step",
                        from_vector(std::vector<std::int32_t>{static_cast<std::int32_t>(step)}, {1}));
            const auto initial = initial_state(group, i);
            for (std::size_t m = 0; m < moments_[i].size(); ++m)
                out.emplace(name + initial[m].first, moments_[i][m].detach());
        }
    }
    return out;
}

// The contents of a state, after all checks, on the parameters' devices.
struct Optimizer::Loaded {
    struct Parameter {
        std::int64_t step = 0;
        std::vector<Tensor> moments;
    };
    std::vector<std::vector<double>> values; // by group
    std::vector<std::optional<double>> initial_lr;
    std::vector<Parameter> parameters;
};

void Optimizer::read_group(const StateDict& entries, std::size_t g, Loaded& out) const
{
    const Group& group = groups_[g];
    const std::string prefix = prefix_of(g);
    const Tensor* params = find(entries, prefix + "params");
    if (!params || !params->defined() || params->dtype() != i32 ||
        params->numel().value() != static_cast<std::int64_t>(group.count))
        refuse("The entry (", prefix, "params) is missing or has not the ", group.count,
               " parameters of the group: the state is of another optimizer.");
    std::vector<double> values;
    for (std::size_t n = 0; n < rule_.options.size(); ++n) {
        const std::string name = prefix + rule_.options[n].name;
        const Tensor* found = find(entries, name);
        if (!found) refuse("The entry (", name, ") is missing: the state is of another kind.");
        values.push_back(number_in(name, *found));
        of_state([&] { check_change(n, (*group.values)[n], values.back()); });
    }
    out.values.push_back(std::move(values));
    const Tensor* initial = find(entries, prefix + "initial_lr");
    out.initial_lr.push_back(initial ? std::optional(number_in(prefix + "initial_lr", *initial))
                                     : std::nullopt);
    if (initial) of_state([&] { check_option(0, *out.initial_lr.back()); });
}

void Optimizer::read_parameter(const StateDict& entries, const Group& group, std::size_t index,
                               Loaded& out) const
{
    const std::string prefix = std::to_string(index) + ".";
    Loaded::Parameter& to = out.parameters[index];
    const Tensor* step = find(entries, prefix + "step");
    if (step) {
        if (!step->defined() || step->dtype() != i32 || step->numel().value() != 1 ||
            step->item<std::int32_t>() < 1)
            refuse("The entry (", prefix, "step) must be one number of dtype i32, at least 1.");
        to.step = step->item<std::int32_t>();
    }
    const Variable& own = parameters_[index];
    for (const auto& [moment, initial] : initial_state(group, index)) {
        const std::string name = prefix + moment;
        const Shape& shape = initial.shape();
        const std::optional<Tensor> value = whole_entry(entries, name, shape);
        const DType dtype = initial.dtype();
        const bool may_be_missing = moment == "master_param"; // the next step makes it of the parameter
        if (value.has_value() != (step != nullptr) && !may_be_missing)
            refuse("The entries (", prefix, "step) and (", name, ") belong together, but one is missing.");
        if (!value) {
            to.moments.push_back(initial);
            continue;
        }
        if (!value->defined() || to_string(value->shape()) != to_string(shape))
            detail::fail(ErrorKind::shape, op, "The entry (", name, ") has the shape ",
                         value->defined() ? to_string(value->shape()) : "of an undefined tensor",
                         " but should have ", to_string(shape), ".");
        if (value->dtype() != dtype)
            detail::fail(ErrorKind::dtype, op, "The entry (", name, ") has the dtype ",
                         name_of(value->dtype()), " but should have ", name_of(dtype),
                         ": give the optimizer the `precision` with which it was saved.");
        to.moments.push_back(value->device() == own.device()
                                 ? value->detach()
                                 : from_bytes(to_bytes(*value), value->shape(),
                                              {.dtype = value->dtype(), .device = own.device()}));
    }
}

Optimizer::Loaded Optimizer::read(const StateDict& entries) const
{
    Loaded out;
    out.parameters.resize(parameters_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        read_group(entries, g, out);
        for (std::size_t i = groups_[g].first; i < groups_[g].first + groups_[g].count; ++i)
            read_parameter(entries, groups_[g], i, out);
    }
    check_names(entries);
    return out;
}

void Optimizer::check_names(const StateDict& entries) const
{
    std::set<std::string> names, moments; // moments may be in parts
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        for (const char* name : {"params", "initial_lr"}) names.insert(prefix_of(g) + name);
        for (const GroupNumber& o : rule_.options) names.insert(prefix_of(g) + o.name);
        for (std::size_t i = groups_[g].first; i < groups_[g].first + groups_[g].count; ++i) {
            names.insert(std::to_string(i) + ".step");
            for (const auto& entry : initial_state(groups_[g], i))
                moments.insert(std::to_string(i) + "." + entry.first);
        }
    }
    for (const auto& entry : entries)
        if (!names.contains(entry.first) && !moments.contains(without_part(entry.first)))
            refuse("The entry (", entry.first, ") is not known to this optimizer of ", parameters_.size(),
                   " parameters in ", groups_.size(), " groups: the state is of another one.");
}

void Optimizer::load_state_dict(const StateDict& entries)
{
    if (is_recording())
        detail::fail(ErrorKind::state, op,
                     "State can't be loaded while a program is recorded: load it before.");
    const Loaded loaded = read(entries);
    for (std::size_t g = 0; g < groups_.size(); ++g) { // in place: programs refer to these objects
        *groups_[g].values = loaded.values[g];
        groups_[g].initial_lr = loaded.initial_lr[g];
        std::vector<std::int64_t> steps;
        for (std::size_t i = groups_[g].first; i < groups_[g].first + groups_[g].count; ++i) {
            const Loaded::Parameter& from = loaded.parameters[i];
            if (from.step > 0) make_moments(groups_[g], i);
            steps.push_back(from.step);
            for (std::size_t m = 0; m < moments_[i].size(); ++m) moments_[i][m].assign(from.moments[m]);
        }
        set_made(groups_[g], steps);
    }
}

} // namespace reprise::optim
