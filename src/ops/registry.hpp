// The registry of ops: the structured ones, which the build finds in src/ops/*.cpp (cmake/RepriseOps.cmake), and the
// rows of elementwise.def.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <reprise/ops/creation.hpp>

#include "graph/cell.hpp"

namespace reprise::ops {

#define OP(name) extern const graph::Op name##_op;
#include "ops/ops.def"

// Returns the op of a row: part 0 is its formula, 1 + k its derivative by input k.  Throws Error(internal) if there is
// no such row.
const graph::Op& row_op(std::string_view row, int part = 0);

std::vector<const graph::Op*> structured_ops();
std::vector<const graph::Op*> elementwise_ops(); // formulas only
// Returns the op of a user's function or kernel: a copy of `like` with this name.  It is never freed, as nodes of
// programs refer to it.
const graph::Op& named(const graph::Op& like, const std::string& name);

// -- shared by the files of ops --
using graph::Attributes, graph::InputTypes, graph::Node, graph::Op, graph::TensorType, graph::TensorTypes;
using graph::evaluator_of, graph::type_of;
using graph::VjpArguments;
// Returns the evaluator of options.device, or of the default device.  Defined in runtime/, which has access to devices.
std::shared_ptr<graph::Evaluator> evaluator_for(const CreationOptions&);
// Returns the tensor, which requires a gradient if the options say so.
inline Tensor with_grad(Tensor t, const CreationOptions& options)
{
    if (options.requires_grad) t.requires_grad_();
    return t;
}
// Returns a tensor filled with value * factor.  It needs no memory where an elementwise op or a kernel takes numbers.
Tensor full_on(const std::shared_ptr<graph::Evaluator>&, const Shape&, double value, DType,
               const Dim& factor = 1);
inline Tensor number_like(const Tensor& t, double value)
{
    return full_on(evaluator_of(t), {}, value, t.dtype());
}
// Returns the size n as a number of t's dtype.
inline Tensor size_like(const Tensor& t, const Dim& n)
{
    return full_on(evaluator_of(t), {}, 1.0, t.dtype(), n);
}
// Returns 0, 1, ..., end - 1 (i32) on the device of t.
inline Tensor count_like(const Tensor& t, const Dim& end)
{
    return graph::create(arange_op, evaluator_of(t), {{"end", end}, {"dtype", i32}});
}
// Reshapes a vector or a column [n, 1] to `rank` dimensions with its elements along `dim`; the other sizes are 1.
Tensor along_dim(const Tensor& vector, std::size_t dim, std::size_t rank);
// Returns the inverse permutation, with which permute() reverts this one.
std::vector<std::int64_t> inverse_order(const std::vector<std::int64_t>& order);
// expand() as a part of another op, whose name errors and guards then contain.
Tensor expand_for(const char* op, const Tensor&, const Shape&);
// In-place writes into a tensor that PyTorch would copy must not reach another tensor.  copied() returns a clone of t
// that is linked to no base; copy_if_aliased() does so if t is x itself or a view, and otherwise returns t.
Tensor copied(const Tensor& t);
Tensor copy_if_aliased(const Tensor& t, const Tensor& x);
// Returns x with `values` in the range [start, start + length) of one dimension.
Tensor put_range(const Tensor& x, std::int64_t dim, const Dim& start, const Dim& length,
                 const Tensor& values);
// Whether all dimensions before `dim` have size 1, so that ranges along it are contiguous.
bool leading_sizes_are_one(const Shape&, std::int64_t dim);
// Links `part` to its base x: as a range of x along dim or, if it lacks that dimension, as select().
void link_range(const Tensor& part, const Tensor& x, std::int64_t dim, const Dim& start, const Dim& length);
[[noreturn]] void wrong_dtype(const char* op, DType, const char* wanted);
void require_floating(const char* op, DType);
// Checks that the argument `name` has the input's dtype.
void check_dtype(const char* op, const char* name, DType, DType of_input);
// Infers the type of ops whose floating inputs have one type, which is also that of the output.
TensorTypes infer_one_type(const Op&, const InputTypes&, const Attributes&);

} // namespace reprise::ops
