// Matrix products by cuBLASLt, if its library is found.  It is part of the CUDA toolkit, not of the driver.
#pragma once
#include "device/cuda/context.hpp"
#include "device/cuda/product.hpp"
#include <atomic>
#include <cublasLt.h>
#include <map>
#include <mutex>

namespace reprise::device::cuda {

// "cuBLASLt 13.0.2"; empty if the library was not found.
std::string blas_version();

// One per device.  The algorithm of a problem is always the first result of the library's heuristic: nothing is
// measured. f32 is requested as f32, and TF32 only if allowed; the environment variable CUBLAS_EMULATE_SINGLE_PRECISION
// can change that, which is the user's choice.
class Blas {
public:
    // A problem described to the library, with its algorithm.
    class Prepared;

    // Throws Error(out_of_memory) if there is no memory for the library or its workspace.
    Blas(Context&, std::uint32_t compute_capability);
    ~Blas();
    Blas(const Blas&) = delete;
    Blas& operator=(const Blas&) = delete;

    bool usable() const noexcept { return handle_ != nullptr; }
    void allow_tensor_float32(bool allowed) noexcept { tensor_float32_ = allowed; }
    bool tensor_float32() const noexcept { return tensor_float32_; }
    // Returns null if the library has no algorithm for the problem or its algorithm fails to launch; the answer is
    // always the same.  The context must be current, as for all functions below.  Thread-safe.
    std::shared_ptr<const Prepared> prepare(const Problem&);
    // All products share a workspace, so they must run one after the other.
    void run(const Product&, const Prepared&, CUstream) const;
    // Returns a graph of the product alone, which the caller owns.  Requires Queue::lock().
    CUgraph capture(const Product&, const Prepared&);
    std::uint64_t captures() const noexcept { return captures_; }

private:
    void open();
    void close() noexcept;
    void check(const char* name, cublasStatus_t status) const;
    cublasStatus_t launch(const Product&, const Prepared&, CUstream) const;
    template <class Launch> CUgraph captured(Launch&&);

    Context& context_;
    const std::uint64_t workspace_bytes_;
    CUdeviceptr workspace_ = 0;
    cublasLtHandle_t handle_ = nullptr;
    std::atomic<std::uint64_t> captures_ = 0;
    std::atomic<bool> tensor_float32_ = false;
    std::mutex mutex_; // guards the members below
    CUstream capturing_ = nullptr;
    std::map<Problem, std::shared_ptr<const Prepared>> prepared_;
};

} // namespace reprise::device::cuda
