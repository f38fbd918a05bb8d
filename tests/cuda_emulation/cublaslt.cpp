// A libcublasLt without a GPU: products by a plain loop, in the order of the emulated driver's streams.
//
// The order in which a sum is made depends on all of the problem, strides and alignments too, as a GPU's may: so equal
// bits show equal problems.  What the library would refuse is refused: pitches below the rows, operands less aligned
// than was said, an algorithm of another problem, less workspace than was said.
#include <cublasLt.h>
#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "common/kernel.cuh"
#include "common/shaders.cuh"

extern "C" int reprise_emulated_cuda_refusal(const char* function);
extern "C" void reprise_emulated_cuda_send(CUstream, std::function<void()>);

namespace {

// What stands in the opaque words.
struct Description {
    cublasComputeType_t compute;
    cudaDataType type; // of the scale
    std::int32_t transposed[2];
    cublasLtEpilogue_t epilogue;
    const void* bias; // of D's type: one number for each row
};
struct Layout {
    cudaDataType type;
    std::uint64_t rows, columns;
    std::int64_t pitch, stride;
    std::int32_t batch;
};
struct Preference {
    std::uint64_t workspace;
    std::uint32_t alignment[4], reductions;
};
struct Algorithm {
    std::uint64_t problem, order; // hashes: without alignments and with them
    std::uint64_t workspace;
    std::uint32_t alignment[4];
};
static_assert(sizeof(Description) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

int handles = 0;

template <class T, class Opaque> T& in(Opaque* opaque) { return *reinterpret_cast<T*>(opaque); }

template <class Opaque> Opaque* make() { return new Opaque{}; }

cublasStatus_t put(void* field, std::size_t bytes, const void* value, std::size_t given)
{
    if (given != bytes) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(field, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

struct Problem {
    Description description;
    Layout a, b, d;
};

bool fits(const Problem& p)
{
    const auto outer = [](const Layout& l, bool t) { return t ? l.columns : l.rows; };
    const auto inner = [](const Layout& l, bool t) { return t ? l.rows : l.columns; };
    const bool ta = p.description.transposed[0] == CUBLAS_OP_T,
               tb = p.description.transposed[1] == CUBLAS_OP_T;
    const bool doubles = p.description.compute == CUBLAS_COMPUTE_64F,
               tensor_float32 = p.description.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    if (doubles != (p.d.type == CUDA_R_64F) || (tensor_float32 && p.a.type != CUDA_R_32F)) return false;
    const bool halves = p.a.type == CUDA_R_16F || p.a.type == CUDA_R_16BF;
    const bool biased = p.description.epilogue == CUBLASLT_EPILOGUE_BIAS;
    if (biased ? !p.description.bias || !halves || p.d.batch != 1
               : p.description.epilogue != CUBLASLT_EPILOGUE_DEFAULT)
        return false;
    if (p.a.type != p.b.type || p.a.type != p.d.type) return false;
    for (const Layout* l : {&p.a, &p.b, &p.d}) {
        if (l->pitch < static_cast<std::int64_t>(l->rows)) return false;
        if (l->batch != p.d.batch || l->rows == 0 || l->columns == 0) return false;
    }
    return outer(p.a, ta) == p.d.rows && inner(p.a, ta) == outer(p.b, tb) && inner(p.b, tb) == p.d.columns;
}

struct Hash {
    std::uint64_t value = 0xCBF29CE484222325u; // FNV-1a
    template <class T> void add(T v) { value = (value ^ static_cast<std::uint64_t>(v)) * 0x100000001B3u; }
};

std::uint64_t hash(const Problem& p)
{
    Hash h;
    const auto add = [&](auto v) { h.add(v); };
    add(p.description.compute);
    add(p.description.epilogue);
    add(p.a.type);
    add(p.d.type);
    for (const std::int32_t t : p.description.transposed) add(t);
    for (const Layout* l : {&p.a, &p.b, &p.d}) {
        add(l->rows);
        add(l->columns);
        add(l->pitch);
        add(l->stride);
        add(l->batch);
    }
    return h.value;
}

// Elements as they lie in memory and as they are multiplied.
template <class T> struct Plain {
    using Word = T;
    using Sum = T;
    static T load(T v) { return v; }
    static T store(T v) { return v; }
};
struct TensorFloat : Plain<float> {
    static float load(float v) // to nearest, 10 bits behind the first
    {
        if (!std::isfinite(v)) return v;
        return rp_host::bits<float>((rp_host::bits<std::uint32_t>(v) + 0x1000u) & ~0x1FFFu);
    }
};
template <unsigned dtype> struct Half {
    using Word = std::uint16_t;
    using Sum = float;
    static float load(Word v) { return rp::float_of(v, dtype); }
    static Word store(float v) { return static_cast<Word>(rp::bits_of(v, dtype)); }
};
// In chunks of a length that the order says, from 1 to 7.
template <class Numbers>
void multiply(const Problem& p, std::uint64_t order, const void* a_at, const void* b_at, void* d_at)
{
    using T = typename Numbers::Word;
    using Sum = typename Numbers::Sum;
    const std::int64_t chunk = 1 + static_cast<std::int64_t>(order % 7);
    const bool ta = p.description.transposed[0] == CUBLAS_OP_T,
               tb = p.description.transposed[1] == CUBLAS_OP_T;
    const std::int64_t depth = static_cast<std::int64_t>(ta ? p.a.rows : p.a.columns);
    for (std::int64_t batch = 0; batch < p.d.batch; ++batch) {
        const T* a = static_cast<const T*>(a_at) + batch * p.a.stride;
        const T* b = static_cast<const T*>(b_at) + batch * p.b.stride;
        auto* d = static_cast<T*>(d_at) + batch * p.d.stride;
        const std::int64_t a_row = ta ? p.a.pitch : 1, a_k = ta ? 1 : p.a.pitch;
        const std::int64_t b_k = tb ? p.b.pitch : 1, b_column = tb ? 1 : p.b.pitch;
        for (std::int64_t j = 0; j < static_cast<std::int64_t>(p.d.columns); ++j)
            for (std::int64_t i = 0; i < static_cast<std::int64_t>(p.d.rows); ++i) {
                Sum total = 0;
                for (std::int64_t first = 0; first < depth; first += chunk) {
                    Sum sum = 0;
                    for (std::int64_t k = first; k < std::min(first + chunk, depth); ++k)
                        sum +=
                            Numbers::load(a[i * a_row + k * a_k]) * Numbers::load(b[k * b_k + j * b_column]);
                    total += sum;
                }
                if (const auto* bias = static_cast<const T*>(p.description.bias))
                    total += Numbers::load(bias[i]);
                d[j * p.d.pitch + i] = Numbers::store(total);
            }
    }
}

} // namespace

#define RP_EXPORT extern "C" __attribute__((visibility("default")))
#define RP_ENTER                                                                                             \
    if (const int refused = reprise_emulated_cuda_refusal(__func__); refused != 0)                           \
        return static_cast<cublasStatus_t>(refused);

RP_EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle)
{
    RP_ENTER
    *handle = reinterpret_cast<cublasLtHandle_t>(&handles);
    return CUBLAS_STATUS_SUCCESS;
}
RP_EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
RP_EXPORT std::size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

RP_EXPORT cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                                                  cudaDataType_t type)
{
    *made = make<cublasLtMatmulDescOpaque_t>();
    in<Description>(*made) = {compute, type, {CUBLAS_OP_N, CUBLAS_OP_N}, CUBLASLT_EPILOGUE_DEFAULT, nullptr};
    const bool single = compute == CUBLAS_COMPUTE_32F || compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    const bool known =
        (single && type == CUDA_R_32F) || (compute == CUBLAS_COMPUTE_64F && type == CUDA_R_64F);
    return known ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}
RP_EXPORT cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d)
{
    delete d;
    return CUBLAS_STATUS_SUCCESS;
}
RP_EXPORT cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d,
                                                        cublasLtMatmulDescAttributes_t attribute,
                                                        const void* value, std::size_t bytes)
{
    Description& description = in<Description>(d);
    auto& t = description.transposed;
    switch (attribute) {
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
        return put(&description.epilogue, sizeof description.epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
        return put(&description.bias, sizeof description.bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSA: return put(&t[0], sizeof t[0], value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB: return put(&t[1], sizeof t[1], value, bytes);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

RP_EXPORT cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type,
                                                    std::uint64_t rows, std::uint64_t columns,
                                                    std::int64_t pitch)
{
    *made = make<cublasLtMatrixLayoutOpaque_t>();
    in<Layout>(*made) = {type, rows, columns, pitch, 0, 1};
    return CUBLAS_STATUS_SUCCESS;
}
RP_EXPORT cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l)
{
    delete l;
    return CUBLAS_STATUS_SUCCESS;
}
RP_EXPORT cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t l,
                                                          cublasLtMatrixLayoutAttribute_t attribute,
                                                          const void* value, std::size_t bytes)
{
    Layout& layout = in<Layout>(l);
    switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return put(&layout.batch, sizeof layout.batch, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
        return put(&layout.stride, sizeof layout.stride, value, bytes);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

RP_EXPORT cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made)
{
    *made = make<cublasLtMatmulPreferenceOpaque_t>();
    in<Preference>(*made) = {0, {256, 256, 256, 256}, CUBLASLT_REDUCTION_SCHEME_MASK};
    return CUBLAS_STATUS_SUCCESS;
}
RP_EXPORT cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p)
{
    delete p;
    return CUBLAS_STATUS_SUCCESS;
}
RP_EXPORT cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                              cublasLtMatmulPreferenceAttributes_t attribute,
                                                              const void* value, std::size_t bytes)
{
    Preference& preference = in<Preference>(p);
    switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
        return put(&preference.workspace, sizeof preference.workspace, value, bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
        return put(&preference.reductions, sizeof preference.reductions, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: return put(&preference.alignment[0], 4, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: return put(&preference.alignment[1], 4, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: return put(&preference.alignment[2], 4, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: return put(&preference.alignment[3], 4, value, bytes);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

RP_EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                                        cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                                        cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                                        cublasLtMatmulPreference_t p, int,
                                                        cublasLtMatmulHeuristicResult_t results[], int* count)
{
    RP_ENTER
    const Problem problem = {in<Description>(description), in<Layout>(a), in<Layout>(b), in<Layout>(d)};
    const Preference& preference = in<Preference>(p);
    if (!fits(problem) || preference.reductions != CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)
        return CUBLAS_STATUS_INVALID_VALUE;
    Hash order{hash(problem)};
    for (const std::uint32_t bytes : preference.alignment) order.add(bytes);
    Algorithm algorithm = {hash(problem), order.value, preference.workspace, {}};
    std::copy_n(preference.alignment, 4, algorithm.alignment);
    results[0] = {};
    std::memcpy(&results[0].algo, &algorithm, sizeof algorithm);
    results[0].state = CUBLAS_STATUS_SUCCESS;
    *count = 1;
    return CUBLAS_STATUS_SUCCESS;
}

RP_EXPORT cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void* alpha,
                                        const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                                        cublasLtMatrixLayout_t b_layout, const void* beta, const void*,
                                        cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_layout,
                                        const cublasLtMatmulAlgo_t* chosen, void* workspace,
                                        std::size_t workspace_bytes, cudaStream_t stream)
{
    RP_ENTER
    const Problem problem = {in<Description>(description), in<Layout>(a_layout), in<Layout>(b_layout),
                             in<Layout>(d_layout)};
    Algorithm algorithm;
    std::memcpy(&algorithm, chosen, sizeof algorithm);
    const bool doubles = problem.description.type == CUDA_R_64F;
    const bool plain = doubles
                           ? *static_cast<const double*>(alpha) == 1 && *static_cast<const double*>(beta) == 0
                           : *static_cast<const float*>(alpha) == 1 && *static_cast<const float*>(beta) == 0;
    if (!plain || !workspace || workspace_bytes == 0 || workspace_bytes < algorithm.workspace ||
        algorithm.problem != hash(problem))
        return CUBLAS_STATUS_INVALID_VALUE;
    const void* operands[] = {a, b, d, d, problem.description.bias};
    for (int i = 0; i < 5; ++i)
        if (reinterpret_cast<std::uintptr_t>(operands[i]) % algorithm.alignment[std::min(i, 3)] != 0)
            return CUBLAS_STATUS_INVALID_VALUE;
    using Multiply = void (*)(const Problem&, std::uint64_t, const void*, const void*, void*);
    Multiply function = multiply<Plain<float>>;
    if (doubles) function = multiply<Plain<double>>;
    if (problem.description.compute == CUBLAS_COMPUTE_32F_FAST_TF32) function = multiply<TensorFloat>;
    if (problem.a.type == CUDA_R_16F) function = multiply<Half<rp::DTYPE_F16>>;
    if (problem.a.type == CUDA_R_16BF) function = multiply<Half<rp::DTYPE_BF16>>;
    reprise_emulated_cuda_send(reinterpret_cast<CUstream>(stream),
                               [=] { function(problem, algorithm.order, a, b, d); });
    return CUBLAS_STATUS_SUCCESS;
}
