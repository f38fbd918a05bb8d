// Tensor: a handle to a node of an immutable graph.  Calling an op checks shapes and dtypes immediately and adds
// a node to the graph; nothing is computed until a value is read, eval() is called, or many ops are pending.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/dim.hpp>
#include <reprise/dtype.hpp>
#include <reprise/error.hpp>
#include <reprise/ops/options.hpp>
#include <reprise/scalar.hpp>
#include <reprise/tensor_options.hpp>

namespace reprise {

namespace graph {
struct Cell; // src/graph/cell.hpp
struct ViewLink;
struct Value;
}

// Defined in the headers of include/reprise/autograd.hpp.
class GradStore;
class HookHandle;
class MutableGrad;
class TapeNode;
template <class T, std::size_t N> class TensorAccessor; // accessor.hpp
class NestedNumbers;                                    // ops/creation.hpp

namespace indexing {
class TensorIndex; // tensor_indices.inc
}

// A list of dimensions.  Negative ones count from the end: {0, -1}, or 1 for {1}.
class Dims : public std::vector<std::int64_t> {
public:
    Dims() = default;                                                 // no dimension
    Dims(std::initializer_list<std::int64_t> dims) : vector(dims) {}  // those in the braces
    Dims(std::vector<std::int64_t> dims) : vector(std::move(dims)) {} // those of the vector
    // A single dimension.
    template <std::integral T>
    requires(!std::same_as<T, bool>) Dims(T dim) : vector{static_cast<std::int64_t>(dim)} {}
};

// How a backward pass runs.
struct BackwardOptions {
    bool retain_graph = false; // retains the graph, so that another backward pass can use it
    bool create_graph = false; // gradients can be differentiated again; implies retain_graph
};

// A multi-dimensional array of elements of one dtype on one device, as PyTorch's Tensor.  Copying a Tensor
// copies the handle: both handles share one value.  Members of an undefined tensor throw Error(argument),
// except defined() and assignments.
class Tensor {
public:
    Tensor() = default; // undefined
    // For the library itself.
    explicit Tensor(std::shared_ptr<graph::Cell> cell) : cell_(std::move(cell)) {}
    Tensor(const Tensor&) = default;     // a handle to the same value; copies no elements
    Tensor(Tensor&&) noexcept = default; // leaves the other tensor undefined
    ~Tensor() = default;
    // Assigning to a variable makes it a handle to the other tensor.  Assigning to the result of an
    // expression, such as x[0], writes into that tensor in place: x[0] = y is x[0].copy_(y), x[0] = 1 is
    // x[0].fill_(1).
    Tensor& operator=(const Tensor&) & = default;
    Tensor& operator=(Tensor&&) & noexcept = default; // as above; leaves the other tensor undefined
    Tensor& operator=(const Tensor& value) &&;        // writes in place, as copy_(), also into x[mask]
    // Writes in place, as copy_(), also into x[mask].
    Tensor& operator=(Tensor&& value) && { return std::move(*this) = static_cast<const Tensor&>(value); }
    Tensor& operator=(double value) &&; // writes in place, as fill_(), also into x[mask]

    // Whether this is a handle to a tensor; false after Tensor().
    bool defined() const noexcept { return cell_ != nullptr; }
    Shape shape() const;                              // the sizes of all dimensions
    Shape sizes() const { return shape(); }           // as shape()
    std::int64_t dim() const;                         // the number of dimensions
    std::int64_t ndimension() const { return dim(); } // as dim()
    // The size of dimension `dim`; negative counts from the end.  Error(argument) where there is no such
    // dimension.
    Dim size(std::int64_t dim) const;
    Dim numel() const;                            // the number of elements: the product of the sizes
    DType dtype() const;                          // the type of the elements
    DType scalar_type() const { return dtype(); } // as dtype()
    // Whether the dtype is f16, bf16, f32 or f64.
    bool is_floating_point() const { return is_floating(dtype()); }
    std::size_t element_size() const { return size_of(dtype()); } // bytes of one element
    // Bytes of all elements: numel() times element_size().
    Dim nbytes() const { return numel() * Dim(element_size()); }
    std::size_t itemsize() const { return element_size(); } // as element_size()
    Device device() const;                                  // the device that holds the tensor
    bool is_cpu() const { return device().is_cpu(); }       // whether it is on "reference" or "null"
    bool is_cuda() const { return device().is_cuda(); }     // whether it is on an NVIDIA GPU through CUDA
    // Whether contiguous() returns the tensor itself: row-major without gaps, as PyTorch would have it.
    bool is_contiguous() const;
    // The dtype and the device, for new tensors of the same kind: zeros({3}, x.options().dtype(kLong)).
    TensorOptions options() const { return CreationOptions{.dtype = dtype(), .device = device()}; }

    // -- autograd (PyTorch's rules) --
    // Whether backward passes compute a gradient for this tensor.
    bool requires_grad() const;
    // Turns gradients on or off and returns this tensor.  Errors, where the value changes: state for a tensor
    // that is not a leaf, or one from outside while a program is recorded; dtype for integers and bools.
    Tensor& requires_grad_(bool on = true);
    bool is_leaf() const; // true where no op computed it from a tensor that requires a gradient
    // requires_grad_(), by libtorch's name.
    Tensor& set_requires_grad(bool on) { return requires_grad_(on); }
    Tensor grad() const; // the gradient that backward passes have added up; undefined before the first
    // Replaces grad().  Error(shape, dtype, device) where the gradient's differ from the tensor's; an
    // undefined tensor clears it.
    void set_grad(const Tensor&);
    void zero_grad(); // makes grad() undefined
    // grad() as one that can be assigned: x.mutable_grad() = g is x.set_grad(g), x.mutable_grad().reset() is
    // x.zero_grad().
    MutableGrad mutable_grad() const;
    void reset() & { cell_.reset(); } // makes this handle undefined; other handles keep the tensor
    void reset() && = delete;         // grad() gives a copy of the handle: use zero_grad()
    // Adds d(this)/d(leaf) to the grad() of each leaf that requires a gradient.  `gradient` is the gradient
    // of this tensor, with its shape and dtype; without it this tensor must have one element, and the
    // gradient is 1; its value is then computed together with the gradients while a handle to it exists.
    // Error(state) where this requires no gradient; Error(shape, dtype, device) for a `gradient` that does
    // not fit.
    void backward(const Tensor& gradient = {}, BackwardOptions options = {}) const;
    // The same, with the options as PyTorch's arguments.
    void backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph = false) const
    {
        backward(gradient, BackwardOptions{.retain_graph = retain_graph.value_or(create_graph),
                                           .create_graph = create_graph});
    }
    // A tensor with the same value, without copying memory, through which no gradient flows.  Changing it in
    // place changes this tensor too, without being recorded: w.detach().sub_(lr * g) is a step of gradient
    // descent.  Error(state) for such a change where an op computed this tensor and it requires a gradient.
    Tensor detach() const;
    Tensor data() const { return detach(); } // detach(), by PyTorch's older name
    // detach() of this tensor and all copies of its handle: no gradient flows from it any more.
    Tensor& detach_();
    // A new handle to the present value, at the same position in the graph: assignments to one of the two do
    // not change the other, and gradients flow as through this tensor.
    Tensor snapshot() const;
    // A tensor with the same value that later in-place changes of this one do not reach.  Gradients flow
    // through it.  Copies no memory.
    Tensor clone() const;
    // The gradients of this tensor, which must have one element, with respect to all leaves below it.  No
    // leaf's grad() changes.
    GradStore gradients(BackwardOptions options = {}) const;
    // Makes backward() store the gradient in grad() of this tensor too, though it is not a leaf.  Does
    // nothing for a leaf.  Error(state) where no gradient is required.
    void retain_grad() const;
    bool retains_grad() const; // whether retain_grad() was called on this tensor; false for a leaf
    // Calls `hook` with the gradient of this tensor, once it is complete, in each backward pass; hooks run in
    // the order of registration.  A returned tensor, of the same shape and dtype, replaces the gradient; an
    // undefined one leaves it unchanged.  In record() the hook runs once, while recording, and not at the
    // program's calls.  A leaf retains its hooks; those of other tensors are removed when a backward pass
    // releases the graph.  Error(state) where no gradient is required; Error(argument) for a null function.
    HookHandle register_hook(std::function<Tensor(const Tensor&)> hook) const;
    // The same for a hook that returns nothing and leaves the gradient unchanged.
    template <class Hook>
    requires std::is_void_v<std::invoke_result_t<Hook&, const Tensor&>> HookHandle register_hook(Hook hook)
    const;                                     // hooks.hpp
    void remove_hook(const HookHandle&) const; // removes a hook, as HookHandle::remove()
    // The op that computed this tensor, for reading the graph; undefined for a leaf.
    TapeNode grad_fn() const;

    // -- values --
    // Starts the computation of this tensor without waiting for it.  Error(state) while it is being recorded.
    void eval() const;
    // The value of a tensor of one element, converted to T as by Scalar::to(); waits for the device.  Errors: shape
    // for another number of elements; argument where an integer type T cannot hold the value; state while it
    // is being recorded.
    template <class T> T item() const { return item().template to<T>(); }
    // The same as a number whose kind follows from the dtype: it converts to double, and has toFloat(), toLong(),
    // to<T>().
    Scalar item() const;
    // Whether the elements have been computed.  A result can then be read without waiting for work that was submitted
    // later; where the device's memory is not the host's, one of more than 4096 bytes is copied first.  False for a
    // tensor that nothing has begun to compute; Error(cancelled) if Device::cancel() has dropped its computation.
    bool is_ready() const;
    // A copy of the elements to read by their indices: auto a = x.accessor<float, 2>(); a[1][0].  T as for to_vector().
    // Error(shape) unless the tensor has N dimensions.
    template <class T, std::size_t N> TensorAccessor<T, N> accessor() const;
    // Does not compile: a tensor's elements may lie on a device, so nothing can point to them.
    template <class T> const T* data_ptr() const
    {
        static_assert(!sizeof(T),
                      "A tensor has no pointer to its elements, which may lie on a device: read them by "
                      "to_vector<T>() or accessor<T, N>(), and write them by copy_(from_blob(...)).");
        return nullptr;
    }
    template <class T> const T* const_data_ptr() const { return data_ptr<T>(); } // does not compile either
    // Copies all elements to the host, in row-major order; waits for the device.  T is the C++ type of
    // dtype(), or one that holds each of its values, as float does for f16 and std::int64_t for i32;
    // otherwise Error(dtype): convert with to() first.  Error(state) while the tensor is being recorded;
    // Error(out_of_memory) where the host lacks memory.
    template <class T> std::vector<T> to_vector() const
    {
        std::vector<T> out;
        make_room(out);
        read_all(out.data(), out.size() * sizeof(T), DTypeOf<T>::value);
        return out;
    }
    // Assigns another value to this tensor and all copies of its handle, of the same shape, dtype and device,
    // else Error(shape, dtype, device).  Earlier results, computed from the old value, do not change.  A leaf
    // that requires a gradient remains one.  In record() the tensor becomes state of the program, which each
    // call updates.
    void assign(const Tensor& value);

    // -- in place --
    // Adds in place: this tensor and all copies of its handle get the result, with its gradient.  The same
    // holds for all members below that write in place.  The result keeps this tensor's shape and is converted
    // to its dtype.  Errors: shape where the result has another shape; dtype for a floating result in a
    // tensor of integers; state for a leaf that requires a gradient, except under no_grad.
    //
    // Views write into their base tensor, while it exists, as in PyTorch: x[...] and x.index({...})
    // without index tensors and masks, select(), narrow(), slice(), split(), unbind(), diagonal(), transpose(),
    // permute(), view(), squeeze(), detach() and the like.  Error(state) where that tensor would not see the
    // change: for expand(), for a reshape() that may have to copy, and for views made in several steps where a
    // tensor in between is gone.  With index tensors or masks indexing gives copies: x[mask] = 0 and x[mask]
    // += 1 change x, but x[mask].add_(1) does not.  Reading a view gives the values from before a change by another
    // handle, unlike in PyTorch; an op in place of the view begins from the present values, as there.
    Tensor& operator+=(const Tensor&) &;
    Tensor& operator+=(const Tensor&) &&; // the same for x[...] += y, also with masks
    Tensor& operator+=(double) &;         // adds a number in place
    Tensor& operator+=(double) &&;        // the same for x[...] += 1, also with masks
    Tensor& operator-=(const Tensor&) &;  // subtracts in place, as +=
    Tensor& operator-=(const Tensor&) &&; // the same for x[...] -= y, also with masks
    Tensor& operator-=(double) &;         // subtracts a number in place
    Tensor& operator-=(double) &&;        // the same for x[...] -= 1, also with masks
    Tensor& operator*=(const Tensor&) &;  // multiplies in place, as +=
    Tensor& operator*=(const Tensor&) &&; // the same for x[...] *= y, also with masks
    Tensor& operator*=(double) &;         // multiplies by a number in place
    Tensor& operator*=(double) &&;        // the same for x[...] *= 2, also with masks
    Tensor& operator/=(const Tensor&) &;  // divides in place, as +=
    Tensor& operator/=(const Tensor&) &&; // the same for x[...] /= y, also with masks
    Tensor& operator/=(double) &;         // divides by a number in place
    Tensor& operator/=(double) &&;        // the same for x[...] /= 2, also with masks
    // Copies the elements of another tensor, which is broadcast to this shape and converted to this dtype.
    Tensor& copy_(const Tensor&);
    Tensor& fill_(double value); // sets all elements; Error(argument) where the dtype cannot hold the value
    Tensor& fill_(const Tensor& value); // the same from a tensor without dimensions; else Error(shape)
    Tensor& zero_();                    // sets all elements to 0
    // Draws uniformly distributed numbers in [from, to), which rounding may make `to`.  Error(dtype) for dtypes that
    // are not floating.
    Tensor& uniform_(double from = 0, double to = 1);
    // Draws normally distributed numbers.  Error(dtype) for dtypes that are not floating.
    Tensor& normal_(double mean = 0, double std = 1);
    // Sets each element to 1 with the probability p, else to 0.  Error(argument) unless p is from 0 to 1.
    Tensor& bernoulli_(double p = 0.5);

    // -- parts --
    // PyTorch's indexing: a view, or a copy where index tensors or masks are among the indices.  Index
    // tensors broadcast to one another; the dimensions that they give are at the position of the first of
    // them, or in front if another index is between them.  An index in a tensor that is out of range
    // gives NaN (0 for integers).  Masks are read on the host: Error(state) while recording.  Error(argument)
    // for a number that is out of range, and for more indices than dimensions.
    Tensor index(const std::vector<indexing::TensorIndex>&) const;
    Tensor operator[](const indexing::TensorIndex&) const; // x[i] is x.index({i})
    // Writes `value` in place to the elements that index() reads.  The value is broadcast to the shape of
    // index()'s result and converted to this dtype.  With `accumulate` it is added, and equal indices add up;
    // else the value of the last of equal indices is stored.  Indices in tensors that are out of range write
    // nothing.  Errors as for index() and +=.
    Tensor& index_put_(const std::vector<indexing::TensorIndex>&, const Tensor& value,
                       bool accumulate = false);
    // The same with a number.
    Tensor& index_put_(const std::vector<indexing::TensorIndex>&, double value, bool accumulate = false);
    // The result of index_put_() as a new tensor; this one does not change.
    Tensor index_put(const std::vector<indexing::TensorIndex>&, const Tensor& value,
                     bool accumulate = false) const;

    // -- dtypes and devices --
    // The transpose of a matrix.  A tensor of fewer dimensions is returned as it is; Error(shape) for more
    // than 2.
    Tensor t() const;
    // The elements converted to a dtype; this tensor where it has that dtype.
    Tensor to(DType) const;
    // As libtorch's: `non_blocking` has no effect, as nothing waits here; with `copy` the result is another tensor,
    // which later in-place changes of this one do not reach.
    Tensor to(DType dtype, bool non_blocking, bool copy = false) const;
    Tensor toType(DType dtype) const { return to(dtype); } // as to(dtype)
    // The elements on another device, or this tensor where it is there already.  Waits for the values and
    // copies them by way of the host.  Gradients flow back to this device.  Error(state) while recording;
    // Error(unsupported) for a dtype that the other device does not have.
    Tensor to(const Device&) const;
    Tensor to(const Device&, DType, bool non_blocking = false) const; // both conversions
    // As libtorch's to(device, non_blocking): `non_blocking` has no effect.
    template <std::same_as<bool> Bool> Tensor to(const Device& device, Bool) const { return to(device); }
    // To the dtype and the device that the options name.
    Tensor to(const CreationOptions&) const;
    // As libtorch's to(options, non_blocking): `non_blocking` has no effect.
    template <std::same_as<bool> Bool> Tensor to(const CreationOptions& options, Bool) const
    {
        return to(options);
    }
    Tensor to(const Tensor& other) const; // to the device and dtype of the other tensor
    // As to(other).
    Tensor type_as(const Tensor& other) const { return to(other); }
    Tensor cpu() const; // to the device "reference", which computes on the host
    // Zeros of this dtype, on this device, unless the options name others.
    Tensor new_zeros(const Shape&, const CreationOptions& = {}) const;
    Tensor new_ones(const Shape&, const CreationOptions& = {}) const; // ones, as new_zeros()
    Tensor new_full(const Shape&, double value,
                    const CreationOptions& = {}) const; // a constant, as new_zeros()
    // Numbers as tensor() takes them, of this dtype and on this device.
    Tensor new_tensor(const NestedNumbers&) const;
    // As new_zeros().
    Tensor new_empty(const Shape& shape, const CreationOptions& options = {}) const
    {
        return new_zeros(shape, options);
    }
    // new_zeros() with a dtype or a device.
    template <OneOption O> Tensor new_zeros(const Shape& shape, const O& option) const
    {
        return new_zeros(shape, TensorOptions(option));
    }
    // new_ones() with a dtype or a device.
    template <OneOption O> Tensor new_ones(const Shape& shape, const O& option) const
    {
        return new_ones(shape, TensorOptions(option));
    }
    // new_full() with a dtype or a device.
    template <OneOption O> Tensor new_full(const Shape& shape, double value, const O& option) const
    {
        return new_full(shape, value, TensorOptions(option));
    }
    // new_empty() with a dtype or a device.
    template <OneOption O> Tensor new_empty(const Shape& shape, const O& option) const
    {
        return new_zeros(shape, TensorOptions(option));
    }

    // -- the ops of ops.hpp that PyTorch has as methods; those that end in _ are in place --
#include <reprise/tensor_methods.inc>
    // One dimension of this size, which may be -1: x.view(-1).
    template <Whole T> Tensor view(T size) const { return view(Shape{size}); }
    // The same by reshape().
    template <Whole T> Tensor reshape(T size) const { return reshape(Shape{size}); }
    // Copies along the last dimension: x.repeat(2).
    template <Whole T> Tensor repeat(T times) const { return repeat(DimVector{times}); }

    // PyTorch's older form of var(): of all elements, with the correction 1 if unbiased, else 0.
    template <std::same_as<bool> Bool> Tensor var(Bool unbiased) const
    {
        return var(Dims(), unbiased, false);
    }
    // PyTorch's older form of std(), as var().
    template <std::same_as<bool> Bool> Tensor std(Bool unbiased) const
    {
        return this->std(Dims(), unbiased, false);
    }
    // This tensor where the condition is true or not 0, else `other`.
    Tensor where(const Tensor& condition, const Tensor& other) const;
    Tensor where(const Tensor& condition, double other) const; // the same with a number
    // Windows of `size` elements along dim, one every `step` elements, as a last dimension; a copy, and writing
    // into it throws Error(state) while this tensor exists.  Error(argument) for a size below 0 or a step below
    // 1; Error(shape) for a size above the dimension's.
    Tensor unfold(std::int64_t dim, const Dim& size, std::int64_t step) const;
    Tensor T() const;         // all dimensions in reverse order; a view
    Tensor mT() const;        // the last two dimensions swapped; a view.  Error(shape) for fewer than 2
    Tensor bernoulli() const; // 1 with the probability that each element is, else 0
    // Row numbers drawn by weights: multinomial(*this, count, replacement).
    Tensor multinomial(const Dim& count, bool replacement = false) const;
    // Whether both are handles to the same tensor.
    bool is_same(const Tensor& other) const noexcept { return cell_ == other.cell_; }
    // As transpose(), squeeze(), unsqueeze() and t(), of this tensor and all copies of its handle.  Error(state)
    // for a leaf that requires a gradient, and while recording for a tensor from outside.
    Tensor& transpose_(std::int64_t a, std::int64_t b);
    Tensor& squeeze_();                   // see transpose_()
    Tensor& squeeze_(const Dims& dims);   // see transpose_()
    Tensor& unsqueeze_(std::int64_t dim); // see transpose_()
    Tensor& t_();                         // see transpose_()
    // Sets the elements whose indices are all equal; with `wrap` the diagonal of a tall matrix begins again
    // below.  Error(shape) for fewer than 2 dimensions, and for more unless all sizes are equal.
    Tensor& fill_diagonal_(double value, bool wrap = false);
    // Draws exponentially distributed numbers with the density lambda exp(-lambda x).  Error(dtype) for dtypes
    // that are not floating; Error(argument) unless lambda is above 0.
    Tensor& exponential_(double lambda = 1);
    Tensor& random_(std::int64_t from, std::int64_t to); // draws whole numbers, from <= x < to, as randint()
    Tensor& random_(std::int64_t to);                    // from 0 to `to` - 1
    // From 0 to the largest number of the dtype, for floating dtypes to that up to which all whole numbers exist;
    // at most to 2^31 - 1.
    Tensor& random_();

    // For the library itself.
    const std::shared_ptr<graph::Cell>& cell() const { return cell_; }

private:
    std::size_t elements_to_read() const; // evaluates; throws if the device lacks memory
    [[noreturn]] void fail_to_hold() const;
    template <class T>
    void make_room(std::vector<T>& out) const // may fail for a view, which needs no device memory
    {
        const std::size_t count = elements_to_read();
        try {
            out.resize(count);
        } catch (const std::bad_alloc&) {
            fail_to_hold();
        } catch (const std::length_error&) {
            fail_to_hold();
        }
    }
    void read_all(void* to, std::size_t bytes, DType) const;
    // Writes the value in place.  With `into_indexed` a copy returned by x[mask] is written into x, too.
    Tensor& write(const char* op, const Tensor& value, bool into_indexed = false);
    Tensor& replace_by_view(const char* op, const Tensor& view);
    static void write_back(const char* op, graph::ViewLink&, const Tensor& value);
    std::shared_ptr<graph::Cell> cell_;
};
// to_vector() for bools.
template <> std::vector<bool> Tensor::to_vector<bool>() const;

// The tensor as PyTorch prints it: aligned numbers with 4 digits, integers with all digits; above 1000
// elements the first and last three of each dimension; then the dtype unless it is f32, i64 or bool, the
// device unless it is the default one, and the gradient's state.  Waits for the values.  Of a tensor that is
// being recorded: its type and op.
std::string to_string(const Tensor&);
std::ostream& operator<<(std::ostream&, const Tensor&); // prints to_string()
std::ostream& operator<<(std::ostream&, const Device&); // prints the device's name
std::ostream& operator<<(std::ostream&, const Shape&);  // prints "[2, 3]"

// Starts the computation of several tensors together, without waiting.  Shared values are computed once and
// not stored for later evaluations.  Tensors of different devices are computed one device at a time.
// Error(state) for a tensor that is being recorded.
void eval(const std::vector<Tensor>&);

// The result of mutable_grad(): the gradient of a tensor, which assignments and reset() change.
class MutableGrad : public Tensor {
public:
    explicit MutableGrad(Tensor owner);        // the gradient of this tensor
    MutableGrad(const MutableGrad&) = default; // the gradient of the same tensor
    ~MutableGrad() = default;
    MutableGrad& operator=(const Tensor& gradient); // set_grad() of the tensor
    // The same with another tensor's gradient.
    MutableGrad& operator=(const MutableGrad& gradient)
    {
        return *this = static_cast<const Tensor&>(gradient);
    }
    void reset(); // zero_grad() of the tensor

private:
    Tensor owner_;
};

using TensorList = std::vector<Tensor>; // libtorch's name
using std::nullopt;                     // for options that are left out, as in libtorch

// A leaf that can be assigned: a parameter, or (without a gradient) a moment or a running statistic.
class Variable : public Tensor {
public:
    Variable() = default; // undefined
    // A new leaf with the value of a tensor.  Error(dtype) where a tensor of integers or bools is to require
    // a gradient.
    explicit Variable(const Tensor& value, bool requires_grad = true);
};

// -- operators --
// The elementwise sum.  For all operators: tensors are broadcast by NumPy's rules, and the result's dtype is
// that of promote_types().  A number takes the tensor's dtype; a fraction makes integers f32, and bools
// become i64 or f32.
Tensor operator+(const Tensor&, const Tensor&);
Tensor operator-(const Tensor&, const Tensor&); // the elementwise difference
Tensor operator*(const Tensor&, const Tensor&); // the elementwise product
Tensor operator/(const Tensor&, const Tensor&); // the elementwise quotient, as div(): of integers f32
Tensor operator+(const Tensor&, double);        // x + number
Tensor operator-(const Tensor&, double);        // x - number
Tensor operator*(const Tensor&, double);        // x * number
Tensor operator/(const Tensor&, double);        // x / number
Tensor operator+(double, const Tensor&);        // number + x
Tensor operator-(double, const Tensor&);        // number - x
Tensor operator*(double, const Tensor&);        // number * x
Tensor operator/(double, const Tensor&);        // number / x
// x + size.  A size is a number of the tensor's dtype (i64 for bools); a symbol has its value of each call of
// a program.
Tensor operator+(const Tensor&, const Dim&);
Tensor operator-(const Tensor&, const Dim&);     // x - size
Tensor operator*(const Tensor&, const Dim&);     // x * size
Tensor operator/(const Tensor&, const Dim&);     // x / size
Tensor operator+(const Dim&, const Tensor&);     // size + x
Tensor operator-(const Dim&, const Tensor&);     // size - x
Tensor operator*(const Dim&, const Tensor&);     // size * x
Tensor operator/(const Dim&, const Tensor&);     // size / x
Tensor operator-(const Tensor&);                 // the negative
Tensor operator&(const Tensor&, const Tensor&);  // bitwise and of integers, logical of bools
Tensor operator|(const Tensor&, const Tensor&);  // bitwise or of integers, logical of bools
Tensor operator^(const Tensor&, const Tensor&);  // bitwise exclusive or of integers, logical of bools
Tensor operator<<(const Tensor&, const Tensor&); // integers times 2 to the power of the other
Tensor operator>>(const Tensor&, const Tensor&); // integers over 2 to the power of the other, rounded down
Tensor operator~(const Tensor&);                 // bitwise not of integers, logical of bools
Tensor operator!(const Tensor&);                 // logical not
Tensor operator&&(const Tensor&, const Tensor&); // logical and; computes both sides
Tensor operator||(const Tensor&, const Tensor&); // logical or; computes both sides
Tensor operator%(const Tensor&, const Tensor&);  // remainder(), with the sign of the divisor
Tensor operator%(const Tensor&, double);         // the same with a number
// Whether a < b, elementwise.  All comparisons give a tensor of bools and broadcast.
Tensor operator<(const Tensor&, const Tensor&);
Tensor operator<=(const Tensor&, const Tensor&); // a <= b, elementwise
Tensor operator>(const Tensor&, const Tensor&);  // a > b, elementwise
Tensor operator>=(const Tensor&, const Tensor&); // a >= b, elementwise
Tensor operator==(const Tensor&, const Tensor&); // a == b, elementwise
Tensor operator!=(const Tensor&, const Tensor&); // a != b, elementwise
Tensor operator<(const Tensor&, double);         // x < number
Tensor operator<=(const Tensor&, double);        // x <= number
Tensor operator>(const Tensor&, double);         // x > number
Tensor operator>=(const Tensor&, double);        // x >= number
Tensor operator==(const Tensor&, double);        // x == number
Tensor operator!=(const Tensor&, double);        // x != number
Tensor operator<(const Tensor&, const Dim&);     // x < size
Tensor operator<=(const Tensor&, const Dim&);    // x <= size
Tensor operator>(const Tensor&, const Dim&);     // x > size
Tensor operator>=(const Tensor&, const Dim&);    // x >= size
Tensor operator==(const Tensor&, const Dim&);    // x == size
Tensor operator!=(const Tensor&, const Dim&);    // x != size
Tensor operator==(const Dim&, const Tensor&);    // size == x
Tensor operator!=(const Dim&, const Tensor&);    // size != x
Tensor operator==(double, const Tensor&);        // number == x
Tensor operator!=(double, const Tensor&);        // number != x
Tensor operator<(double, const Tensor&);         // number < x
Tensor operator<=(double, const Tensor&);        // number <= x
Tensor operator>(double, const Tensor&);         // number > x
Tensor operator>=(double, const Tensor&);        // number >= x

} // namespace reprise

#include <reprise/tensor_indices.inc>
