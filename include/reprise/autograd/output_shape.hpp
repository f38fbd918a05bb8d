// Inference of the shapes of results, without computing values.
#pragma once
#include <vector>

#include <reprise/autograd/derivatives.hpp>

namespace reprise {

// Returns the shape of f's result for inputs of the given shapes, by the shape rules of its ops.  f is called once,
// on f32 placeholders; nothing is computed or recorded for gradients.  Conditions on symbols (that two are
// equal, that a window fits) are assumed to hold; while a program is recorded they become conditions of its
// calls.  Errors: state where f reads a value; device for a tensor that f takes from elsewhere; shape for
// shapes that fit at no size.
Shape output_shape(const FunctionOfSeveral& f, const std::vector<Shape>& inputs);

} // namespace reprise
