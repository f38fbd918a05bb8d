// What rows refuse of integers, with its reason, and what they make of long indices.  The values of every row in every
// dtype are checked by `reprise verify` (its ctest entries).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <reprise/error.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>

#include "ops/near.hpp"
#include "shape/error_of.hpp"
#include "support/devices.hpp"
#include "testing/op_suite.hpp"

namespace reprise::test {
namespace {

Setting here() { return {default_device()}; }
Setting oracle() { return {Device("reference"), true}; }

bool has(const Sample& s, DType t)
{
    return std::any_of(s.arguments.begin(), s.arguments.end(),
                       [=](const Argument& a) { return a.dtype == t; });
}

// The same call with every argument of one dtype in another.
Sample in_dtype(Sample s, DType from, DType to)
{
    for (Argument& a : s.arguments)
        if (a.dtype == from) a.dtype = to;
    s.what += std::string(" in ") + name_of(to);
    return s;
}

const Sample* first_sample(const OpInfo& row, DType with)
{
    for (const Sample& s : row.samples)
        if (has(s, with)) return &s;
    return nullptr;
}

std::vector<std::string> rows_with(DType t)
{
    std::vector<std::string> names;
    for (const OpInfo& row : op_infos())
        if (first_sample(row, t)) names.push_back(row.name);
    return names;
}

const auto name_of_row = [](const auto& test) { return test.param; };

// Small whole numbers, at or above 0 where the dtype begins there.
Data whole(Data data, const Sample& s, DType dtype)
{
    for (std::size_t i = 0; i < data.values.size(); ++i)
        if (s.arguments[i].dtype == dtype)
            for (double& v : data.values[i]) v = dtype == u8 ? std::fabs(std::trunc(v)) : std::trunc(v);
    return data;
}

// What an op may answer integers with: that it takes none, that a number it was given is none of the dtype, that a
// target of integers is one of classes.
bool listed(const Caught& refused)
{
    return refused.kind == ErrorKind::dtype ||
           refused.text.find("is none of the dtype (") != std::string::npos ||
           refused.text.find("without its second dimension, the classes") != std::string::npos;
}

struct Integers : testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Ops, Integers, testing::ValuesIn(rows_with(f32)), name_of_row);

TEST_P(Integers, AreTakenOrRefusedAsByTheReference)
{
    const OpInfo& row = op_info(GetParam());
    const Sample& sample = *first_sample(row, f32);
    for (const DType dtype : {i64, i32, i16, i8, u8}) {
        const Sample integers = in_dtype(sample, f32, dtype);
        const std::int64_t size = checked_size(sample);
        const Data data = whole(draw(row, integers, size), integers, dtype);
        const auto call = [&](const Setting& s) { // an op refuses when it is called, not when it is computed
            return error_of([&] { return run(integers, data, s, false), 0; });
        };
        const Caught refused = call({oracle().device});
        EXPECT_EQ(call(here()).text, refused.text) << describe(integers, size);
        EXPECT_TRUE(refused.text == Caught{}.text || listed(refused))
            << describe(integers, size) << ": " << refused.text;
    }
}

struct LongIndices : testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Ops, LongIndices, testing::ValuesIn(rows_with(i32)), name_of_row);

TEST_P(LongIndices, GiveWhatShortOnesGive)
{
    const OpInfo& row = op_info(GetParam());
    const Sample& sample = *first_sample(row, i32);
    const Sample wide = in_dtype(sample, i32, i64);
    const std::int64_t size = checked_size(sample);
    const Data data = draw(row, sample, size);
    const Outcome got = run(wide, data, here(), false), want = run(sample, data, here(), false);
    for (std::size_t i = 0; i < got.outputs.size(); ++i)
        expect_near(cast(got.outputs[i], want.outputs[i].dtype()), want.outputs[i], 0,
                    describe(wide, size)); // wraps
}

} // namespace
} // namespace reprise::test
