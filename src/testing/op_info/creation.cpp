// Constant tensors, ranges, random numbers, dropout.
#include "testing/op_info/rows.hpp"

namespace reprise::test {

void add_creation(Rows& rows)
{
    rows.op("full").differentiable = false;
    for (const DType dtype : {f32, f16, bf16, i64, i32, u8, boolean})
        rows.sample(name_of(dtype), {arg({n(), 3})}, {0, 1, 7, 200}, [dtype](const Inputs& in) {
            const CreationOptions o{.dtype = dtype, .device = in[0].device()};
            return std::vector{full(in[0].shape(), 1, o), full(in[0].shape(), 37, o),
                               zeros({in[0].size(0)}, o)};
        });
    rows.sample("a size as a number", {arg({n(), 3})}, [](const Inputs& in) {
        const Tensor size = ops::size_like(in[0], in[0].size(0) * 3);
        return std::vector{size, in[0] * size, expand(size, {2, 2})};
    });
    rows.mistake("a negative size", ErrorKind::shape, "negative size (-3)", [] { zeros({2, -3}); });
    rows.mistake("a value that the dtype lacks", ErrorKind::argument, "(300) is none of the dtype (u8)",
                 [] { full({2}, 300, {.dtype = u8}); });

    rows.op("host_scalar").differentiable = false;
    rows.sample("as a number and in memory", {arg({n(), 3})}, [](const Inputs& in) {
        const Tensor s = host_scalar([] { return 0.75; });
        return std::vector{s, cast(s, in[0].dtype()) * in[0], expand(s, {3})};
    });

    rows.op("arange").differentiable = false;
    for (const DType dtype : {f32, f16, bf16, i64, i32, u8})
        rows.sample(name_of(dtype), {arg({n()})}, {0, 1, 5, 130}, [dtype](const Inputs& in) {
            return arange(in[0].size(0), {.dtype = dtype, .device = in[0].device()});
        });
    rows.mistake("a negative end", ErrorKind::argument, "(-1) is below 0", [] { arange(-1); });
    rows.mistake("bool", ErrorKind::dtype, "bool", [] { arange(3, {.dtype = boolean}); });

    rows.op("random_uniform").differentiable = false;
    rows.last().tolerance = 1e-12;
    rows.sample("like x", {arg({n(), 3})}, {0, 1, 7, 500}, [](const Inputs& in) {
        reseed();
        const Tensor first = rand_like(in[0]);
        return std::vector{first, rand_like(in[0])};
    });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype, not (i32)",
                 [] { rand({3}, {.dtype = i32}); });

    rows.op("random_normal").differentiable = false;
    rows.sample("like x", {arg({n(), 3})}, {0, 1, 7, 500}, [](const Inputs& in) {
        reseed();
        return randn_like(in[0]);
    });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype, not (i32)",
                 [] { randn({3}, {.dtype = i32}); });

    rows.op("dropout");
    rows.sample("half", {arg({n(), 3})}, {0, 1, 7, 500}, [](const Inputs& in) {
        reseed();
        return dropout(in[0], 0.5);
    });
    rows.sample("all and nothing", {arg({n(), 5})}, [](const Inputs& in) {
        reseed();
        return dropout(in[0], 0.25) + dropout(in[0], 1) + dropout(in[0], 0.9, false);
    });
    rows.mistake("a probability above 1", ErrorKind::argument, "(1.5)", [] { dropout(ones({3}), 1.5); });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] { dropout(arange(3), 0.5); });
}

} // namespace reprise::test
