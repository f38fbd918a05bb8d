// Automatic mixed precision: products in 16 bits, sums and losses in f32.
#pragma once
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/dtype.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// While this object exists, ops on this thread choose the dtype that they compute in, as with torch.autocast:
// products, convolutions and attention cast their arguments to `dtype`; sums, norms, losses, softmax and the
// functions of exp, log and pow cast f16 and bf16 to f32; docs/mixed-precision.md lists them all.  Other ops
// compute in the dtypes of their arguments.  Only f32, f16 and bf16 are cast.  Casts are differentiated, so
// that the gradients of f32 weights are f32.  Gradients are computed in the dtypes of the forward pass, whether
// or not a guard exists then.  Ops in place are never cast.
//
// Guards nest, and the innermost counts.  Where a recorded function calls an op that autocast could cast and
// has set no guard itself, the program depends on the guard around its recording: its calls throw Error(state)
// unless they are within an equal one.
class autocast {
public:
    // `dtype` is f16 or bf16, else Error(dtype).  With f16, gradients can become 0 or infinite.  enabled =
    // false turns an outer guard off.
    explicit autocast(DType dtype = bf16, bool enabled = true);
    ~autocast(); // restores the previous state
    autocast(const autocast&) = delete;
    autocast& operator=(const autocast&) = delete;

private:
    DType dtype_before_;
    bool before_;
    std::uint32_t set_in_before_;
};

// Returns a function that calls f within autocast(dtype): PyTorch's decorator.
template <class F> auto autocasted(F f, DType dtype = bf16)
{
    return [f = std::move(f), dtype]<class... Arguments>(
               Arguments&&... arguments) mutable -> std::invoke_result_t<F&, Arguments...> {
        const autocast guard(dtype);
        return f(std::forward<Arguments>(arguments)...);
    };
}

bool autocast_enabled(); // whether ops on this thread choose their dtypes
DType autocast_dtype();  // the dtype of the innermost guard; bf16 without one

// For functions of your own: return the tensor as the functions of autocast's lists take it.  Without a guard, and
// for dtypes that autocast does not cast, that is the tensor itself.
Tensor autocast_to_low(const Tensor&); // cast to the dtype of the guard
Tensor autocast_to_f32(const Tensor&); // f16 and bf16 cast to f32
// Cast to the widest dtype of all of them and of the guard; undefined ones stay undefined.
std::vector<Tensor> autocast_to_widest(std::vector<Tensor>);

} // namespace reprise
