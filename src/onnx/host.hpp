// Arithmetic on integers of the host, for shapes that a graph computes.
#pragma once
#include <optional>

#include "onnx/call.hpp"

namespace reprise::onnx {

// Whether an integer of the host is one of the type, which is i64 or i32; symbols are sizes, which are.
bool fits(const ElementType&, const Dim&);

using OnHost = std::optional<Value> (*)(const Call&);

std::optional<Value> host_add(const Call&);
std::optional<Value> host_sub(const Call&);
std::optional<Value> host_mul(const Call&);
std::optional<Value> host_div(const Call&);
std::optional<Value> host_mod(const Call&);
std::optional<Value> host_min(const Call&);
std::optional<Value> host_max(const Call&);
std::optional<Value> host_neg(const Call&);
std::optional<Value> host_equal(const Call&);
std::optional<Value> host_less(const Call&);
std::optional<Value> host_greater(const Call&);
std::optional<Value> host_less_or_equal(const Call&);
std::optional<Value> host_greater_or_equal(const Call&);
std::optional<Value> host_and(const Call&);
std::optional<Value> host_or(const Call&);
std::optional<Value> host_not(const Call&);
std::optional<Value> host_where(const Call&);
std::optional<Value> host_reduce_prod(const Call&);
std::optional<Value> host_reduce_sum(const Call&);
// Shapes and positions.
std::optional<Value> host_identity(const Call&);
std::optional<Value> host_gather(const Call&);
std::optional<Value> host_concat(const Call&);
std::optional<Value> host_slice(const Call&);
std::optional<Value> host_squeeze(const Call&);
std::optional<Value> host_unsqueeze(const Call&);
std::optional<Value> host_reshape(const Call&);
std::optional<Value> host_expand(const Call&);
std::optional<Value> host_range(const Call&);
std::optional<Value> host_constant_of_shape(const Call&);
std::optional<Value> host_cast(const Call&);

} // namespace reprise::onnx
