// Where random ops draw from.
#pragma once
#include <cstdint>
#include <vector>

#include <reprise/random.hpp>

#include "graph/cell.hpp"
#include "ops/records.hpp"
#include "ops/reference.hpp"
#include "ops/vocabulary.hpp"

namespace reprise::ops {

// The C++ reader of philox.inc: the words and numbers that kernels make.
namespace native {
#define RPF float
#define RP_FN inline
#include "ops/philox.inc"
#undef RPF
#undef RP_FN
} // namespace native

// Takes the next `count` ordinals of the process' generator: the result's ordinal is the first.
GeneratorState take_ordinals(std::uint64_t count);
// Undoes it, if nobody has drawn or seeded since.
void give_back_ordinals(const GeneratorState& first, std::uint64_t count);

// What one random op draws from: of the program that is being recorded, else of the generator.  Goes into the
// attributes seed_low, seed_high and ordinal, in this order and before any other size.
graph::RandomState next_random();
// Numbers in [0, 1) beside t, f32.
Tensor uniform_beside(const Tensor& t, const Shape&);
// Draws with this op; the attributes follow those of the random state.
Tensor draw(const graph::Op&, const std::shared_ptr<graph::Evaluator>&, const Shape&, DType,
            std::int64_t low = 0, std::int64_t count = 0);

// As the ints of a launch: seed and ordinal, low word first.
records::RandomState random_state(const graph::Attributes&);

// The same for a reference function.
class RandomWords {
public:
    explicit RandomWords(const ReferenceArguments&);
    native::rp_words operator()(std::int64_t group) const; // of 4 elements
    native::uint of(std::int64_t element) const;

private:
    native::uint seed_low_, seed_high_, ordinal_low_, ordinal_high_;
};

} // namespace reprise::ops
