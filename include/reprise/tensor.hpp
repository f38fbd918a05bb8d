// Tensor: a handle to a node of an immutable graph.  Calling an op checks shapes and dtypes at once and
// appends a node; nothing runs until a value is read, eval() is called, or much is pending.
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
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/dim.hpp>
#include <reprise/dtype.hpp>
#include <reprise/error.hpp>
#include <reprise/ops/options.hpp>

namespace reprise {

namespace graph {
struct Cell; // src/graph/cell.hpp
struct Value;
}

// What may stand on the tape: include/reprise/autograd.hpp has them.
class GradStore;
class HookHandle;
class TapeNode;

namespace indexing {
class TensorIndex; // indices.hpp
}

// Dimensions, negative ones count from the end: {0, -1}, or 1 for {1}.
class Dims : public std::vector<std::int64_t> {
public:
    Dims() = default;
    Dims(std::initializer_list<std::int64_t> dims) : vector(dims) {}
    Dims(std::vector<std::int64_t> dims) : vector(std::move(dims)) {}
    template <std::integral T>
    requires(!std::same_as<T, bool>) Dims(T dim) : vector{static_cast<std::int64_t>(dim)} {}
};

struct BackwardOptions {
    bool retain_graph = false;
    bool create_graph = false; // gradients can be differentiated again; implies retain_graph
};

class Tensor {
public:
    Tensor() = default; // undefined
    explicit Tensor(std::shared_ptr<graph::Cell> cell) : cell_(std::move(cell)) {}
    Tensor(const Tensor&) = default;
    Tensor(Tensor&&) noexcept = default;
    ~Tensor() = default;
    // A variable is made a handle of the other tensor.  What an expression gives is written into: x[0] = y is
    // x[0].copy_(y), x[0] = 1 is x[0].fill_(1).
    Tensor& operator=(const Tensor&) & = default;
    Tensor& operator=(Tensor&&) & noexcept = default;
    Tensor& operator=(const Tensor& value) &&;
    Tensor& operator=(Tensor&& value) && { return std::move(*this) = static_cast<const Tensor&>(value); }
    Tensor& operator=(double value) &&;

    bool defined() const noexcept { return cell_ != nullptr; }
    Shape shape() const;
    Shape sizes() const { return shape(); }
    std::int64_t dim() const; // number of dimensions
    std::int64_t ndimension() const { return dim(); }
    Dim size(std::int64_t dim) const; // negative counts from the end
    Dim numel() const;
    DType dtype() const;
    DType scalar_type() const { return dtype(); }
    bool is_floating_point() const { return is_floating(dtype()); }
    std::size_t element_size() const { return size_of(dtype()); } // bytes
    Dim nbytes() const { return numel() * Dim(element_size()); }
    Device device() const;

    // -- autograd (PyTorch's rules) --
    bool requires_grad() const;
    // Only for leaves of a floating dtype; throws Error(state) otherwise.
    Tensor& requires_grad_(bool on = true);
    bool is_leaf() const;
    Tensor grad() const; // undefined before the first backward
    void set_grad(const Tensor&);
    void zero_grad(); // grad() becomes undefined
    // Adds d(this)/d(leaf) to each leaf's grad().  Without `gradient` this must have one element, and
    // is computed with these gradients while somebody holds it.
    void backward(const Tensor& gradient = {}, BackwardOptions options = {}) const;
    void backward(const Tensor& gradient, bool retain_graph, bool create_graph = false) const
    {
        backward(gradient, BackwardOptions{.retain_graph = retain_graph, .create_graph = create_graph});
    }
    Tensor detach() const;
    // A handle of its own to the present value, on the same tape: what either one is assigned is not seen by the
    // other, and a gradient goes where this one's does.
    Tensor snapshot() const;
    // A tensor of its own with this value, through which gradients flow; copies no memory.
    Tensor clone() const;
    // The gradients by all leaves below this one; no leaf's grad() changes.
    GradStore gradients(BackwardOptions options = {}) const;
    // backward() leaves a gradient here too, though this is no leaf; nothing changes for a leaf.
    // Error(state) where it requires no gradient.
    void retain_grad() const;
    bool retains_grad() const; // of what is no leaf
    // Called with the gradient by this tensor, once all of it is there, in the order of registration; what
    // it returns, of the same shape and dtype, takes the gradient's place, an undefined tensor leaves it.
    // While a program is recorded it runs then and at no call.  A leaf keeps it; elsewhere it goes with the
    // graph that a pass releases.  Error(state) where no gradient is required.
    HookHandle register_hook(std::function<Tensor(const Tensor&)> hook) const;
    template <class Hook> // one that gives nothing only looks at the gradient
    requires std::is_void_v<std::invoke_result_t<Hook&, const Tensor&>>
    auto register_hook(Hook hook) const
    {
        return register_hook(
            std::function<Tensor(const Tensor&)>([hook = std::move(hook)](const Tensor& gradient) mutable {
                hook(gradient);
                return Tensor();
            }));
    }
    TapeNode grad_fn() const; // what computed it, as the tape knows it; not defined for a leaf

    // -- values --
    void eval() const; // computes what is pending, without waiting
    // Reads; waits for the device.  Throws Error(state) while recording.
    // The one element, converted to T as by to(): Error(argument) where an integer type T has no place for it.
    template <class T = double> T item() const
    {
        T out{};
        read_one(&out, DTypeOf<T>::value);
        return out;
    }
    // All elements, row-major.  T is the C++ type of dtype(), or one that holds each of its values, as float does of f16
    // and std::int64_t of i32; else Error(dtype): convert with to() first.
    template <class T> std::vector<T> to_vector() const
    {
        std::vector<T> out;
        make_room(out);
        read_all(out.data(), out.size() * sizeof(T), DTypeOf<T>::value);
        return out;
    }
    // Makes this handle (and its copies) hold another value of the same shape and dtype; what was computed
    // from the old one keeps it.  A leaf stays a leaf.  Inside record() the cell becomes state of the
    // program.
    void assign(const Tensor& value);

    // -- in place: this handle and its copies get the result, as by assign(), with its gradient --
    // The result has this shape and is brought to this dtype.  Errors: shape where it has another shape; dtype for what is
    // floating in a tensor of integers; state for a leaf that requires a gradient, outside of no_grad.
    // What x[...] and x.index({...}) give without index tensors and masks writes into x, as long as x is alive; with them it
    // is a copy, as in PyTorch, so that x[mask] = 0 and x[mask] += 1 write into x and x[mask].add_(1) does not.  Any other
    // view of a tensor that is alive (reshape, transpose, detach, ...) refuses with Error(state), as the tensor would not see
    // what is written.  Views that were made before keep the values that they had.
    Tensor& operator+=(const Tensor&) &;
    Tensor& operator+=(const Tensor&) &&;
    Tensor& operator+=(double) &;
    Tensor& operator+=(double) &&;
    Tensor& operator-=(const Tensor&) &;
    Tensor& operator-=(const Tensor&) &&;
    Tensor& operator-=(double) &;
    Tensor& operator-=(double) &&;
    Tensor& operator*=(const Tensor&) &;
    Tensor& operator*=(const Tensor&) &&;
    Tensor& operator*=(double) &;
    Tensor& operator*=(double) &&;
    Tensor& operator/=(const Tensor&) &;
    Tensor& operator/=(const Tensor&) &&;
    Tensor& operator/=(double) &;
    Tensor& operator/=(double) &&;
    Tensor& copy_(const Tensor&); // broadcasts, and converts as to()
    Tensor& fill_(double value);
    Tensor& fill_(const Tensor& value); // of one element
    Tensor& zero_();
    Tensor& uniform_(double from = 0, double to = 1); // numbers in [from, to)
    Tensor& normal_(double mean = 0, double std = 1);
    Tensor& bernoulli_(double p = 0.5);

    // -- parts --
    // As PyTorch's index: views, and where index tensors or masks take part copies.  Index tensors broadcast to one
    // another and stand where the first of them stood, or in front where something else lies between them; an index out of
    // range gives NaN (of integers 0).  Masks wait for their values: Error(state) while recording.
    // Error(argument) for a number that is out of range, and for more indices than dimensions.
    Tensor index(const std::vector<indexing::TensorIndex>&) const;
    Tensor operator[](const indexing::TensorIndex&) const; // index({i})
    // Writes `value`, which broadcasts to what index() gives and is converted, or with `accumulate` adds it: then equal
    // indices add up, else the last one is kept.  What lies out of range writes nothing.  In place, as above.
    Tensor& index_put_(const std::vector<indexing::TensorIndex>&, const Tensor& value,
                       bool accumulate = false);
    Tensor& index_put_(const std::vector<indexing::TensorIndex>&, double value, bool accumulate = false);
    Tensor index_put(const std::vector<indexing::TensorIndex>&, const Tensor& value,
                     bool accumulate = false) const;

    // -- dtypes and devices --
    Tensor t() const; // of a matrix; with fewer dimensions the tensor itself
    Tensor to(DType) const;
    // The elements on another device: waits for them, and goes by the host.  A gradient comes back to where
    // this is.  Error(state) while recording, unless this is there already; Error(unsupported) for a dtype
    // that is not held there.
    Tensor to(const Device&) const;
    Tensor to(const Device&, DType) const;
    Tensor to(const Tensor& other) const; // the device and dtype of the other
    Tensor type_as(const Tensor& other) const { return to(other); }
    Tensor cpu() const; // to the device "reference"
    // Of this dtype and device.
    Tensor new_zeros(const Shape&) const;
    Tensor new_ones(const Shape&) const;
    Tensor new_full(const Shape&, double value) const;
    Tensor new_empty(const Shape& shape) const { return new_zeros(shape); }

    // -- the ops of ops.hpp that PyTorch has as methods; those that end in _ are in place --
#include <reprise/tensor_methods.inc>

    const std::shared_ptr<graph::Cell>& cell() const { return cell_; }

private:
    std::size_t elements_to_read() const; // evaluates: what the device can't hold fails there
    [[noreturn]] void fail_to_hold() const;
    template <class T>
    void make_room(std::vector<T>& out) const // of a view, which takes no memory of the device
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
    void read_one(void* to, DType) const;
    void read_all(void* to, std::size_t bytes, DType) const;
    // What is in place.  With `through` a copy that x[mask] gave is written into x.
    Tensor& write(const char* op, const Tensor& value, bool through = false);
    std::shared_ptr<graph::Cell> cell_;
};
template <> std::vector<bool> Tensor::to_vector<bool>() const;

// As PyTorch prints it: 4 digits, or as many as the elements have, aligned; beyond 1000 elements the first and last three of
// each dimension; then the dtype where it is none of f32, i64 and bool, the device where it is not the default one, and
// what the tape knows.  Waits for the values; of a tensor that is being recorded type and op only.
std::string to_string(const Tensor&);
std::ostream& operator<<(std::ostream&, const Tensor&);
std::ostream& operator<<(std::ostream&, const Device&); // its name
std::ostream& operator<<(std::ostream&, const Shape&);  // "[2, 3]"

// Computes what is pending of all of them together, without waiting: what they share is computed once, and nothing of it is
// kept for a later evaluation.  Error(state) for a tensor that is being recorded.  Tensors of several devices: one
// device after the other, as they come first.
void eval(const std::vector<Tensor>&);

// A leaf that can be assigned: a parameter, or (without a gradient) moments and running statistics.
class Variable : public Tensor {
public:
    Variable() = default;
    explicit Variable(const Tensor& value, bool requires_grad = true);
};

// -- operators; an empty or one-element broadcast follows NumPy's rules --
Tensor operator+(const Tensor&, const Tensor&);
Tensor operator-(const Tensor&, const Tensor&);
Tensor operator*(const Tensor&, const Tensor&);
Tensor operator/(const Tensor&, const Tensor&);
Tensor operator+(const Tensor&, double);
Tensor operator-(const Tensor&, double);
Tensor operator*(const Tensor&, double);
Tensor operator/(const Tensor&, double);
Tensor operator+(double, const Tensor&);
Tensor operator-(double, const Tensor&);
Tensor operator*(double, const Tensor&);
Tensor operator/(double, const Tensor&);
// A size as a number of the tensor's dtype: of a symbol the number that it is at each call.
Tensor operator+(const Tensor&, const Dim&);
Tensor operator-(const Tensor&, const Dim&);
Tensor operator*(const Tensor&, const Dim&);
Tensor operator/(const Tensor&, const Dim&);
Tensor operator+(const Dim&, const Tensor&);
Tensor operator-(const Dim&, const Tensor&);
Tensor operator*(const Dim&, const Tensor&);
Tensor operator/(const Dim&, const Tensor&);
Tensor operator-(const Tensor&);
Tensor operator&(const Tensor&, const Tensor&); // bitwise of integers, logical of bools
Tensor operator|(const Tensor&, const Tensor&);
Tensor operator^(const Tensor&, const Tensor&);
Tensor operator~(const Tensor&);
Tensor operator!(const Tensor&); // logical, as && and ||, which compute both sides
Tensor operator&&(const Tensor&, const Tensor&);
Tensor operator||(const Tensor&, const Tensor&);
Tensor operator%(const Tensor&, const Tensor&); // remainder
Tensor operator%(const Tensor&, double);
Tensor operator<(const Tensor&, const Tensor&);
Tensor operator<=(const Tensor&, const Tensor&);
Tensor operator>(const Tensor&, const Tensor&);
Tensor operator>=(const Tensor&, const Tensor&);
Tensor operator==(const Tensor&, const Tensor&); // elementwise: a bool tensor
Tensor operator!=(const Tensor&, const Tensor&);
Tensor operator<(const Tensor&, double);
Tensor operator<=(const Tensor&, double);
Tensor operator>(const Tensor&, double);
Tensor operator>=(const Tensor&, double);
Tensor operator==(const Tensor&, double);
Tensor operator!=(const Tensor&, double);
Tensor operator<(const Tensor&, const Dim&);
Tensor operator<=(const Tensor&, const Dim&);
Tensor operator>(const Tensor&, const Dim&);
Tensor operator>=(const Tensor&, const Dim&);
Tensor operator==(const Tensor&, const Dim&);
Tensor operator!=(const Tensor&, const Dim&);
Tensor operator==(double, const Tensor&);
Tensor operator!=(double, const Tensor&);
Tensor operator<(double, const Tensor&);
Tensor operator<=(double, const Tensor&);
Tensor operator>(double, const Tensor&);
Tensor operator>=(double, const Tensor&);

} // namespace reprise

#include <reprise/indices.hpp> // which needs Tensor
