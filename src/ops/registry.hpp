// The ops by name: the structured ones, which the build finds in src/ops/*.cpp (cmake/RepriseOps.cmake), and the rows
// of elementwise.def.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <reprise/ops/creation.hpp>

#include "graph/cell.hpp"

namespace reprise::ops {

#define OP(name) extern const graph::Op name##_op;
#include "ops/ops.def"

// Part 0 is the row's formula, 1 + k its derivative by input k.  Throws Error(internal) for what is no row.
const graph::Op& row_op(std::string_view row, int part = 0);

std::vector<const graph::Op*> structured_ops();
std::vector<const graph::Op*> elementwise_ops(); // formulas only
// The op of a user's function or kernel: as `like`, with this name.  Kept for good, as nodes of programs refer to it.
const graph::Op& named(const graph::Op& like, const std::string& name);

// -- what op files share --
using graph::Attributes, graph::InputTypes, graph::Node, graph::Op, graph::TensorType, graph::TensorTypes;
using graph::evaluator_of, graph::type_of;
using graph::VjpArguments;
// Of options.device, or the default device; program/ defines it, as it knows devices.
std::shared_ptr<graph::Evaluator> evaluator_for(const CreationOptions&);
// The tensor, which requires a gradient if the options say so.
inline Tensor with_grad(Tensor t, const CreationOptions& options)
{
    if (options.requires_grad) t.requires_grad_();
    return t;
}
// A tensor of this shape with one value everywhere; costs no memory where an elementwise op or a kernel takes
// numbers.
Tensor full_on(const std::shared_ptr<graph::Evaluator>&, const Shape&, double value, DType,
               const Dim& factor = 1);
inline Tensor number_like(const Tensor& t, double value)
{
    return full_on(evaluator_of(t), {}, value, t.dtype());
}
// Sizes as a number of t's dtype: n elements.
inline Tensor size_like(const Tensor& t, const Dim& n)
{
    return full_on(evaluator_of(t), {}, 1.0, t.dtype(), n);
}
// 0, 1, ..., end - 1 (i32) beside t.
inline Tensor count_like(const Tensor& t, const Dim& end)
{
    return graph::create(arange_op, evaluator_of(t), {{"end", end}, {"dtype", i32}});
}
// A vector, or a column [n, 1], as a tensor of so many dimensions whose elements lie along `dim`; the other
// sizes are 1.
Tensor along_dim(const Tensor& vector, std::size_t dim, std::size_t rank);
// The order of dimensions that permute() takes to undo this one.
std::vector<std::int64_t> inverse_order(const std::vector<std::int64_t>& order);
// expand() as a part of the op, which errors and conditions of a call then name.
Tensor expand_for(const char* op, const Tensor&, const Shape&);
// What PyTorch copies is a tensor of its own, into which one may write: the clone of t as such a copy, and the same
// where t is x itself or a view, else t.
Tensor copied(const Tensor& t);
Tensor copy_if_aliased(const Tensor& t, const Tensor& x);
// x with the values in a range of one dimension.
Tensor put_range(const Tensor& x, std::int64_t dim, const Dim& start, const Dim& length,
                 const Tensor& values);
// Whether the dimensions before this one all have the size 1: parts along it lie without gaps.
bool leading_sizes_are_one(const Shape&, std::int64_t dim);
// Notes that the tensor is the range of x along dim, or with one element in it select() of it.
void link_range(const Tensor& part, const Tensor& x, std::int64_t dim, const Dim& start, const Dim& length);
[[noreturn]] void wrong_dtype(const char* op, DType, const char* wanted);
void require_floating(const char* op, DType);
// `name` has the input's dtype.
void check_dtype(const char* op, const char* name, DType, DType of_input);
// One floating input, or several of one type; the output has it too.
TensorTypes infer_one_type(const Op&, const InputTypes&, const Attributes&);

} // namespace reprise::ops
