#include "testing/op_info/tools.hpp"

namespace reprise::test {

void add_creation(std::vector<OpInfo>& rows)
{
    OpInfo full_row{.name = "full", .differentiable = false};
    for (const DType dtype : {f32, f16, bf16, i64, i32, u8, boolean})
        full_row.samples.push_back({.what = name_of(dtype),
                                    .arguments = {arg({n(), 3})},
                                    .call =
                                        [dtype](const Inputs& in) {
                                            const CreationOptions o{.dtype = dtype, .device = in[0].device()};
                                            return std::vector{full(in[0].shape(), 1, o),
                                                               full(in[0].shape(), 37, o),
                                                               zeros({in[0].size(0)}, o)};
                                        },
                                    .sizes = {0, 1, 7, 200}});
    full_row.samples.push_back(
        {.what = "a size as a number", .arguments = {arg({n(), 3})}, .call = [](const Inputs& in) {
             const Tensor size = ops::size_like(in[0], in[0].size(0) * 3);
             return std::vector{size, in[0] * size, expand(size, {2, 2})};
         }});
    full_row.mistakes = {
        {"a negative size",
         [] {
             zeros({2, -3});
         },
         ErrorKind::shape, "negative size (-3)"},
        {"a value that the dtype lacks", [] { full({2}, 300, {.dtype = u8}); }, ErrorKind::argument,
         "(300) is none of the dtype (u8)"},
    };
    rows.push_back(full_row);

    rows.push_back({.name = "host_scalar",
                    .differentiable = false,
                    .samples = {{.what = "as a number and in memory",
                                 .arguments = {arg({n(), 3})},
                                 .call = [](const Inputs& in) {
                                     const Tensor s = host_scalar([] { return 0.75; });
                                     return std::vector{s, cast(s, in[0].dtype()) * in[0], expand(s, {3})};
                                 }}}});

    OpInfo arange_row{.name = "arange", .differentiable = false};
    for (const DType dtype : {f32, f16, bf16, i64, i32, u8})
        arange_row.samples.push_back(
            {.what = name_of(dtype),
             .arguments = {arg({n()})},
             .call =
                 [dtype](const Inputs& in) {
                     return std::vector{arange(in[0].size(0), {.dtype = dtype, .device = in[0].device()})};
                 },
             .sizes = {0, 1, 5, 130}});
    arange_row.mistakes = {
        {"a negative end", [] { arange(-1); }, ErrorKind::argument, "(-1) is below 0"},
        {"bool", [] { arange(3, {.dtype = boolean}); }, ErrorKind::dtype, "bool"},
    };
    rows.push_back(arange_row);

    rows.push_back({.name = "random_uniform",
                    .differentiable = false,
                    .samples = {{.what = "like x",
                                 .arguments = {arg({n(), 3})},
                                 .call =
                                     [](const Inputs& in) {
                                         reseed();
                                         const Tensor first = rand_like(in[0]);
                                         return std::vector{first, rand_like(in[0])};
                                     },
                                 .sizes = {0, 1, 7, 500}}},
                    .mistakes = {{"integers", [] { rand({3}, {.dtype = i32}); }, ErrorKind::dtype,
                                  "a floating dtype, not (i32)"}},
                    .tolerance = 1e-12});
    rows.push_back({.name = "random_normal",
                    .differentiable = false,
                    .samples = {{.what = "like x",
                                 .arguments = {arg({n(), 3})},
                                 .call =
                                     [](const Inputs& in) {
                                         reseed();
                                         return std::vector{randn_like(in[0])};
                                     },
                                 .sizes = {0, 1, 7, 500}}},
                    .mistakes = {{"integers", [] { randn({3}, {.dtype = i32}); }, ErrorKind::dtype,
                                  "a floating dtype, not (i32)"}}});

    rows.push_back(
        {.name = "dropout",
         .samples = {{.what = "half",
                      .arguments = {arg({n(), 3})},
                      .call =
                          [](const Inputs& in) {
                              reseed();
                              return std::vector{dropout(in[0], 0.5)};
                          },
                      .sizes = {0, 1, 7, 500}},
                     {.what = "all and nothing",
                      .arguments = {arg({n(), 5})},
                      .call =
                          [](const Inputs& in) {
                              reseed();
                              return std::vector{dropout(in[0], 0.25) + dropout(in[0], 1) +
                                                 dropout(in[0], 0.9, false)};
                          }}},
         .mistakes = {
             {"a probability above 1", [] { dropout(ones({3}), 1.5); }, ErrorKind::argument, "(1.5)"},
             {"integers", [] { dropout(arange(3), 0.5); }, ErrorKind::dtype, "a floating dtype"}}});
}

} // namespace reprise::test
