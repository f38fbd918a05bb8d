// Shapes without values.
#pragma once
#include <vector>

#include <reprise/autograd/derivatives.hpp>

namespace reprise {

// The shape of what f makes of inputs of these shapes, by the rules of its ops.  f is called once, on
// placeholders of f32: nothing is computed or put on the tape.  Error(state) for a value that f reads,
// Error(device) for a tensor that it takes from elsewhere, Error(shape) for shapes that fit at no size.  What
// depends on the sizes (that two symbols are equal, that a window fits) is taken to hold; while a program is
// recorded it is a condition of each call.
Shape output_shape(const FunctionOfSeveral& f, const std::vector<Shape>& inputs);

} // namespace reprise
