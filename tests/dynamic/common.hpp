// What the tests of the dynamic room share.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/dynamic.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise::test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Tensors = std::vector<Tensor>;
using Shapes = std::vector<SymbolicShape>;
using Call = std::function<Tensor(const Tensors&)>;

inline Call checkpointed(const Call& f)
{
    return [f](const Tensors& in) { return checkpoint([&] { return f(in); }); };
}

inline Tensors leaves(const Tensors& values)
{
    Tensors out;
    for (const Tensor& t : values) out.push_back(Variable(t));
    return out;
}

// The output, its gradients by the inputs for the cotangent that stands behind these, and the gradients of
// the sum of their squares by all of them.
inline Tensors differentiate(const Call& f, const Tensors& inputs_and_cotangent)
{
    Tensors all = leaves(inputs_and_cotangent);
    const Tensor dy = all.back();
    const Tensors in(all.begin(), all.end() - 1);
    const Tensor y = f(in);
    const Tensors first = grad({y}, in, {.create_graph = true, .cotangents = {dy}});
    Tensor loss;
    for (const Tensor& g : first) loss = loss.defined() ? loss + sum(g * g) : sum(g * g);
    Tensors out{y};
    out.insert(out.end(), first.begin(), first.end());
    for (const Tensor& g : grad({loss}, all, {.allow_unused = true}))
        out.push_back(g.defined() ? g : zeros({}));
    return out;
}

inline Program recorded(const Call& f, const Shapes& shapes)
{
    std::vector<Spec> specs;
    for (const SymbolicShape& s : shapes) specs.push_back(spec(s));
    return record_function([&](const Tensors& in) { return differentiate(f, in); }, specs);
}

// f beside the same by the plain API, with gradients of two orders: in eager code and recorded, in a
// checkpoint and in none.  Of each of `values`: inputs and a cotangent, which have these shapes.
inline void expect_bits_of(const Call& plain, const Call& f, const Shapes& shapes,
                           const std::vector<Tensors>& values)
{
    const Program program = recorded(f, shapes), with_checkpoint = recorded(checkpointed(f), shapes);
    for (const Tensors& in : values) {
        SCOPED_TRACE(to_string(in[0].shape()));
        const std::vector<Bits> want = bits_of(differentiate(plain, in));
        EXPECT_EQ(bits_of(differentiate(f, in)), want);
        EXPECT_EQ(bits_of(differentiate(checkpointed(f), in)), want);
        EXPECT_EQ(bits_of(program.call(in)), want);
        EXPECT_EQ(bits_of(with_checkpoint.call(in)), want);
    }
}

} // namespace reprise::test
