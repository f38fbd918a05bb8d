// Products of matrices by cuBLASLt, where its library is found; a part of the toolkit, not of the driver.
#pragma once
#include "device/cuda/context.hpp"
#include "device/cuda/product.hpp"
#include <atomic>
#include <cublasLt.h>
#include <map>
#include <mutex>

namespace reprise::device::cuda {

// "cuBLASLt 13.0.2"; empty where there is none.
std::string blas_version();

// One for a device.  Algorithms are what the library's heuristic says first for a problem, always: nothing is measured.
// f32 is requested as f32, TF32 only where it is allowed; what the environment makes of that
// (CUBLAS_EMULATE_SINGLE_PRECISION) is the user's.
class Blas {
public:
    // A problem in the library's words, with its algorithm.
    class Prepared;

    // Throws Error(out_of_memory) where the library or its workspace finds no room.
    Blas(Context&, std::uint32_t compute_capability);
    ~Blas();
    Blas(const Blas&) = delete;
    Blas& operator=(const Blas&) = delete;

    bool usable() const noexcept { return handle_ != nullptr; }
    void allow_tensor_float32(bool allowed) noexcept { tensor_float32_ = allowed; }
    bool tensor_float32() const noexcept { return tensor_float32_; }
    // Null where the library has no algorithm for the problem, or has one that it does not launch after all: always the same
    // answer.  The context must be current, as for what follows.  Thread-safe.
    std::shared_ptr<const Prepared> prepare(const Problem&);
    // All products share a workspace: they have to run one after the other.
    void run(const Product&, const Prepared&, CUstream) const;
    // A graph of the product alone, which is the caller's.  With Queue::lock() held.
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
    std::mutex mutex_; // of what follows
    CUstream capturing_ = nullptr;
    std::map<Problem, std::shared_ptr<const Prepared>> prepared_;
};

} // namespace reprise::device::cuda
