#include "program/executable.hpp"

#include <algorithm>

#include <reprise/error.hpp>

#include "plan/verify.hpp"

namespace reprise::program {

using device::Operand;
using plan::Place;

namespace {

constexpr std::int64_t typical_size = 64; // of a symbol, when the placing order is searched
constexpr std::size_t most_known_sizes = 4096;
#ifdef NDEBUG
constexpr bool debug_build = false;
#else
constexpr bool debug_build = true;
#endif

// Kernels' ints have 32 bits; words of 64-bit counters come as unsigned ones.
std::int32_t as_int(std::int64_t v, const plan::PlanLaunch& launch)
{
    const std::int64_t limit = std::int64_t{1} << 31;
    if (v < -limit || v >= (launch.words ? 2 * limit : limit))
        detail::fail(ErrorKind::unsupported, launch.kernel.name.c_str(), "A size or stride (", v,
                     ") does not fit 32 bits: use smaller tensors.");
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(v));
}

} // namespace

Executable::Executable(plan::Compiled compiled, std::shared_ptr<device::Device> device)
    : compiled_(std::move(compiled)), device_(std::move(device))
{
    compile_expressions();
    find_placement();
}

void Executable::compile_expressions()
{
    for (const plan::PlanValue& v : compiled_.plan.values) elements_.push_back(program_.add(v.elements));
    for (const plan::PlanLaunch& l : compiled_.plan.launches) {
        LaunchSlots& s = slots_.emplace_back();
        for (const Dim& d : l.ints) s.ints.push_back(program_.add(d));
        for (const ops::Scalar& f : l.floats) s.factors.push_back(program_.add(f.factor));
        for (const plan::PlanOperand& o : l.operands) s.offsets.push_back(program_.add(o.offset));
        s.groups = program_.add(l.groups);
    }
    for (const plan::Result& r : compiled_.results) {
        for (const Dim& d : r.view.layout.strides) program_.add(d);
        program_.add(r.view.layout.offset);
    }
}

void Executable::find_placement()
{
    std::vector<std::uint64_t> bytes(compiled_.plan.values.size(), 0);
    std::vector<std::int64_t> values;
    try {
        program_.evaluate(program_.legal_values(typical_size), values);
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::uint64_t>(std::max<std::int64_t>(values[elements_[i]], 0)) *
                       size_of(compiled_.plan.values[i].dtype);
    } catch (const Error&) { // the typical size is not legal here: the order is then by lifetimes
    }
    placement_ = std::make_unique<plan::Placement>(compiled_.plan, bytes);
}

Executable::Sized Executable::sized(const std::vector<std::int64_t>& symbols) const
{
    Sized s;
    program_.evaluate(symbols, s.values);
    s.bytes.resize(compiled_.plan.values.size());
    for (std::size_t i = 0; i < s.bytes.size(); ++i)
        s.bytes[i] =
            static_cast<std::uint64_t>(s.values[elements_[i]]) * size_of(compiled_.plan.values[i].dtype);
    s.arena = placement_->fill(s.bytes, 0, 0, s.offsets);
    // Values without elements have an address too: a driver may load from it ahead of the loop that does not run.
    if (s.arena == 0 && !placement_->order().empty()) s.arena = plan::arena_alignment;
    return s;
}

const Executable::Sized& Executable::at(const std::vector<std::int64_t>& symbols)
{
    last_ = symbols;
    std::vector<std::int64_t> sizes = symbols;
    for (std::size_t i : counters_) sizes[i] = 0;
    auto found = known_.find(sizes);
    if (found == known_.end()) {
        if (known_.size() >= most_known_sizes) known_.clear();
        found = known_.emplace(std::move(sizes), sized(symbols)).first;
    } else if (!counters_.empty()) {
        program_.evaluate(symbols, found->second.values);
    }
    provide_arena(found->second);
    return found->second;
}

void Executable::set_counters(const std::vector<std::uint32_t>& ids)
{
    for (std::size_t i = 0; i < symbols().size(); ++i)
        if (std::find(ids.begin(), ids.end(), symbols()[i]) != ids.end()) counters_.push_back(i);
}

// The arena grows to the largest size asked for.  A range of up to a window never crosses a window's edge
// (device.hpp); a larger arena is placed around the edges once its address is known.
void Executable::provide_arena(Sized& s)
{
    const std::uint64_t window = device_->capabilities().window_bytes;
    for (std::uint64_t need = s.arena; need > 0;) {
        if (!arena_ || arena_->bytes < need) {
            arena_.reset();
            arena_ = device_->allocate(need);
        }
        if (!window || s.arena <= window) return;
        need = s.arena = placement_->fill(s.bytes, arena_->address - device_->capabilities().slab_address,
                                          window, s.offsets);
        if (need <= arena_->bytes) return;
    }
}

std::vector<Operand> Executable::addresses(const Sized& s, const Call& call, Outcome& outcome)
{
    const auto& values = compiled_.plan.values;
    std::vector<Operand> out(values.size());
    outcome.outputs.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].place == Place::external) out[i] = call.externals[values[i].slot];
        else if (values[i].place == Place::output) {
            outcome.outputs[i] = device_->allocate(std::max<std::uint64_t>(s.bytes[i], 16));
            out[i] = {outcome.outputs[i]->address, s.bytes[i]};
        } else if (arena_) out[i] = {arena_->address + s.offsets[i], s.bytes[i]};
    }
    return out;
}

bool Executable::in_texel_reach(const Operand& o) const
{
    const device::Capabilities& c = device_->capabilities();
    if (o.bytes == 0) return true;
    if (o.address < c.slab_address || o.address + o.bytes > c.slab_address + c.slab_bytes) return false;
    const std::uint64_t first = o.address - c.slab_address;
    return first / c.window_bytes == (first + o.bytes - 1) / c.window_bytes;
}

bool Executable::enabled(std::size_t launch, const std::vector<Operand>& values) const
{
    const plan::PlanLaunch& l = compiled_.plan.launches[launch];
    if (l.fallback_of != plan::no_launch) return !enabled(l.fallback_of, values);
    if (!l.texels) return true;
    return std::all_of(l.operands.begin(), l.operands.end(), [&](const plan::PlanOperand& o) {
        return o.absent || in_texel_reach(values[o.value]);
    });
}

std::map<const graph::HostScalar*, double> Executable::ask() const
{
    std::map<const graph::HostScalar*, double> numbers;
    for (const plan::PlanLaunch& l : compiled_.plan.launches)
        for (const ops::Scalar& f : l.floats)
            if (f.source && !numbers.count(f.source.get())) numbers[f.source.get()] = f.source->value();
    return numbers;
}

double Executable::number(const ops::Scalar& scalar, shape::Slot factor, const Sized& s,
                          const Call& call) const
{
    double v = scalar.constant;
    if (scalar.source) v *= call.numbers.at(scalar.source.get());
    return v * static_cast<double>(s.values[factor]);
}

void Executable::write(device::Recording& recording, std::uint32_t at, std::size_t launch, const Sized& s,
                       const Call& call, const std::vector<Operand>& values, bool on)
{
    const plan::PlanLaunch& l = compiled_.plan.launches[launch];
    const LaunchSlots& slots = slots_[launch];
    operands_.clear();
    floats_.clear();
    ints_.clear();
    for (std::size_t i = 0; i < l.operands.size(); ++i) {
        const plan::PlanOperand& o = l.operands[i];
        if (o.absent) {
            operands_.push_back({});
            continue;
        }
        Operand v = values[o.value];
        const auto skipped = static_cast<std::uint64_t>(s.values[slots.offsets[i]]) * size_of(o.dtype);
        if (v.bytes > skipped) operands_.push_back({v.address + skipped, v.bytes - skipped});
        else operands_.push_back({v.address, 0}); // an empty view, wherever it begins
    }
    for (std::size_t i = 0; i < l.floats.size(); ++i)
        floats_.push_back(number(l.floats[i], slots.factors[i], s, call));
    for (shape::Slot i : slots.ints) ints_.push_back(as_int(s.values[i], l));
    const auto groups =
        on ? static_cast<std::uint64_t>(std::max<std::int64_t>(s.values[slots.groups], 0)) : 0;
    recording.set(at, {operands_, floats_, ints_, groups});
}

device::LaunchDeclaration Executable::declaration(const plan::PlanLaunch& l) const
{
    device::LaunchDeclaration d{.kernel = l.kernel, .operands = {}, .epoch = l.epoch, .label = l.label};
    for (const plan::PlanOperand& o : l.operands)
        d.operands.push_back(o.use == ops::Use::read    ? device::Access::read
                             : o.use == ops::Use::write ? device::Access::write
                                                        : device::Access::read_write);
    d.floats = static_cast<std::uint32_t>(l.floats.size());
    d.ints = static_cast<std::uint32_t>(l.ints.size());
    return d;
}

void Executable::record(std::uint32_t slots, bool timestamps)
{
    std::vector<device::LaunchDeclaration> launches;
    for (const plan::PlanLaunch& l : compiled_.plan.launches) launches.push_back(declaration(l));
    recording_ = device_->record(launches, {.slots = slots, .timestamps = timestamps});
}

Executable::Outcome Executable::replay(const Call& call)
{
    const Sized& s = at(call.symbols);
    Outcome outcome;
    const std::vector<Operand> values = addresses(s, call, outcome);
    if (compiled_.plan.launches.empty()) return outcome;
    if constexpr (debug_build) verify(s, values);
    recording_->begin();
    for (std::uint32_t i = 0; i < compiled_.plan.launches.size(); ++i)
        write(*recording_, i, i, s, call, values, enabled(i, values));
    outcome.ticket = recording_->submit();
    return outcome;
}

Executable::Outcome Executable::run_once(const Call& call)
{
    const Sized& s = at(call.symbols);
    Outcome outcome;
    const std::vector<Operand> values = addresses(s, call, outcome);
    if constexpr (debug_build) verify(s, values);
    std::vector<device::LaunchDeclaration> launches;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < compiled_.plan.launches.size(); ++i) {
        if (s.values[slots_[i].groups] <= 0 || !enabled(i, values)) continue;
        launches.push_back(declaration(compiled_.plan.launches[i]));
        which.push_back(i);
    }
    if (!launches.empty()) {
        const auto recording = device_->record(launches, {.slots = 1, .warm_up = false, .one_shot = true});
        recording->begin();
        for (std::uint32_t i = 0; i < which.size(); ++i)
            write(*recording, i, which[i], s, call, values, true);
        outcome.ticket = recording->submit();
    }
    arena_.reset(); // work submitted later may reuse it at once
    return outcome;
}

void Executable::verify(const Sized& s, const std::vector<Operand>& values) const
{
    std::vector<plan::Range> ranges;
    std::vector<bool> runs;
    for (const Operand& o : values) ranges.push_back({o.address, o.address + o.bytes});
    for (std::size_t i = 0; i < compiled_.plan.launches.size(); ++i)
        runs.push_back(s.values[slots_[i].groups] > 0 && enabled(i, values));
    if (const auto faults = plan::find_hazards(compiled_.plan, ranges, runs); !faults.empty())
        detail::fail(ErrorKind::internal, "plan", "The plan has a hazard: ", faults.front(), ".");
}

Executable::Layout Executable::layout(const Call& call)
{
    const Sized& s = at(call.symbols);
    Outcome outcome;
    const std::vector<Operand> values = addresses(s, call, outcome);
    Layout out;
    for (const Operand& o : values) out.ranges.push_back({o.address, o.address + o.bytes});
    for (std::size_t i = 0; i < compiled_.plan.launches.size(); ++i)
        out.enabled.push_back(s.values[slots_[i].groups] > 0 && enabled(i, values));
    return out;
}

std::int64_t Executable::evaluated(const Dim& d) const
{
    if (d.is_constant()) return d.value();
    const auto& ids = program_.symbols();
    return d.evaluate([&](std::uint32_t id) {
        for (std::size_t i = 0; i < ids.size(); ++i)
            if (ids[i] == id) return last_[i];
        return std::int64_t{-1};
    });
}

std::uint64_t Executable::arena_bytes(const std::vector<std::int64_t>& symbols)
{
    return sized(symbols).arena;
}

std::uint64_t Executable::arena_lower_bound(const std::vector<std::int64_t>& symbols)
{
    return placement_->lower_bound(sized(symbols).bytes);
}

Executable::Placed Executable::placed(const std::vector<std::int64_t>& symbols) const
{
    Sized s = sized(symbols);
    const std::uint64_t least = placement_->lower_bound(s.bytes);
    return {std::move(s.bytes), std::move(s.offsets), s.arena, least};
}

} // namespace reprise::program
