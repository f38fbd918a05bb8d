// Every op as a function.  Names, argument order, defaults and behaviour at kinks and NaN are PyTorch's,
// except for what docs/from-pytorch.md lists.
//
// All ops check their inputs at the call and throw Error: shape for sizes that do not fit, dtype for element
// types that the op does not take, device for tensors on different devices, argument for anything else out of
// its range.  Sizes may be symbols while a program is recorded.  Negative dimensions count from the end.
// Unless said otherwise an op takes and gives floating dtypes (docs/ops.md), works on views of any strides, and has
// gradients of every order.
#pragma once
#include <reprise/ops/attention.hpp>
#include <reprise/ops/convolution.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/dynamic.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/in_place.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/interpolation.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/normalization.hpp>
#include <reprise/ops/pooling.hpp>
#include <reprise/ops/quantization.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/ops/sorting.hpp>
#include <reprise/ops/updates.hpp>
