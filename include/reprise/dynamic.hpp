// Classes with symbolic shape checks for custom training systems; docs/dynamic.md is the guide.
#pragma once
#include <reprise/dynamic/accumulator.hpp>
#include <reprise/dynamic/context.hpp>
#include <reprise/dynamic/functions.hpp>
#include <reprise/dynamic/gradient_function.hpp>
#include <reprise/dynamic/gradient_tensor.hpp>
#include <reprise/dynamic/symbolic_shape.hpp>
