// The random generator of the process, and the ops random_uniform, random_normal and random_integers.
#include "ops/random.hpp"

#include <mutex>
#include <utility>

#include <reprise/error.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/full.hpp"
#include "ops/records.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {

struct Generator {
    std::mutex mutex{};
    GeneratorState state{};
};

namespace {

using graph::RandomState;

thread_local std::shared_ptr<Generator> generator_of_thread; // null: that of the process
const std::shared_ptr<Generator>& generator()
{
    static const auto of_process = std::make_shared<Generator>();
    return generator_of_thread ? generator_of_thread : of_process;
}

constexpr std::int64_t two_32 = std::int64_t{1} << 32;
native::uint low_word(std::int64_t v) { return static_cast<native::uint>(v & (two_32 - 1)); }
native::uint high_word(std::int64_t v) { return static_cast<native::uint>(v >> 32); }

TensorTypes infer(const Op& op, const InputTypes&, const Attributes& a)
{
    require_floating(op.name, a.get<DType>("dtype"));
    return {{a.get<DType>("dtype"), a.shape("shape")}};
}

void lower(Lowering& l, const Node& n)
{
    const View out = l.output(), to = out.dtype == f64 ? l.temporary(f32, out.sizes()) : out;
    const Dim count = shape::element_count(to.sizes());
    const records::random_uniform record{.y = to, .count = count, .random = random_state(n.attributes)};
    l.launch(record.launch({.kernel = n.op->name,
                            .constants = {static_cast<std::uint32_t>(to.dtype)},
                            .groups = ceil_div(count, 256),
                            .words = true}));
    if (out.dtype == f64) l.copy(to, out);
}

// Computes in float with the source text of the kernels, so that all devices give the same bits.
void reference_uniform(const ReferenceArguments& a)
{
    const HostTensor& out = a.outputs[0];
    const RandomWords words(a);
    for (std::int64_t i = 0, count = out.count(); i < count; ++i)
        out.put(i, static_cast<double>(native::rp_uniform(words.of(i))));
}

void reference_normal(const ReferenceArguments& a)
{
    const HostTensor& out = a.outputs[0];
    const RandomWords words(a);
    for (std::int64_t i = 0, count = out.count(); i < count; ++i) {
        const native::rp_words w = words(i / 4);
        const bool early = i % 4 < 2;
        const native::uint u = early ? w.x : w.z, v = early ? w.y : w.w;
        out.put(i, static_cast<double>(i % 2 == 0 ? native::rp_normal_first(u, v)
                                                  : native::rp_normal_second(u, v)));
    }
}

// -- random_integers: uniform in [low, low + count) --
TensorTypes infer_integers(const Op&, const InputTypes&, const Attributes& a)
{
    return {{i32, a.shape("shape")}};
}

void lower_integers(Lowering& l, const Node& n)
{
    const View to = l.output();
    const Dim count = shape::element_count(to.sizes());
    const records::random_integers record{
        .y = to,
        .count = count,
        .random = random_state(n.attributes),
        .least = static_cast<std::int64_t>(low_word(n.attributes.integer("low"))),
        .values = n.attributes.integer("count")};
    l.launch(record.launch({.groups = ceil_div(count, 256), .words = true}));
}

void reference_integers(const ReferenceArguments& a)
{
    const HostTensor& out = a.outputs[0];
    const RandomWords words(a);
    const auto range = static_cast<std::uint64_t>(a.attributes.integer("count"));
    for (std::int64_t i = 0, count = out.count(); i < count; ++i)
        out.set_whole(out.offset(i),
                      a.attributes.integer("low") + static_cast<std::int64_t>(words.of(i) * range >> 32));
}

// Draws the numbers of the part of RandomPart.  Where they do not begin with a group of 4, those of whole groups are
// drawn, and cut.
Tensor drawn_with(const Op& op, RandomState r, const std::shared_ptr<graph::Evaluator>& evaluator,
                  const Shape& shape, DType dtype, std::int64_t low = 0, std::int64_t count = 0)
{
    const Dim elements = shape::element_count(shape), begin = elements * random_part();
    const bool whole_groups = begin.divisible_by(4);
    r.first = floor_div(begin, 4);
    const Tensor all = graph::create(op, evaluator,
                                     random_attributes(r)
                                         .with("shape", whole_groups ? shape : Shape{elements + 3})
                                         .with("dtype", dtype)
                                         .with("low", low)
                                         .with("count", count));
    return whole_groups ? all : reshape(narrow(all, 0, mod(begin, 4), elements), shape);
}

Tensor drawn(const char* name, const Op& op, const Shape& shape, const CreationOptions& options)
{
    require_sizes(name, shape);
    const DType dtype = options.dtype_or(f32);
    require_floating(name, dtype);
    return with_grad(draw(op, evaluator_for(options), shape, dtype), options);
}

Tensor drawn_like(const char* name, const Op& op, const Tensor& t, const CreationOptions& options)
{
    const DType dtype = options.dtype_or(t.dtype());
    require_floating(name, dtype);
    const auto evaluator = options.device ? evaluator_for(options) : evaluator_of(t);
    return with_grad(draw(op, evaluator, t.shape(), dtype), options);
}

} // namespace

Tensor draw(const Op& op, const std::shared_ptr<graph::Evaluator>& evaluator, const Shape& shape, DType dtype,
            std::int64_t low, std::int64_t count)
{
    return drawn_with(op, next_random(), evaluator, shape, dtype, low, count);
}

Tensor uniform_like(const Tensor& t, const Shape& shape) { return uniform_like(t, shape, next_random()); }

Tensor uniform_like(const Tensor& t, const Shape& shape, const RandomState& r)
{
    return drawn_with(random_uniform_op, r, evaluator_of(t), shape, f32);
}

graph::Attributes random_attributes(const RandomState& r)
{
    return {{"seed_low", r.seed_low}, {"seed_high", r.seed_high}, {"ordinal", r.ordinal}, {"first", r.first}};
}

ThreadGenerator::ThreadGenerator(const GeneratorState& state)
    : before_(std::exchange(generator_of_thread, std::make_shared<Generator>()))
{
    generator_of_thread->state = state;
}
ThreadGenerator::~ThreadGenerator() { generator_of_thread = before_; }

Ordinals take_ordinals(std::uint64_t count)
{
    const std::shared_ptr<Generator>& g = generator();
    const std::lock_guard lock(g->mutex);
    const GeneratorState first = g->state;
    g->state.ordinal += count;
    return {first, count, g};
}

void give_back(const Ordinals& o)
{
    const std::lock_guard lock(o.generator->mutex);
    GeneratorState& now = o.generator->state;
    if (now.seed == o.first.seed && now.ordinal == o.first.ordinal + o.count) now = o.first;
}

RandomState next_random(std::uint64_t count)
{
    if (graph::Tracer* tracer = graph::current_tracer()) {
        const RandomState first = tracer->next_random();
        for (std::uint64_t i = 1; i < count; ++i) tracer->next_random();
        return first;
    }
    const GeneratorState s = take_ordinals(count).first;
    return {static_cast<long long>(s.seed % two_32), static_cast<long long>(s.seed / two_32),
            static_cast<long long>(s.ordinal)};
}

records::RandomState random_state(const Attributes& a)
{
    const Dim& ordinal = a.get<Dim>("ordinal");
    return {.seed_low = a.get<Dim>("seed_low"),
            .seed_high = a.get<Dim>("seed_high"),
            .ordinal_low = mod(ordinal, two_32),
            .ordinal_high = floor_div(ordinal, two_32),
            .first = mod(a.get<Dim>("first"), two_32)};
}

RandomWords::RandomWords(const ReferenceArguments& a, std::int64_t index)
    : seed_low_(low_word(a.dims[0])), seed_high_(low_word(a.dims[1])),
      ordinal_low_(low_word(a.dims[2] + index)), ordinal_high_(high_word(a.dims[2] + index)),
      first_(low_word(a.dims[3]))
{}

native::rp_words RandomWords::operator()(std::int64_t group, std::uint32_t slot) const
{
    return native::rp_philox({low_word(group) + first_, slot, ordinal_low_, ordinal_high_}, seed_low_,
                             seed_high_);
}

native::uint RandomWords::of(std::int64_t element, std::uint32_t slot) const
{
    const native::rp_words w = (*this)(element / 4, slot);
    const native::uint all[] = {w.x, w.y, w.z, w.w};
    return all[element % 4];
}

const Op random_uniform_op{.name = "random_uniform",
                           .infer = infer,
                           .lower = lower,
                           .reference = reference_uniform,
                           .narrow = true,
                           .doubles = true};
const Op random_normal_op{.name = "random_normal",
                          .infer = infer,
                          .lower = lower,
                          .reference = reference_normal,
                          .narrow = true,
                          .doubles = true};
const Op random_integers_op{.name = "random_integers",
                            .infer = infer_integers,
                            .lower = lower_integers,
                            .reference = reference_integers};

} // namespace ops

namespace {

thread_local std::int64_t part_of_thread = 0;

} // namespace

std::int64_t ops::random_part() { return part_of_thread; }

RandomPart::RandomPart(std::int64_t part) : before_(part_of_thread)
{
    if (part < 0)
        detail::fail(ErrorKind::argument, "RandomPart", "The part (", part, ") must be at least 0.");
    part_of_thread = part;
}
RandomPart::~RandomPart() { part_of_thread = before_; }

void manual_seed(std::uint64_t seed) { set_generator_state({.seed = seed, .ordinal = 0}); }

std::uint64_t draw_seed()
{
    const auto low = [](std::uint64_t v) { return static_cast<ops::native::uint>(v & 0xffffffffu); };
    const auto high = [](std::uint64_t v) { return static_cast<ops::native::uint>(v >> 32); };
    const GeneratorState s = ops::take_ordinals(1).first;
    const ops::native::rp_words words =
        ops::native::rp_random(0, low(s.ordinal), high(s.ordinal), low(s.seed), high(s.seed));
    return std::uint64_t{words.x} << 32 | words.y;
}

GeneratorState generator_state()
{
    const std::lock_guard lock(ops::generator()->mutex);
    return ops::generator()->state;
}

void set_generator_state(const GeneratorState& state)
{
    const std::lock_guard lock(ops::generator()->mutex);
    ops::generator()->state = state;
}

Tensor rand(const Shape& shape, const CreationOptions& options)
{
    return ops::drawn("rand", ops::random_uniform_op, shape, options);
}
Tensor randn(const Shape& shape, const CreationOptions& options)
{
    return ops::drawn("randn", ops::random_normal_op, shape, options);
}
Tensor rand_like(const Tensor& t, const CreationOptions& options)
{
    return ops::drawn_like("rand_like", ops::random_uniform_op, t, options);
}
Tensor randn_like(const Tensor& t, const CreationOptions& options)
{
    return ops::drawn_like("randn_like", ops::random_normal_op, t, options);
}

} // namespace reprise
