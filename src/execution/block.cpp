#include "execution/block.hpp"

#include <algorithm>
#include <string>

#include <reprise/error.hpp>

namespace reprise::execution {

using device::Operand;

namespace {

constexpr std::uint32_t absent = 0xFFFFFFFF;

// Returns the names of a launch's ops for errors: "mul + sum" for "elementwise (%3 mul) + reduce (%4 sum)".
std::string ops_of(const std::string& label)
{
    std::string names;
    for (std::size_t at = label.find("(%"); at != label.npos; at = label.find("(%", at + 1)) {
        const std::size_t space = label.find(' ', at), end = label.find(')', at);
        if (space > end || end == label.npos) break;
        names += (names.empty() ? "" : " + ") + label.substr(space + 1, end - space - 1);
    }
    return names.empty() ? label : names;
}

} // namespace

std::size_t Block::bytes() const
{
    return (operands.size() + places.size()) * sizeof(Operand) + floats.size() * sizeof(double) +
           ints.size() * sizeof(std::int32_t) + groups.size() * sizeof(std::uint64_t);
}

BlockWriter::BlockWriter(const plan::Plan& plan, const device::Capabilities& capabilities,
                         shape::DimProgram& program)
    : capabilities_(capabilities)
{
    std::vector<std::vector<Use>> uses(plan.values.size());
    for (std::uint32_t i = 0; i < plan.launches.size(); ++i) {
        const plan::PlanLaunch& l = plan.launches[i];
        launches_.push_back({.operands = values_.size(),
                             .floats = floats_.size(),
                             .ints = ints_.size(),
                             .groups = program.add(l.groups),
                             .texels = l.texels,
                             .words = l.words,
                             .label = &l.label});
        if (l.fallback_of != plan::no_launch) launches_[l.fallback_of].fallback = i;
        add_operands(l, i, program, uses);
        add_floats(l, program);
        for (const Dim& d : l.ints) ints_.push_back(program.add(d));
        int_launches_.resize(ints_.size(), i);
    }
    launches_.push_back({.operands = values_.size(), .floats = floats_.size(), .ints = ints_.size()});
    for (const auto& of_value : uses) {
        first_use_.push_back(uses_.size());
        uses_.insert(uses_.end(), of_value.begin(), of_value.end());
    }
    first_use_.push_back(uses_.size());
}

void BlockWriter::add_operands(const plan::PlanLaunch& l, std::uint32_t launch, shape::DimProgram& program,
                               std::vector<std::vector<Use>>& uses)
{
    for (const plan::PlanOperand& o : l.operands) {
        if (!o.absent)
            uses[o.value].push_back({values_.size(), launch, program.add(o.offset),
                                     static_cast<std::uint32_t>(size_of(o.dtype))});
        values_.push_back(o.absent ? absent : o.value);
    }
}

void BlockWriter::add_floats(const plan::PlanLaunch& l, shape::DimProgram& program)
{
    for (const ops::Scalar& s : l.floats) {
        if (s.source) {
            const auto found = std::find(sources_.begin(), sources_.end(), s.source);
            host_scalar_uses_.push_back({floats_.size(), static_cast<std::size_t>(found - sources_.begin())});
            if (found == sources_.end()) sources_.push_back(s.source);
        }
        floats_.push_back({s.constant, program.add(s.factor)});
    }
}

void BlockWriter::set_counters(std::span<const shape::Slot> slots)
{
    const auto depends_on_counter = [&](shape::Slot s) {
        return std::find(slots.begin(), slots.end(), s) != slots.end();
    };
    for (std::size_t i = 0; i < ints_.size(); ++i)
        if (depends_on_counter(ints_[i])) counter_ints_.push_back(i);
    const bool wrong =
        std::any_of(uses_.begin(), uses_.end(), [&](const Use& u) { return depends_on_counter(u.offset); }) ||
        std::any_of(floats_.begin(), floats_.end(),
                    [&](const Float& f) { return depends_on_counter(f.factor); }) ||
        std::any_of(launches_.begin(), launches_.end() - 1,
                    [&](const Launch& l) { return depends_on_counter(l.groups); });
    if (wrong) detail::fail(ErrorKind::internal, "program", "A size of a launch depends on a counter.");
}

// Returns an int of a launch.  Kernels' ints have 32 bits; the words of 64-bit counters are unsigned.  Ints of a launch
// without workgroups are not checked, as another launch runs in its place.
std::int32_t BlockWriter::int_at(std::size_t i, Values values) const
{
    const Launch& launch = launches_[int_launches_[i]];
    const std::int64_t v = values[ints_[i]], limit = std::int64_t{1} << 31;
    if ((v < -limit || v >= (launch.words ? 2 * limit : limit)) && values[launch.groups] > 0)
        detail::fail(ErrorKind::unsupported, ops_of(*launch.label).c_str(), "A size or stride (", v,
                     ") does not fit 32 bits: use smaller tensors.");
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(v));
}

Block BlockWriter::fill(Values values) const
{
    Block b;
    b.operands.resize(values_.size());
    b.floats.reserve(floats_.size());
    for (const Float& f : floats_) b.floats.push_back(f.constant * static_cast<double>(values[f.factor]));
    b.ints.reserve(ints_.size());
    for (std::size_t i = 0; i < ints_.size(); ++i) b.ints.push_back(int_at(i, values));
    const std::size_t launches = launches_.size() - 1;
    b.on.assign(launches, true);
    b.groups.reserve(launches);
    for (std::size_t i = 0; i < launches; ++i) {
        b.groups.push_back(
            static_cast<std::uint64_t>(std::max<std::int64_t>(values[launches_[i].groups], 0)));
        if (launches_[i].fallback != plan::no_launch) b.on[launches_[i].fallback] = false;
    }
    b.places.resize(first_use_.size() - 1);
    b.reachable.assign(b.places.size(), true);
    return b;
}

std::span<const std::uint32_t> BlockWriter::values_of(std::size_t launch) const
{
    return std::span(values_).subspan(launches_[launch].operands,
                                      launches_[launch + 1].operands - launches_[launch].operands);
}

bool BlockWriter::in_reach(const Operand& o) const
{
    const device::Capabilities& c = capabilities_;
    if (o.bytes == 0) return true;
    if (!c.window_bytes) return false;
    if (o.address < c.slab_address || o.address + o.bytes > c.slab_address + c.slab_bytes) return false;
    const std::uint64_t first = o.address - c.slab_address;
    return first / c.window_bytes == (first + o.bytes - 1) / c.window_bytes;
}

void BlockWriter::choose_variant(Block& b, std::uint32_t launch) const
{
    const auto operands = values_of(launch);
    const bool on = std::all_of(operands.begin(), operands.end(),
                                [&](std::uint32_t v) { return v == absent || b.reachable[v]; });
    b.on[launch] = on;
    if (launches_[launch].fallback != plan::no_launch) b.on[launches_[launch].fallback] = !on;
}

void BlockWriter::place(Block& b, Values values, std::uint32_t value, const Operand& at) const
{
    if (b.places[value] == at) return;
    b.places[value] = at;
    const auto uses = std::span(uses_).subspan(first_use_[value], first_use_[value + 1] - first_use_[value]);
    for (const Use& u : uses) {
        const auto skipped = static_cast<std::uint64_t>(values[u.offset]) * u.element_bytes;
        if (at.bytes > skipped) b.operands[u.operand] = {at.address + skipped, at.bytes - skipped};
        else b.operands[u.operand] = {at.address, 0}; // an empty view, whose offset may be out of range
    }
    if (const bool reachable = in_reach(at); reachable != b.reachable[value]) {
        b.reachable[value] = reachable;
        for (const Use& u : uses)
            if (launches_[u.launch].texels) choose_variant(b, u.launch);
    }
}

void BlockWriter::write_counters(Block& b, Values values) const
{
    for (const std::size_t i : counter_ints_) b.ints[i] = int_at(i, values);
}

void BlockWriter::write_numbers(Block& b, Values values, std::span<const double> numbers) const
{
    for (const HostScalarUse& a : host_scalar_uses_) {
        const Float& f = floats_[a.number];
        b.floats[a.number] = f.constant * numbers[a.source] * static_cast<double>(values[f.factor]);
    }
}

void BlockWriter::query_host_scalars(std::vector<double>& numbers) const
{
    numbers.clear();
    for (const auto& s : sources_) numbers.push_back(s->value());
}

device::LaunchArguments BlockWriter::arguments(const Block& b, std::size_t launch) const
{
    const Launch &l = launches_[launch], &next = launches_[launch + 1];
    return {.operands = std::span(b.operands).subspan(l.operands, next.operands - l.operands),
            .floats = std::span(b.floats).subspan(l.floats, next.floats - l.floats),
            .ints = std::span(b.ints).subspan(l.ints, next.ints - l.ints),
            .groups = b.on[launch] ? b.groups[launch] : 0};
}

} // namespace reprise::execution
