// Products of matrices by cuBLASLt (tests/cuda_emulation/cublaslt.cpp): the problems it gets, and how recordings keep
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <cublasLt.h>

#include <reprise/error.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "cuda_fixture.hpp"
#include "device/cuda/product.hpp"
#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise::device::cuda {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Address a_at = 0x10000, b_at = 0x20000, c_at = 0x30000;

// m, n, k, row strides of a, b, c, batch, strides of a, b, c, column strides of a, b, inners, inner strides of a, b, c
using Ints = std::array<std::int32_t, 16>;

std::optional<Product> product(const Ints& ints, Numbers numbers = Numbers::f32,
                               std::array<Address, 3> at = {a_at, b_at, c_at})
{
    const std::array<Operand, 4> operands{{{at[0], 64}, {at[1], 64}, {at[2], 64}, {at[2], 64}}}; // no bias
    return product_of({operands, {}, ints, 1}, {numbers});
}

TEST(CudaProduct, IsTurnedForColumns)
{
    // c [3, 5] = a [3, 4] b [4, 5]
    const auto p = product({3, 5, 4, 4, 5, 5, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0});
    ASSERT_TRUE(p);
    EXPECT_EQ(p->problem, (Problem{.a = {5, 4, 5}, .b = {4, 3, 4}, .d = {5, 3, 5}}));
    EXPECT_EQ(p->repeats, 1);
    EXPECT_THAT(p->at, ElementsAre(b_at, a_at, c_at));
}

TEST(CudaProduct, TakesOperandsByColumns)
{
    // b [4, 5] stored as [5, 4], a [3, 4] as [4, 3] with a pitch of 7
    const auto p = product({3, 5, 4, 1, 1, 5, 1, 0, 0, 0, 7, 4, 1, 0, 0, 0}, Numbers::f64);
    ASSERT_TRUE(p);
    EXPECT_EQ(p->problem, (Problem{.numbers = Numbers::f64,
                                   .a = {.rows = 4, .columns = 5, .pitch = 4, .transposed = true},
                                   .b = {.rows = 3, .columns = 4, .pitch = 7, .transposed = true},
                                   .d = {5, 3, 5}}));
}

TEST(CudaProduct, TakesTheLongerDimensionOfABatch)
{
    // 6 = 2 x 3: heads inside of rows
    const auto p = product({4, 4, 8, 24, 24, 4, 6, 96, 96, 48, 1, 1, 3, 8, 8, 16});
    ASSERT_TRUE(p);
    EXPECT_EQ(p->problem.batch, 3);
    EXPECT_EQ(p->problem.a.stride, 8);
    EXPECT_EQ(p->problem.d.stride, 16);
    EXPECT_EQ(p->repeats, 2);
    EXPECT_THAT(p->steps, ElementsAre(4 * 96, 4 * 96, 4 * 48));
    // 8 = 4 x 2
    const auto q = product({4, 4, 8, 24, 24, 4, 8, 96, 0, 48, 1, 1, 2, 8, 0, 16});
    ASSERT_TRUE(q);
    EXPECT_EQ(q->problem.batch, 4);
    EXPECT_EQ(q->problem.a.stride, 0); // one matrix for all
    EXPECT_EQ(q->problem.b.stride, 96);
    EXPECT_EQ(q->repeats, 2);
    EXPECT_THAT(q->steps, ElementsAre(0, 4 * 8, 4 * 16));
}

TEST(CudaProduct, MergesABatchOfTwoDimensionsWhereItCan)
{
    const auto p = product({4, 4, 8, 8, 4, 4, 6, 96, 0, 48, 1, 1, 3, 32, 0, 16});
    ASSERT_TRUE(p);
    EXPECT_EQ(p->problem.batch, 6);
    EXPECT_EQ(p->repeats, 1);
    EXPECT_EQ(p->problem, product({4, 4, 8, 8, 4, 4, 6, 32, 0, 16, 1, 1, 1, 0, 0, 0})->problem);
    EXPECT_EQ(p->problem, product({4, 4, 8, 8, 4, 4, 6, 0, 0, 0, 1, 1, 6, 32, 0, 16})->problem);
}

TEST(CudaProduct, KnowsHowOperandsAreAligned)
{
    const Ints ints{3, 5, 4, 4, 5, 5, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0};
    const auto p = product(ints, Numbers::f32, {a_at + 4, b_at + 8, c_at + 32});
    ASSERT_TRUE(p);
    EXPECT_EQ(p->problem.b.alignment, 4u);
    EXPECT_EQ(p->problem.a.alignment, 8u);
    EXPECT_EQ(p->problem.d.alignment, 16u);
    // 3 in a batch, 7 floats, 6 floats and 5 doubles apart
    EXPECT_EQ(product({2, 3, 2, 2, 3, 3, 3, 8, 8, 7, 1, 1, 1, 0, 0, 0})->problem.d.alignment, 4u);
    EXPECT_EQ(product({2, 3, 2, 2, 3, 3, 3, 8, 8, 6, 1, 1, 1, 0, 0, 0})->problem.d.alignment, 8u);
    EXPECT_EQ(product({2, 2, 2, 2, 2, 2, 3, 4, 4, 5, 1, 1, 1, 0, 0, 0}, Numbers::f64)->problem.d.alignment,
              8u);
    // repeated 2 times, 9 floats apart
    const auto q = product({1, 3, 4, 4, 3, 3, 6, 24, 0, 9, 1, 1, 3, 8, 0, 4});
    ASSERT_TRUE(q);
    EXPECT_EQ(q->repeats, 2);
    EXPECT_EQ(q->problem.d.alignment, 4u);
}

// Sizes of 1 that a plan knows have other strides than those that a call brings.
TEST(CudaProduct, OfSizesOfOneIsTheSameForAnyStrideOfThem)
{
    const auto same = [](const Ints& one, const Ints& other) {
        const auto p = product(one), q = product(other);
        ASSERT_TRUE(p);
        ASSERT_TRUE(q);
        EXPECT_EQ(p->problem, q->problem);
        EXPECT_EQ(p->repeats, q->repeats);
    };
    const Ints row{1, 5, 4, 4, 5, 5, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0};
    same(row, {1, 5, 4, 0, 5, 7, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0});
    same(row, {1, 5, 4, 1, 5, 0, 1, 20, 30, 40, 1, 1, 1, 7, 7, 7});
    const Ints column{3, 1, 4, 4, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0};
    same(column, {3, 1, 4, 4, 1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0});
    same(column, {3, 1, 4, 4, 1, 1, 1, 0, 0, 0, 1, 4, 1, 0, 0, 0});
    const Ints inner{3, 5, 1, 1, 5, 5, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0};
    same(inner, {3, 5, 1, 1, 9, 5, 1, 0, 0, 0, 3, 1, 1, 0, 0, 0});
    same({1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0}, {1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0});
}

TEST(CudaProduct, ThatHasNoWordsIsTheKernels)
{
    EXPECT_FALSE(product({3, 5, 4, 8, 5, 5, 1, 0, 0, 0, 2, 1, 1, 0, 0, 0})); // every other column
    EXPECT_FALSE(product({3, 5, 4, 2, 5, 5, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0})); // rows that overlap
    EXPECT_FALSE(product({3, 5, 4, 0, 5, 5, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0})); // one row for all
    EXPECT_FALSE(product({3, 5, 4, 4, 5, 5, 1, 0, 0, 0, -1, 1, 1, 0, 0, 0}));
    EXPECT_FALSE(product({3, 5, 0, 4, 5, 5, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0})); // nothing to add up
}

TEST(CudaProduct, IsMadeOfSomeKernels)
{
    const auto of = [](const char* name) { return product_kernel({.name = name}); };
    EXPECT_EQ(of("gemm_address"), ProductKernel{Numbers::f32});
    EXPECT_EQ(of("gemm_address_f64"), ProductKernel{Numbers::f64});
    EXPECT_EQ(of("gemm_half_f16"), ProductKernel{Numbers::f16});
    EXPECT_EQ(of("gemm_half_bf16_bias"), (ProductKernel{Numbers::bf16, true}));
    EXPECT_EQ(of("gemm_sum"), std::nullopt);
    const auto code = std::make_shared<std::vector<std::uint32_t>>();
    EXPECT_EQ(product_kernel({.name = "gemm_address", .code = code}), std::nullopt);
}

TEST(CudaProduct, CountsTheBytesOfItsNumbers)
{
    const Ints batch{2, 3, 2, 2, 3, 3, 3, 8, 8, 6, 1, 1, 1, 0, 0, 0};
    EXPECT_EQ(product(batch, Numbers::bf16)->problem.d.alignment, 4u);
    EXPECT_EQ(product(batch, Numbers::tf32)->problem.d.alignment, 8u);
    EXPECT_EQ(product(batch, Numbers::f64)->problem.d.alignment, 16u);
    const Ints repeated{4, 5, 6, 6, 5, 5, 6, 100, 0, 60, 1, 1, 3, 24, 0, 20}; // of 2 and 3 that are not one
    EXPECT_EQ(product(repeated, Numbers::f16)->steps[1], 200);
}

TEST(CudaProduct, AddsABias)
{
    const Ints ints{4, 8, 8, 8, 8, 8, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0};
    const std::array<Operand, 4> operands{{{a_at, 64}, {b_at, 64}, {c_at, 64}, {0x40002, 16}}};
    const auto p = product_of({operands, {}, ints, 1}, {Numbers::bf16, true});
    EXPECT_TRUE(p.value().problem.bias);
    EXPECT_EQ(p->bias, 0x40002u);
    EXPECT_EQ(p->problem.d.alignment, 2u); // without the bias 16
}

// -- recordings --

// Whole numbers, so that sums are exact in any order.
std::vector<float> numbers(std::int64_t count, int seed)
{
    std::vector<float> v(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < v.size(); ++i)
        v[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(seed)) % 11) - 5;
    return v;
}

class CudaProducts : public CudaFixture {
protected:
    static constexpr std::int64_t k = 6, n = 5, most_rows = 64;

    CudaProducts()
    {
        a_ = place(numbers(2 * most_rows * k, 1));
        b_ = place(numbers(k * n, 2));
        c_ = device().allocate(4 * most_rows * n);
        x_ = device().allocate(64);
    }
    std::unique_ptr<Memory> place(const std::vector<float>& v)
    {
        auto m = device().allocate(4 * v.size());
        device().upload(m->address, std::as_bytes(std::span(v)));
        return m;
    }
    static LaunchDeclaration gemm(std::uint32_t epoch)
    {
        return {.kernel = {.name = "gemm_address"},
                .operands = {Access::read, Access::read, Access::write, Access::read},
                .ints = 16,
                .epoch = epoch};
    }
    // c [m, n] = a [m, k] b, with a's columns `step` elements apart
    static void set_gemm(Recording& r, std::uint32_t launch, const Memory& a, const Memory& b,
                         const Memory& c, std::int64_t m, int step = 1)
    {
        const std::array<Operand, 4> operands{
            {{a.address, a.bytes}, {b.address, b.bytes}, {c.address, c.bytes}, {c.address, c.bytes}}};
        const Ints ints{
            static_cast<int>(m), n, k, step * static_cast<int>(k), n, n, 1, 0, 0, 0, step, 1, 1, 0, 0, 0};
        r.set(launch, {operands, {}, ints, static_cast<std::uint64_t>((m + 7) / 8)});
    }
    void expect_product(const Memory& c, std::int64_t m, int step = 1)
    {
        const std::vector<float> a = numbers(2 * most_rows * k, 1), b = numbers(k * n, 2);
        std::vector<float> want(static_cast<std::size_t>(m * n));
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j)
                for (std::int64_t l = 0; l < k; ++l)
                    want[static_cast<std::size_t>(i * n + j)] +=
                        a[static_cast<std::size_t>((i * k + l) * step)] *
                        b[static_cast<std::size_t>(l * n + j)];
        EXPECT_EQ(read(c, want.size()), want);
    }
    // Of a recording with one product, and more launches than it takes to make its capture worth while.
    void set(Recording& r, const Memory& c, std::int64_t m, int step = 1)
    {
        r.begin();
        set_gemm(r, 0, *a_, *b_, c, m, step);
        for (std::uint32_t i = 1; i < 10; ++i) set_full(r, i, *x_, 16, 3, 1);
    }
    void call(Recording& r, std::int64_t m, int step = 1)
    {
        SCOPED_TRACE(m);
        set(r, *c_, m, step);
        r.submit();
        expect_product(*c_, m, step);
    }
    void call_twice(Recording& r, std::int64_t m, int step = 1) // from the second on there is a graph
    {
        call(r, m, step);
        call(r, m, step);
    }
    std::unique_ptr<Recording> one_product(const RecordingOptions& options = {})
    {
        std::vector<LaunchDeclaration> launches{gemm(0)};
        for (std::uint32_t i = 1; i < 10; ++i) launches.push_back(full(i));
        return device().record(launches, options);
    }
    // Captures of products by f, which makes no other graph.
    template <class F> std::uint64_t captures_in_the_graphs(F&& f)
    {
        const std::uint64_t before = device().counters().captures;
        fail("cuGraphInstantiateWithFlags", CUDA_ERROR_UNKNOWN);
        f();
        fail("cuGraphInstantiateWithFlags", CUDA_SUCCESS);
        return device().counters().captures - before;
    }
    template <class F> std::uint64_t captures(F&& f)
    {
        const std::uint64_t before = device().counters().captures;
        f();
        return device().counters().captures - before;
    }

    std::unique_ptr<Memory> a_, b_, c_, x_;
};

TEST_F(CudaProducts, AreCapturedWhenTheirSizesComeAgain)
{
    const auto r = one_product();
    EXPECT_EQ(captures_in_the_graphs([&] { call(*r, 7); }), 0u); // one by one
    EXPECT_EQ(captures([&] { call(*r, 7); }), 1u);
    EXPECT_EQ(captures_in_the_graphs([&] {
                  for (int i = 0; i < 5; ++i) call(*r, 7);
                  call(*r, 8);
              }),
              0u);
    EXPECT_EQ(captures([&] { call(*r, 8); }), 1u);
    EXPECT_EQ(captures_in_the_graphs([&] {
                  for (int i = 0; i < 5; ++i) call(*r, 7 + i % 2);
              }),
              0u);
}

TEST_F(CudaProducts, WithAnOperandElsewhereAreCapturedInTheirGraph)
{
    const auto r = one_product();
    call_twice(*r, 7);
    const auto other = device().allocate(c_->bytes);
    EXPECT_EQ(captures_in_the_graphs([&] {
                  set(*r, *other, 7);
                  r->submit();
              }),
              1u);
    expect_product(*other, 7);
    EXPECT_EQ(captures_in_the_graphs([&] { call(*r, 7); }), 1u);
}

TEST_F(CudaProducts, ThatAllLieElsewhereGoOneByOne)
{
    const std::vector<LaunchDeclaration> launches{gemm(0), full(1)};
    const auto r = device().record(launches, {});
    const auto other = device().allocate(c_->bytes);
    const auto step = [&](const Memory& c) {
        r->begin();
        set_gemm(*r, 0, *a_, *b_, c, 7);
        set_full(*r, 1, *x_, 16, 3, 1);
        r->submit();
        expect_product(c, 7);
    };
    step(*c_);
    EXPECT_EQ(captures([&] { step(*c_); }), 1u);
    EXPECT_EQ(captures_in_the_graphs([&] {
                  step(*other);
                  step(*c_);
              }),
              0u);
}

// The driver says that an inner graph does not fit in the place of the one before, and the whole is made anew.
TEST_F(CudaProducts, WhoseGraphTheDriverRefusesToChangeGetAnother)
{
    const auto r = one_product();
    const auto other = device().allocate(c_->bytes);
    call_twice(*r, 7);
    for (const int refusal : {CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, CUDA_ERROR_INVALID_VALUE}) {
        fail("cuGraphExecChildGraphNodeSetParams", refusal);
        EXPECT_EQ(captures([&] {
                      set(*r, *other, 7);
                      r->submit();
                  }),
                  2u);
        expect_product(*other, 7);
        call(*r, 7);
    }
}

TEST_F(CudaProducts, OfTheSizesUsedLastAreKept)
{
    const auto r = one_product();
    for (std::int64_t m = 1; m <= 32; ++m) call_twice(*r, m);
    call(*r, 1); // the oldest is 2 now
    EXPECT_EQ(captures_in_the_graphs([&] {
                  for (int i = 0; i < 7; ++i) call(*r, 33);
              }),
              0u); // it has to come often
    EXPECT_EQ(captures([&] { call(*r, 33); }), 1u);
    EXPECT_EQ(captures_in_the_graphs([&] {
                  call(*r, 1);
                  for (std::int64_t m = 3; m <= 33; ++m) call(*r, m);
                  call(*r, 2); // one by one
              }),
              0u);
}

// Graphs go while calls of theirs are in flight: the emulation runs nothing before somebody waits.
TEST_F(CudaProducts, WhoseGraphGoesAreFinished)
{
    auto r = one_product({.slots = 8});
    call_twice(*r, 7);
    std::vector<std::unique_ptr<Memory>> out;
    for (int i = 0; i < 6; ++i) {
        out.push_back(device().allocate(c_->bytes));
        fail("cuGraphExecChildGraphNodeSetParams", CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
        set(*r, *out.back(), 7);
        r->submit();
    }
    r.reset();
    for (const auto& c : out) expect_product(*c, 7);
}

TEST_F(CudaProducts, OfNoRowsAreNothing)
{
    const auto r = one_product();
    for (const std::int64_t m : {3, 0, 3, 0, 1, 0, 3, 1}) call(*r, m);
}

// A batch of two dimensions that are not one: [2, 3] matrices of 4 x k, the second operand for all.
TEST_F(CudaProducts, OfABatchAreRepeated)
{
    const LaunchDeclaration l = gemm(0);
    const auto r = device().record({&l, 1}, {});
    const std::vector<float> a = numbers(2 * most_rows * k, 1), b = numbers(k * n, 2);
    constexpr std::int64_t m = 4, outer = 12 * k + 4, inner = 4 * k, batches = 6;
    for (int round = 0; round < 3; ++round) {
        const std::array<Operand, 4> operands{{{a_->address, a_->bytes},
                                               {b_->address, b_->bytes},
                                               {c_->address, c_->bytes},
                                               {c_->address, c_->bytes}}};
        const Ints ints{m, n, k, k, n, n, batches, outer, 0, 3 * m * n, 1, 1, 3, inner, 0, m * n};
        r->begin();
        r->set(0, {operands, {}, ints, 6});
        r->submit();
        const std::vector<float> got = read(*c_, batches * m * n);
        for (std::int64_t i = 0; i < batches * m; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
                float want = 0;
                for (std::int64_t s = 0; s < k; ++s)
                    want +=
                        a[static_cast<std::size_t>(i / m / 3 * outer + i / m % 3 * inner + i % m * k + s)] *
                        b[static_cast<std::size_t>(s * n + j)];
                ASSERT_EQ(got[static_cast<std::size_t>(i * n + j)], want) << i << " " << j;
            }
    }
    EXPECT_EQ(device().counters().captures, 1u);
}

// One workspace for all: the emulation breaks where two products may run at once.
TEST_F(CudaProducts, OfOneEpochRunOneAfterTheOther)
{
    const std::vector<LaunchDeclaration> launches{full(0), gemm(1), gemm(1), full(1),
                                                  gemm(1), gemm(2), gemm(2)};
    const auto r = device().record(launches, {});
    std::vector<std::unique_ptr<Memory>> out;
    for (int i = 0; i < 5; ++i) out.push_back(device().allocate(c_->bytes));
    const auto x = device().allocate(64), y = device().allocate(64);
    for (int round = 0; round < 20; ++round) {
        r->begin();
        set_full(*r, 0, *x, 16, round, 1);
        set_full(*r, 3, *y, 16, round, 1);
        const std::array<std::uint32_t, 5> at{1, 2, 4, 5, 6};
        for (std::size_t i = 0; i < at.size(); ++i)
            set_gemm(*r, at[i], *a_, *b_, *out[i], round % 3 + static_cast<int>(i));
        device().wait(r->submit());
        for (std::size_t i = 0; i < at.size(); ++i) expect_product(*out[i], round % 3 + static_cast<int>(i));
        EXPECT_THAT(read(*y, 16), Each(round));
    }
}

TEST_F(CudaProducts, OfStridesWithoutWordsAreTheKernels)
{
    const auto r = one_product();
    EXPECT_EQ(captures([&] { call_twice(*r, 7, 2); }), 0u);
    EXPECT_EQ(captures([&] { call_twice(*r, 7, 1); }), 1u);
    EXPECT_EQ(captures_in_the_graphs([&] { call(*r, 7, 2); }), 0u);
}

TEST_F(CudaProducts, ThatTheLibraryDeclinesAreTheKernelsAlways)
{
    std::int64_t m = 20;
    for (const char* function : {"cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul"})
        for (const int status :
             {CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_INVALID_VALUE, CUBLAS_STATUS_ARCH_MISMATCH}) {
            fail(function, status);
            EXPECT_EQ(captures([&] {
                          for (int i = 0; i < 3; ++i) call_twice(*one_product(), m);
                      }),
                      0u);
            ++m;
        }
    EXPECT_EQ(captures([&] { call_twice(*one_product(), 19); }), 1u);
}

// 1 + 2^-12 has more than 10 bits behind the first.
TEST_F(CudaProducts, RoundTheirOperandsWhereTheyMay)
{
    a_ = place(std::vector<float>(7 * k, 1 + std::ldexp(1.0F, -12)));
    b_ = place(std::vector<float>(k * n, 1));
    const auto r = one_product();
    for (int round = 0; round < 3; ++round)
        for (const bool may : {false, true, true}) {
            device().set_tensor_float32(may);
            set(*r, *c_, 7);
            r->submit();
            EXPECT_THAT(read(*c_, 7 * n), Each(may ? 6.0F : 6.0F + 6 * std::ldexp(1.0F, -12)));
        }
    device().set_tensor_float32(false);
}

TEST_F(CudaProducts, AreTimedAndSentOnceWithoutGraphs)
{
    EXPECT_EQ(captures_in_the_graphs([&] {
                  const auto timed = one_product({.timestamps = true});
                  for (const std::int64_t m : {7, 8, 7}) call(*timed, m);
                  EXPECT_EQ(timed->times().begun.size(), 11u);
                  call(*one_product({.one_shot = true}), 9);
              }),
              0u);
}

struct Failure {
    const char* function;
    int status;
    ErrorKind kind;
};

TEST_F(CudaProducts, ThatCanNotBePreparedLeaveARecordingAsItIs)
{
    const auto r = one_product();
    std::int64_t m = 10;
    for (const Failure& f :
         {Failure{"cublasLtMatmul", CUBLAS_STATUS_INTERNAL_ERROR, ErrorKind::internal},
          {"cublasLtMatmul", CUBLAS_STATUS_ALLOC_FAILED, ErrorKind::out_of_memory},
          {"cublasLtMatmulAlgoGetHeuristic", CUBLAS_STATUS_ALLOC_FAILED, ErrorKind::out_of_memory},
          {"cuStreamBeginCapture_v2", CUDA_ERROR_OUT_OF_MEMORY, ErrorKind::out_of_memory},
          {"cuStreamEndCapture", CUDA_ERROR_OUT_OF_MEMORY, ErrorKind::out_of_memory}}) {
        SCOPED_TRACE(f.function);
        fail(f.function, f.status);
        EXPECT_EQ(error_of([&] { return set(*r, *c_, m), 0; }).kind, f.kind);
        call(*r, m++);
        call(*r, 4);
    }
}

// A graph is for speed: a call does without where there is no memory for it.
TEST_F(CudaProducts, WithoutMemoryForAGraphGoOneByOne)
{
    for (const char* function : {"cuStreamBeginCapture_v2", "cublasLtMatmul", "cuGraphAddChildGraphNode",
                                 "cuGraphInstantiateWithFlags"}) {
        SCOPED_TRACE(function);
        const auto r = one_product();
        call(*r, 7);
        fail(function, function == std::string("cublasLtMatmul") ? int{CUBLAS_STATUS_ALLOC_FAILED}
                                                                 : int{CUDA_ERROR_OUT_OF_MEMORY});
        call(*r, 7);
        const auto other = device().allocate(c_->bytes);
        call_twice(*r, 7);
        call(*r, 7);
        fail("cuGraphExecChildGraphNodeSetParams", CUDA_ERROR_OUT_OF_MEMORY);
        set(*r, *other, 7);
        r->submit();
        expect_product(*other, 7);
        call(*r, 7);
    }
}

// What went to the device before reads records that the host may write anew; and it is not sent again.
TEST_F(CudaProducts, ThatFailBehindOtherLaunchesWaitForThem)
{
    const auto y = device().allocate(4 * 1024), z = device().allocate(4 * 1024);
    const std::vector<LaunchDeclaration> launches{full(0), gemm(1)};
    const auto once = [&](Recording& r, const Memory& to, int value) {
        r.begin();
        set_full(r, 0, to, 1024, value, 4);
        set_gemm(r, 1, *a_, *b_, *c_, 7);
        r.submit();
    };
    once(*device().record(launches, {.one_shot = true}), *y, 0); // the product is prepared
    fail("cublasLtMatmul", CUBLAS_STATUS_INTERNAL_ERROR);
    EXPECT_EQ(error_of([&] { return once(*device().record(launches, {.one_shot = true}), *y, 1), 0; }).kind,
              ErrorKind::internal);
    once(*device().record(launches, {.one_shot = true}), *z, 2);
    EXPECT_THAT(read(*y, 1024), Each(1));
    EXPECT_THAT(read(*z, 1024), Each(2));

    const auto r = device().record(launches, {});
    fail("cublasLtMatmul", CUBLAS_STATUS_INTERNAL_ERROR);
    EXPECT_EQ(error_of([&] { return once(*r, *y, 3), 0; }).kind, ErrorKind::internal);
    EXPECT_THAT(error_of([&] { return r->submit(); }).text, HasSubstr("since begin()"));
    once(*r, *y, 4);
    EXPECT_THAT(read(*y, 1024), Each(4));
    expect_product(*c_, 7);
}

TEST_F(CudaProducts, OnALostDeviceSayThatItIsLost)
{
    const auto r = one_product();
    call(*r, 4);
    fail("cublasLtMatmul", CUBLAS_STATUS_EXECUTION_FAILED);
    fail("cuStreamSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_EQ(error_of([&] { return call(*r, 5), 0; }).kind, ErrorKind::device_lost);
    EXPECT_TRUE(device().lost());
}

class CudaProductLibrary : public CudaFixture {
protected:
    ErrorKind refusal(const char* function, int status)
    {
        close();
        fail(function, status);
        const ErrorKind kind = error_of([&] { return open("cuda:0"), 0; }).kind;
        device_ = open("cuda:0"); // which goes, now
        EXPECT_THAT(device().capabilities().product_library, HasSubstr("cuBLASLt 13."));
        return kind;
    }
};

TEST_F(CudaProductLibrary, ThatFindsNoMemoryLetsNoDeviceOpen)
{
    EXPECT_EQ(refusal("cublasLtCreate", CUBLAS_STATUS_ALLOC_FAILED), ErrorKind::out_of_memory);
    EXPECT_EQ(refusal("cuMemAlloc_v2", CUDA_ERROR_OUT_OF_MEMORY), ErrorKind::out_of_memory);
}

TEST_F(CudaProductLibrary, ThatIsNotForTheDeviceLeavesItItsKernels)
{
    close();
    fail("cublasLtCreate", CUBLAS_STATUS_NOT_INITIALIZED);
    device_ = open("cuda:0");
    EXPECT_EQ(device().capabilities().product_library, "");
}

} // namespace
} // namespace reprise::device::cuda
