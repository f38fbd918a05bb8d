#include "execution/executable.hpp"

#include <algorithm>
#include <cassert>

#include <reprise/error.hpp>

#include "plan/verify.hpp"

namespace reprise::execution {

using device::Operand;
using plan::Place;

namespace {

constexpr int max_tries = 24;                // orders that the search for a placement tries
constexpr std::uint64_t small_output = 4096; // bytes
constexpr std::size_t max_cache_bytes = 32 << 20,
                      max_eager_cache_bytes = 2 << 20; // limits of the cache by sizes
#ifdef NDEBUG
constexpr bool debug_build = false;
#else
constexpr bool debug_build = true;
#endif

} // namespace

Executable::Executable(plan::Compiled compiled, std::shared_ptr<device::Device> device, Purpose purpose)
    : compiled_(std::move(compiled)), device_(std::move(device)), purpose_(purpose),
      writer_(compiled_.plan, device_->capabilities(), program_),
      cache_(purpose == Purpose::eager ? max_eager_cache_bytes : max_cache_bytes)
{
    compile_expressions();
    placement_ = std::make_unique<plan::Placement>(compiled_.plan, bytes_at_sizes(compiled_.plan),
                                                   purpose == Purpose::once ? 0 : max_tries);
    if (!host_temporaries_.empty())
        host_placement_ =
            std::make_unique<plan::Placement>(compiled_.plan, bytes_at_sizes(compiled_.plan), 0, true);
}

void Executable::compile_expressions()
{
    const auto slots = [this](const DimVector& dims) {
        std::vector<shape::Slot> out;
        for (const Dim& d : dims) out.push_back(program_.add(d));
        return out;
    };
    for (std::uint32_t i = 0; i < compiled_.plan.values.size(); ++i) {
        const plan::PlanValue& v = compiled_.plan.values[i];
        elements_.push_back(program_.add(v.elements));
        if (v.place == Place::output) outputs_.push_back({i});
        if (v.place == Place::temporary) (v.on_host ? host_temporaries_ : temporaries_).push_back(i);
    }
    for (const ops::View& r : compiled_.results) {
        const graph::Strided& l = r.layout;
        results_.push_back({slots(l.sizes), slots(l.strides), program_.add(l.offset)});
    }
}

std::vector<std::uint64_t> Executable::bytes_at(const std::vector<std::int64_t>& symbols,
                                                std::vector<std::int64_t>& values) const
{
    program_.evaluate(symbols, values);
    std::vector<std::uint64_t> bytes;
    bytes.reserve(elements_.size());
    for (std::size_t i = 0; i < elements_.size(); ++i) {
        const std::int64_t n = values[elements_[i]];
        if (n < 0)
            detail::fail(ErrorKind::internal, "plan", "The value (", compiled_.plan.values[i].name,
                         ") would have (", n, ") elements.");
        bytes.push_back(static_cast<std::uint64_t>(n) * size_of(compiled_.plan.values[i].dtype));
    }
    return bytes;
}

Executable::Sized Executable::sized(const std::vector<std::int64_t>& symbols) const
{
    Sized s;
    s.bytes = bytes_at(symbols, s.values);
    s.arena = placement_->fill(s.bytes, 0, 0, s.offsets);
    // Values without elements need a valid address: a driver may hoist a load from it out of a loop that never runs.
    if (s.arena == 0 && !placement_->order().empty()) s.arena = plan::arena_alignment;
    if (host_placement_)
        s.host_arena = std::max(host_placement_->fill(s.bytes, 0, 0, s.host_offsets), plan::arena_alignment);
    s.block = writer_.fill(s.values);
    return s;
}

Executable::Sized& Executable::at(const std::vector<std::int64_t>& symbols)
{
    key_ = symbols;
    for (std::size_t i : counters_) key_[i] = 0;
    Sized* s = cache_.find(key_);
    if (!s) {
        Sized fresh = sized(symbols);
        bytes_placed_ += fresh.arena;
        const std::size_t bytes = fresh.block.bytes() + 8 * (fresh.values.size() + 2 * fresh.bytes.size() +
                                                             fresh.host_offsets.size());
        s = &cache_.add(key_, std::move(fresh), bytes);
    } else if (!counters_.empty()) {
        program_.evaluate(counter_slots_, symbols, s->values);
        writer_.write_counters(s->block, s->values);
    }
    last_sized_ = s;
    provide_arena(*s);
    provide_host_arena(*s);
    return *s;
}

void Executable::set_counters(const std::vector<std::uint32_t>& ids)
{
    for (std::size_t i = 0; i < symbols().size(); ++i)
        if (std::find(ids.begin(), ids.end(), symbols()[i]) != ids.end()) counters_.push_back(i);
    counter_slots_ = program_.depending_on(counters_);
    writer_.set_counters(counter_slots_);
}

void Executable::trim_arena(std::uint64_t bytes)
{
    const std::uint64_t held = (arena_ ? arena_->bytes : 0) + (host_arena_ ? host_arena_->bytes : 0);
    if (held > bytes) free_arenas();
}

// Allocates an arena if there is none that is large enough, so that it grows to the largest size so far.  An allocation
// of up to the size of a window never crosses the edge of one (device.hpp).  In a larger arena the placement avoids the
// edges, which is possible only after the allocation, when the address is known.
void Executable::provide_arena(Sized& s)
{
    if (arena_ && arena_->address == s.base && arena_->bytes >= s.arena) return;
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

void Executable::provide_host_arena(const Sized& s)
{
    if (s.host_arena == 0 || (host_arena_ && host_arena_->bytes >= s.host_arena)) return;
    host_arena_.reset();
    host_arena_ = device_->allocate_readable(s.host_arena);
}

void Executable::free_arenas()
{
    arena_.reset();
    host_arena_.reset();
}

// Allocates outputs, and writes all addresses to the block that differ from the last call at these sizes.
Executable::Outcome Executable::place(Sized& s, const Call& call)
{
    Outcome outcome;
    outcome.outputs.reserve(outputs_.size());
    for (const Output& o : outputs_) {
        const std::uint64_t bytes = s.bytes[o.value], allocated = std::max<std::uint64_t>(bytes, 16);
        outcome.outputs.push_back(o.readable && bytes <= small_output ? device_->allocate_readable(allocated)
                                                                      : device_->allocate(allocated));
        writer_.place(s.block, s.values, o.value, {outcome.outputs.back()->address, bytes});
    }
    for (std::size_t slot = 0; slot < compiled_.external.size(); ++slot)
        writer_.place(s.block, s.values, compiled_.external[slot], call.externals[slot]);
    if (arena_ && s.base != arena_->address) {
        s.base = arena_->address;
        for (const std::uint32_t v : temporaries_)
            writer_.place(s.block, s.values, v, {s.base + s.offsets[v], s.bytes[v]});
    }
    if (host_arena_ && s.host_base != host_arena_->address) {
        s.host_base = host_arena_->address;
        for (const std::uint32_t v : host_temporaries_)
            writer_.place(s.block, s.values, v, {s.host_base + s.host_offsets[v], s.bytes[v]});
    }
    return outcome;
}

std::size_t Executable::output_at(std::uint32_t value) const
{
    const auto at = std::lower_bound(outputs_.begin(), outputs_.end(), value,
                                     [](const Output& o, std::uint32_t v) { return o.value < v; });
    assert(at != outputs_.end() && at->value == value);
    return static_cast<std::size_t>(at - outputs_.begin());
}

const std::shared_ptr<device::Memory>& Executable::output(const Outcome& outcome, std::uint32_t value) const
{
    return outcome.outputs[output_at(value)];
}

void Executable::make_readable(std::size_t result)
{
    const std::uint32_t value = compiled_.results[result].value;
    if (compiled_.plan.values[value].place == Place::output) outputs_[output_at(value)].readable = true;
}

device::LaunchDeclaration Executable::declaration(const plan::PlanLaunch& l) const
{
    device::LaunchDeclaration d{
        .kernel = {l.kernel, l.constants, l.native ? l.native : l.host, l.code, l.doubles, l.on_stream},
        .operands = {},
        .floats = static_cast<std::uint32_t>(l.floats.size()),
        .ints = static_cast<std::uint32_t>(l.ints.size()),
        .epoch = l.epoch,
        // for tensors outside of the slab or larger than a window
        .rarely_dispatched = l.fallback_of != plan::no_launch,
        .on_host = l.on_host || l.native,
        .joins = l.native ? l.epoch + 1 : l.joins,
        .native = l.native != nullptr};
    for (const plan::PlanOperand& o : l.operands) {
        d.operands.push_back(o.use == ops::Use::read    ? device::Access::read
                             : o.use == ops::Use::write ? device::Access::write
                                                        : device::Access::read_write);
        d.writes_state =
            d.writes_state || (plan::writes(o) && compiled_.plan.values[o.value].place == Place::external);
    }
    return d;
}

std::vector<device::LaunchDeclaration> Executable::declarations() const
{
    std::vector<device::LaunchDeclaration> out;
    for (const plan::PlanLaunch& l : compiled_.plan.launches) out.push_back(declaration(l));
    return out;
}

void Executable::record(std::uint32_t slots, bool timestamps, bool warm_up, detail::Progress progress)
{
    recording_ = device_->record(declarations(), {.slots = slots,
                                                  .warm_up = warm_up,
                                                  .timestamps = timestamps,
                                                  .droppable = purpose_ == Purpose::program,
                                                  .progress = std::move(progress)});
    max_timed_ = timestamps ? std::max<std::size_t>(slots, 1) : 0;
}

Executable::Outcome Executable::replay(const Call& call)
{
    Sized& s = at(call.symbols);
    Outcome outcome = place(s, call);
    writer_.write_numbers(s.block, s.values, call.numbers);
    if (compiled_.plan.launches.empty()) return outcome;
    if constexpr (debug_build) verify(s);
    const std::shared_ptr<CallObserver> observer = call_observer();
    if (!observer) timed_recording_.reset();
    else if (!timed_recording_ && !max_timed_)
        timed_recording_ = device_->record(
            declarations(), {.slots = 1, .timestamps = true, .droppable = purpose_ == Purpose::program});
    device::Recording& recording = timed_recording_ ? *timed_recording_ : *recording_;
    std::vector<std::uint32_t> ran;
    recording.begin();
    for (std::uint32_t i = 0; i < compiled_.plan.launches.size(); ++i) {
        const device::LaunchArguments arguments = writer_.arguments(s.block, i);
        if (observer && arguments.groups > 0) ran.push_back(i);
        recording.set(i, arguments);
    }
    for (const device::Ticket t : call.reads) recording.depends_on(t);
    const auto submitted = std::chrono::steady_clock::now();
    outcome.ticket = recording.submit();
    if (observer) observe(*observer, call, recording, outcome.ticket, submitted, ran);
    if (max_timed_) {
        timed_.push_back({outcome.ticket, call.symbols});
        if (timed_.size() > max_timed_) timed_.pop_front();
    }
    return outcome;
}

Executable::Outcome Executable::replay_once(const Call& call)
{
    const struct FreeArenas {
        Executable& executable;
        ~FreeArenas() { executable.free_arenas(); }
    } at_the_end{*this};
    return replay(call);
}

Executable::Outcome Executable::run_once(const Call& call)
{
    Sized& s = at(call.symbols);
    Outcome outcome = place(s, call);
    writer_.write_numbers(s.block, s.values, call.numbers);
    if constexpr (debug_build) verify(s);
    const std::shared_ptr<CallObserver> observer = call_observer();
    std::vector<device::LaunchDeclaration> launches;
    std::vector<device::LaunchArguments> arguments;
    std::vector<std::uint32_t> ran;
    for (std::uint32_t i = 0; i < compiled_.plan.launches.size(); ++i) {
        const device::LaunchArguments a = writer_.arguments(s.block, i);
        if (a.groups == 0) continue;
        launches.push_back(declaration(compiled_.plan.launches[i]));
        arguments.push_back(a);
        ran.push_back(i);
    }
    if (!launches.empty()) {
        const auto recording = device_->record(
            launches,
            {.slots = 1, .warm_up = false, .timestamps = observer != nullptr, .one_shot = !observer});
        recording->begin();
        for (std::uint32_t i = 0; i < arguments.size(); ++i) recording->set(i, arguments[i]);
        for (const device::Ticket t : call.reads) recording->depends_on(t);
        const auto submitted = std::chrono::steady_clock::now();
        outcome.ticket = recording->submit();
        if (observer) observe(*observer, call, *recording, outcome.ticket, submitted, ran);
    }
    free_arenas();
    return outcome;
}

void Executable::observe(CallObserver& observer, const Call& call, device::Recording& recording,
                         device::Ticket ticket, ObservedCall::Time submitted,
                         const std::vector<std::uint32_t>& ran)
{
    device_->wait(ticket);
    ObservedCall out{.device = device_->capabilities().id,
                     .submitted = submitted,
                     .done = std::chrono::steady_clock::now(),
                     .live_bytes = device_->counters().live_bytes};
    const device::Recording::Times times = recording.times();
    // A recording of one call has the launches that ran, others have all.
    const bool has_all = times.begun.size() == compiled_.plan.launches.size() + 1;
    for (std::size_t k = 0; times.call == ticket && k < ran.size(); ++k) {
        const plan::PlanLaunch& l = compiled_.plan.launches[ran[k]];
        ObservedLaunch& launch = out.launches.emplace_back(
            ObservedLaunch{.label = l.label, .kernel = l.kernel, .begin = times.begun[has_all ? ran[k] : k]});
        launch.flops = static_cast<double>(evaluated(l.flops, call.symbols));
        for (const plan::PlanOperand& o : l.operands)
            if (!o.absent)
                launch.bytes +=
                    static_cast<double>(evaluated(compiled_.plan.values[o.value].elements, call.symbols)) *
                    static_cast<double>(size_of(compiled_.plan.values[o.value].dtype));
    }
    std::stable_sort(out.launches.begin(), out.launches.end(),
                     [](const auto& a, const auto& b) { return a.begin < b.begin; });
    for (std::size_t k = 0; k < out.launches.size(); ++k)
        out.launches[k].end = k + 1 < out.launches.size() ? out.launches[k + 1].begin : times.begun.back();
    observer.called(std::move(out));
}

Executable::Places Executable::places(const Sized& s) const
{
    Places out;
    for (const Operand& o : s.block.places) out.ranges.push_back({o.address, o.address + o.bytes});
    for (std::size_t i = 0; i < compiled_.plan.launches.size(); ++i)
        out.enabled.push_back(writer_.arguments(s.block, i).groups > 0);
    return out;
}

Executable::Places Executable::places(const Call& call)
{
    Sized& s = at(call.symbols);
    place(s, call);
    return places(s);
}

void Executable::verify(const Sized& s) const
{
    const Places p = places(s);
    if (const auto faults = plan::find_hazards(compiled_.plan, p.ranges, p.enabled); !faults.empty())
        detail::fail(ErrorKind::internal, "plan", "The plan has a hazard: ", faults.front(), ".");
}

std::optional<Stored::Layout> Executable::result_layout(std::size_t result) const
{
    const ResultSlots& r = results_[result];
    const auto& values = last_sized_->values;
    bool row_major = values[r.offset] == 0;
    std::int64_t stride = 1;
    for (std::size_t d = r.sizes.size(); row_major && d-- > 0; stride *= values[r.sizes[d]])
        row_major = values[r.sizes[d]] == 1 || values[r.strides[d]] == stride;
    if (row_major) return std::nullopt;
    Stored::Layout out{{}, values[r.offset]};
    for (const shape::Slot s : r.strides) out.strides.push_back(values[s]);
    return out;
}

Shape Executable::result_shape(std::size_t result) const
{
    Shape out;
    for (const shape::Slot s : results_[result].sizes) out.emplace_back(last_sized_->values[s]);
    return out;
}

Executable::Times Executable::times() const
{
    if (!recording_) return {};
    const device::Recording::Times t = recording_->times();
    for (const Timed& call : timed_)
        if (call.call == t.call && !t.begun.empty()) return {t.begun, call.symbols, t.call};
    return {};
}

std::int64_t Executable::evaluated(const Dim& d, const std::vector<std::int64_t>& symbols) const
{
    if (d.is_constant()) return d.value();
    const auto& ids = program_.symbols();
    return d.evaluate([&](std::uint32_t id) {
        for (std::size_t i = 0; i < ids.size(); ++i)
            if (ids[i] == id) return symbols[i];
        return std::int64_t{-1};
    });
}

// Computes the size of the arena.  Where it is larger than a window, its size depends on its address, so this is the
// maximum over a few addresses.
std::uint64_t Executable::arena_bytes(const std::vector<std::int64_t>& symbols) const
{
    std::vector<std::int64_t> values;
    std::vector<std::uint64_t> offsets;
    const std::vector<std::uint64_t> bytes = bytes_at(symbols, values);
    std::uint64_t arena = placement_->fill(bytes, 0, 0, offsets);
    if (const std::uint64_t window = device_->capabilities().window_bytes; window && arena > window)
        for (std::uint64_t base = 0; base < window; base += window / 8)
            arena = std::max(arena, placement_->fill(bytes, base, window, offsets));
    return arena;
}

std::uint64_t Executable::output_bytes(const std::vector<std::int64_t>& symbols) const
{
    std::vector<std::int64_t> values;
    const std::vector<std::uint64_t> bytes = bytes_at(symbols, values);
    std::uint64_t sum = 0;
    for (const Output& o : outputs_) sum += plan::aligned(std::max<std::uint64_t>(bytes[o.value], 1));
    return sum;
}

std::uint64_t Executable::peak_bytes(const std::vector<std::int64_t>& symbols) const
{
    std::vector<std::int64_t> values;
    std::vector<std::uint64_t> offsets;
    const std::uint64_t shared =
        host_placement_ ? host_placement_->fill(bytes_at(symbols, values), 0, 0, offsets) : 0;
    return arena_bytes(symbols) + shared + output_bytes(symbols);
}

Executable::Placed Executable::placed(const std::vector<std::int64_t>& symbols) const
{
    Sized s = sized(symbols);
    const std::uint64_t lower_bound = placement_->lower_bound(s.bytes);
    return {std::move(s.bytes), std::move(s.offsets), s.arena, lower_bound};
}

} // namespace reprise::execution
