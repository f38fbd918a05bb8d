// The state from which random ops draw their numbers.
#pragma once
#include <cstdint>
#include <memory>

#include <reprise/random.hpp>

#include "graph/cell.hpp"
#include "ops/records.hpp"
#include "ops/reference.hpp"
#include "ops/vocabulary.hpp"

namespace reprise::ops {

// philox.inc compiled as C++: it computes the same words and numbers as the kernels.
namespace native {
#define RPF float
#define RP_FN inline
#include "ops/philox.inc"
#undef RPF
#undef RP_FN
} // namespace native

struct Generator; // its state and the mutex that guards it

// While it exists, this thread draws from a generator of its own.
class ThreadGenerator {
public:
    explicit ThreadGenerator(const GeneratorState&);
    ~ThreadGenerator();
    ThreadGenerator(const ThreadGenerator&) = delete;
    ThreadGenerator& operator=(const ThreadGenerator&) = delete;

private:
    std::shared_ptr<Generator> before_;
};

// Ordinals that were taken from a generator: so many, from the first one on.
struct Ordinals {
    GeneratorState first{};
    std::uint64_t count = 0;
    std::shared_ptr<Generator> generator{};
};
// Takes the next ones from the generator of this thread or else of the process.
Ordinals take_ordinals(std::uint64_t count);
// Reverts take_ordinals(), unless a number was drawn or a seed was set since.
void give_back(const Ordinals&);

// Returns the random state for one op: that of the program being recorded, or else that of the generator.  With a
// count, the op has this many ordinals from there on.
graph::RandomState next_random(std::uint64_t count = 1);
// Returns the state as attributes seed_low, seed_high, ordinal and first, which the op has before any other one of type
// Dim.
graph::Attributes random_attributes(const graph::RandomState&);
// Returns the part of RandomPart on this thread; 0 where there is none.
std::int64_t random_part();
// Draws numbers in [0, 1) on the device of t, f32.
Tensor uniform_like(const Tensor& t, const Shape&);
Tensor uniform_like(const Tensor& t, const Shape&, const graph::RandomState&); // with this state
// Draws numbers with this op, whose attributes are the random state, then the shape and the other arguments.
Tensor draw(const graph::Op&, const std::shared_ptr<graph::Evaluator>&, const Shape&, DType,
            std::int64_t low = 0, std::int64_t count = 0);

// Returns the random state of a node as ints of a launch.
records::RandomState random_state(const graph::Attributes&);

// The random words of an op, for its reference function.
class RandomWords {
public:
    explicit RandomWords(const ReferenceArguments&, std::int64_t index = 0); // of one of the op's ordinals
    native::rp_words operator()(std::int64_t group, std::uint32_t slot = 0) const; // the words of 4 elements
    native::uint of(std::int64_t element, std::uint32_t slot = 0) const;

private:
    native::uint seed_low_, seed_high_, ordinal_low_, ordinal_high_, first_;
};

} // namespace reprise::ops
