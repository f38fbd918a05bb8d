// Tensor: a handle to a node of an immutable graph.  Calling an op checks shapes and dtypes at once and
// appends a node; nothing runs until a value is read, eval() is called, or much is pending.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/dim.hpp>
#include <reprise/dtype.hpp>
#include <reprise/error.hpp>

namespace reprise {

namespace graph {
struct Cell; // src/graph/cell.hpp
struct Value;
}

// What may stand on the tape: include/reprise/autograd.hpp has them.
class GradStore;
class HookHandle;
class TapeNode;

using Dims = std::vector<std::int64_t>; // dimensions; negative ones count from the end

struct BackwardOptions {
    bool retain_graph = false;
    bool create_graph = false; // gradients can be differentiated again; implies retain_graph
};

class Tensor {
public:
    Tensor() = default; // undefined
    explicit Tensor(std::shared_ptr<graph::Cell> cell) : cell_(std::move(cell)) {}

    bool defined() const noexcept { return cell_ != nullptr; }
    Shape shape() const;
    std::int64_t dim() const;         // number of dimensions
    Dim size(std::int64_t dim) const; // negative counts from the end
    Dim numel() const;
    DType dtype() const;
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
    // Reads; waits for the device.  T must be the C++ type of dtype() (f16 and bf16 are read as float).
    // Throws Error(state) while recording.
    template <class T> T item() const
    {
        T out{};
        read_one(&out, DTypeOf<T>::value);
        return out;
    }
    template <class T> std::vector<T> to_vector() const // row-major
    {
        std::vector<T> out(elements_to_read());
        read_all(out.data(), out.size() * sizeof(T), DTypeOf<T>::value);
        return out;
    }
    // Makes this handle (and its copies) hold another value of the same shape and dtype; what was computed
    // from the old one keeps it.  A leaf stays a leaf.  Inside record() the cell becomes state of the
    // program.
    void assign(const Tensor& value);

    // -- shapes: views without copies where strides allow --
    Tensor reshape(const Shape&) const; // one size may be -1
    Tensor view(const Shape& s) const { return reshape(s); }
    Tensor flatten(std::int64_t from = 0, std::int64_t to = -1) const;
    Tensor transpose(std::int64_t a, std::int64_t b) const;
    Tensor t() const; // of a matrix; with fewer dimensions the tensor itself
    Tensor permute(const std::vector<std::int64_t>&) const;
    Tensor expand(const Shape&) const; // -1 keeps a size
    Tensor squeeze() const;
    Tensor squeeze(std::int64_t dim) const;
    Tensor unsqueeze(std::int64_t dim) const;
    // A negative start counts from the end.
    Tensor narrow(std::int64_t dim, const Dim& start, const Dim& length) const;
    Tensor contiguous() const;
    Tensor to(DType) const;
    // The elements on another device: waits for them, and goes by the host.  A gradient comes back to where
    // this is.  Error(state) while recording, unless this is there already; Error(unsupported) for a dtype
    // that is not held there.
    Tensor to(const Device&) const;
    Tensor to(const Device&, DType) const;

    // -- the ops that read well as methods; all are in ops.hpp --
    Tensor sum(const std::vector<std::int64_t>& dims = {}, bool keepdim = false) const;
    Tensor mean(const std::vector<std::int64_t>& dims = {}, bool keepdim = false) const;
    Tensor max() const; // of all elements
    Tensor argmax(std::int64_t dim, bool keepdim = false) const;
    Tensor matmul(const Tensor&) const;
    Tensor relu() const;
    Tensor exp() const;
    Tensor log() const;
    Tensor sqrt() const;
    Tensor tanh() const;
    Tensor abs() const;
    Tensor pow(double exponent) const;

    const std::shared_ptr<graph::Cell>& cell() const { return cell_; }

private:
    std::size_t elements_to_read() const; // evaluates: what the device can't hold fails there
    void read_one(void* to, DType) const;
    void read_all(void* to, std::size_t bytes, DType) const;
    std::shared_ptr<graph::Cell> cell_;
};
template <> std::vector<bool> Tensor::to_vector<bool>() const;

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

} // namespace reprise
