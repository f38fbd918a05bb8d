#include "device/cuda/blas.hpp"
#include "base/library.hpp"
#include <reprise/error.hpp>

namespace reprise::device::cuda {

namespace {

struct BlasLibrary {
#define RP_BLAS_FUNCTION(name) decltype(&::name) name = nullptr;
#include "device/cuda/blas_functions.def"
#undef RP_BLAS_FUNCTION
    bool complete = false;
};

#ifdef REPRISE_CUBLASLT_STATIC
BlasLibrary load()
{
    BlasLibrary b;
#define RP_BLAS_FUNCTION(name) b.name = &::name;
#include "device/cuda/blas_functions.def"
#undef RP_BLAS_FUNCTION
    b.complete = true;
    return b;
}
#else
BlasLibrary load()
{
    BlasLibrary b;
    const std::string major = std::to_string(CUBLAS_VER_MAJOR);
#ifdef _WIN32
    const reprise::detail::Library library({"cublasLt64_" + major + ".dll"});
#else
    const reprise::detail::Library library({"libcublasLt.so." + major});
#endif
    if (!library) return b;
    b.complete = true;
#define RP_BLAS_FUNCTION(name)                                                                               \
    b.name = library.find<std::remove_pointer_t<decltype(b.name)>>(#name);                                   \
    b.complete = b.complete && b.name;
#include "device/cuda/blas_functions.def"
#undef RP_BLAS_FUNCTION
    return b;
}
#endif

const BlasLibrary& blas()
{
    static const BlasLibrary loaded = load();
    return loaded;
}

void check_status(const char* name, cublasStatus_t status)
{
    if (status == CUBLAS_STATUS_SUCCESS) return;
    if (status == CUBLAS_STATUS_ALLOC_FAILED) {
        reprise::detail::fail(ErrorKind::out_of_memory, name,
                              "The library has no memory: free some and try again.");
    }
    reprise::detail::fail(ErrorKind::internal, name, "The library answered (", static_cast<int>(status),
                          "). Please report it with the library's version, ", blas_version(), ".");
}

// Statuses that mean that the library or the device does not support the problem; they are the same at each call.
bool declines(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
           status == CUBLAS_STATUS_ARCH_MISMATCH;
}

// Owned objects of the library; `function` is the library's function that destroys them.
template <auto function> struct Destroy {
    template <class T> void operator()(T* object) const { (blas().*function)(object); }
};
using Description =
    std::unique_ptr<cublasLtMatmulDescOpaque_t, Destroy<&BlasLibrary::cublasLtMatmulDescDestroy>>;
using Layout =
    std::unique_ptr<cublasLtMatrixLayoutOpaque_t, Destroy<&BlasLibrary::cublasLtMatrixLayoutDestroy>>;
using Preference =
    std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, Destroy<&BlasLibrary::cublasLtMatmulPreferenceDestroy>>;

template <class T> void set(const Description& d, cublasLtMatmulDescAttributes_t attribute, const T& value)
{
    check_status("cublasLtMatmulDescSetAttribute",
                 blas().cublasLtMatmulDescSetAttribute(d.get(), attribute, &value, sizeof value));
}
template <class T> void set(const Layout& l, cublasLtMatrixLayoutAttribute_t attribute, const T& value)
{
    check_status("cublasLtMatrixLayoutSetAttribute",
                 blas().cublasLtMatrixLayoutSetAttribute(l.get(), attribute, &value, sizeof value));
}
template <class T>
void set(const Preference& p, cublasLtMatmulPreferenceAttributes_t attribute, const T& value)
{
    check_status("cublasLtMatmulPreferenceSetAttribute",
                 blas().cublasLtMatmulPreferenceSetAttribute(p.get(), attribute, &value, sizeof value));
}

cudaDataType type_of(Numbers n)
{
    switch (n) {
    case Numbers::f32:
    case Numbers::tf32: return CUDA_R_32F;
    case Numbers::f64: return CUDA_R_64F;
    case Numbers::f16: return CUDA_R_16F;
    case Numbers::bf16: return CUDA_R_16BF;
    }
    return CUDA_R_32F;
}
cublasComputeType_t compute_type_of(Numbers n)
{
    if (n == Numbers::tf32) return CUBLAS_COMPUTE_32F_FAST_TF32;
    return n == Numbers::f64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
}

// `bias` is its address, if the problem has one.
Description describe(const Problem& p, Address bias)
{
    cublasLtMatmulDesc_t created = nullptr;
    check_status("cublasLtMatmulDescCreate",
                 blas().cublasLtMatmulDescCreate(&created, compute_type_of(p.numbers),
                                                 p.numbers == Numbers::f64 ? CUDA_R_64F : CUDA_R_32F));
    Description d(created);
    set(d, CUBLASLT_MATMUL_DESC_TRANSA, p.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(d, CUBLASLT_MATMUL_DESC_TRANSB, p.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (p.bias) {
        set(d, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
        set(d, CUBLASLT_MATMUL_DESC_BIAS_POINTER, reinterpret_cast<const void*>(bias));
    }
    return d;
}

Layout lay_out(const Problem& p, const Matrix& m, cudaDataType type)
{
    cublasLtMatrixLayout_t created = nullptr;
    check_status("cublasLtMatrixLayoutCreate",
                 blas().cublasLtMatrixLayoutCreate(&created, type, static_cast<std::uint64_t>(m.rows),
                                                   static_cast<std::uint64_t>(m.columns), m.pitch));
    Layout l(created);
    set(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(p.batch));
    set(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, m.stride);
    return l;
}

Preference prefer(const Problem& p, std::uint64_t workspace_bytes)
{
    cublasLtMatmulPreference_t created = nullptr;
    check_status("cublasLtMatmulPreferenceCreate", blas().cublasLtMatmulPreferenceCreate(&created));
    Preference preference(created);
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
    // Split-K sums are added by a separate launch, in an order that does not depend on the scheduling of blocks.
    set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.a.alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p.b.alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, p.d.alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, p.d.alignment);
    return preference;
}

// The sizes that cuBLAS recommends: 32 MiB for Hopper and later, 4 MiB for older devices.
std::uint64_t workspace_for(std::uint32_t compute_capability)
{
    return std::uint64_t{compute_capability >= 90 ? 32u : 4u} << 20;
}

constexpr std::size_t max_prepared = 4096;

} // namespace

std::string blas_version()
{
    if (!blas().complete) return "";
    const std::size_t v = blas().cublasLtGetVersion();
    return "cuBLASLt " + std::to_string(v / 10000) + "." + std::to_string(v % 10000 / 100) + "." +
           std::to_string(v % 100);
}

class Blas::Prepared {
public:
    Prepared(const Problem& p, Address bias)
        : doubles(p.numbers == Numbers::f64), description(describe(p, bias)),
          a(lay_out(p, p.a, type_of(p.numbers))), b(lay_out(p, p.b, type_of(p.numbers))),
          d(lay_out(p, p.d, type_of(p.numbers)))
    {}

    bool doubles;
    Description description;
    Layout a, b, d;
    cublasLtMatmulAlgo_t algorithm{};
};

Blas::Blas(Context& context, std::uint32_t compute_capability)
    : context_(context), workspace_bytes_(workspace_for(compute_capability))
{
    if (!blas().complete) return;
    const Context::Current current(context_);
    try {
        open();
    } catch (...) {
        close();
        throw;
    }
}

Blas::~Blas()
{
    // The library's own objects may be destroyed already, so none of its functions is called.
    if (context_.abandoned()) {
        static auto* const left = new std::vector<decltype(prepared_)>;
        left->push_back(std::move(prepared_));
        return;
    }
    const Context::Current current(context_);
    close();
}

void Blas::open()
{
    cublasLtHandle_t created = nullptr;
    const cublasStatus_t status = blas().cublasLtCreate(&created);
    if (status == CUBLAS_STATUS_ALLOC_FAILED) check("cublasLtCreate", status);
    if (status != CUBLAS_STATUS_SUCCESS) return; // the library does not support this device
    handle_ = created;
    context_.call("cuMemAlloc", &Driver::cuMemAlloc, &workspace_, workspace_bytes_);
}

void Blas::close() noexcept
{
    if (handle_) blas().cublasLtDestroy(handle_);
    if (workspace_) context_.driver.cuMemFree(workspace_);
    if (capturing_) context_.driver.cuStreamDestroy(capturing_);
}

void Blas::check(const char* name, cublasStatus_t status) const
{
    if (status == CUBLAS_STATUS_SUCCESS) return;
    // If the device is lost, this call reports it, whatever status the library returned.
    context_.call("cuStreamSynchronize", &Driver::cuStreamSynchronize, context_.stream());
    check_status(name, status);
}

std::shared_ptr<const Blas::Prepared> Blas::prepare(const Problem& problem)
{
    const std::lock_guard lock(mutex_);
    if (const auto cached = prepared_.find(problem); cached != prepared_.end()) return cached->second;
    auto p = std::make_shared<Prepared>(problem, workspace_);
    const Preference preference = prefer(problem, workspace_bytes_);
    cublasLtMatmulHeuristicResult_t result{};
    int found = 0;
    cublasStatus_t status =
        blas().cublasLtMatmulAlgoGetHeuristic(handle_, p->description.get(), p->a.get(), p->b.get(),
                                              p->d.get(), p->d.get(), preference.get(), 1, &result, &found);
    if (status == CUBLAS_STATUS_SUCCESS && found == 0) status = CUBLAS_STATUS_NOT_SUPPORTED;
    if (status == CUBLAS_STATUS_SUCCESS) status = result.state;
    if (status == CUBLAS_STATUS_SUCCESS) {
        p->algorithm = result.algo;
        // A trial run under capture: the library loads what it needs now, not between the launches of a call.
        const CUgraph graph = captured([&](CUstream stream) {
            status = launch({problem, 1, {workspace_, workspace_, workspace_}, {}, workspace_}, *p, stream);
            if (!declines(status)) check("cublasLtMatmul", status);
        });
        context_.driver.cuGraphDestroy(graph);
    }
    if (declines(status)) p = nullptr;
    else check("cublasLtMatmulAlgoGetHeuristic", status);
    if (prepared_.size() >= max_prepared) prepared_.clear(); // later lookups find the same algorithms
    return prepared_[problem] = std::move(p);
}

cublasStatus_t Blas::launch(const Product& product, const Prepared& p, CUstream stream) const
{
    const double one = 1, zero = 0;
    const float one_f = 1, zero_f = 0;
    const void* alpha = p.doubles ? static_cast<const void*>(&one) : &one_f;
    const void* beta = p.doubles ? static_cast<const void*>(&zero) : &zero_f;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    // The description contains the bias's address, and another thread may be using the prepared one.
    const Description own = product.problem.bias ? describe(product.problem, product.bias) : Description();
    const cublasLtMatmulDesc_t description = own ? own.get() : p.description.get();
    for (std::int64_t i = 0; i < product.repeats && status == CUBLAS_STATUS_SUCCESS; ++i) {
        const auto at = [&](std::size_t operand) {
            return reinterpret_cast<void*>(product.at[operand] +
                                           static_cast<Address>(i * product.steps[operand]));
        };
        status = blas().cublasLtMatmul(handle_, description, alpha, at(0), p.a.get(), at(1), p.b.get(), beta,
                                       at(2), p.d.get(), at(2), p.d.get(), &p.algorithm,
                                       reinterpret_cast<void*>(workspace_), workspace_bytes_, stream);
    }
    return status;
}

void Blas::run(const Product& product, const Prepared& p, CUstream stream) const
{
    check("cublasLtMatmul", launch(product, p, stream));
}

// Requires mutex_.
template <class Launch> CUgraph Blas::captured(Launch&& launch)
{
    const Driver& d = context_.driver;
    if (!capturing_) {
        context_.call("cuStreamCreate", &Driver::cuStreamCreate, &capturing_, CU_STREAM_NON_BLOCKING);
    }
    CUgraph graph = nullptr;
    try {
        // Relaxed, since the library may load a kernel during the capture.
        context_.call("cuStreamBeginCapture", &Driver::cuStreamBeginCapture, capturing_,
                      CU_STREAM_CAPTURE_MODE_RELAXED);
        launch(capturing_);
        context_.call("cuStreamEndCapture", &Driver::cuStreamEndCapture, capturing_, &graph);
    } catch (...) { // a stream that may still be capturing can't be reused
        d.cuStreamEndCapture(capturing_, &graph);
        if (graph) d.cuGraphDestroy(graph);
        d.cuStreamDestroy(capturing_);
        capturing_ = nullptr;
        throw;
    }
    return graph;
}

CUgraph Blas::capture(const Product& product, const Prepared& p)
{
    const std::lock_guard lock(mutex_);
    const CUgraph graph = captured([&](CUstream stream) { run(product, p, stream); });
    ++captures_;
    return graph;
}

} // namespace reprise::device::cuda
