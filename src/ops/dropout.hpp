// Code shared by dropout and the dropout of attention. Attributes: "p" and those of the random state.
#pragma once
#include <cstdint>

#include "graph/cell.hpp"
#include "ops/lowering.hpp"

namespace reprise::ops {

void require_probability(const char* op, double p);
std::int64_t dropout_threshold(const graph::Attributes&); // p in units of 2^-24: 2^24 drops all
double dropout_scale(const graph::Attributes&);           // the factor of retained elements: 1 / (1 - p)
// Returns dropout of x with these random numbers, of the part of RandomPart.
Tensor dropped(const Tensor& x, graph::RandomState, double p);
// Both views are contiguous.
void launch_dropout(Lowering&, const graph::Attributes&, const View& from, const View& to);

} // namespace reprise::ops
