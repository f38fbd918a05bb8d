// Attention and its parts.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

const Dim& padded()
{
    static const Dim size = round_up(n(), 4);
    return size;
}

graph::Attributes softmax_attributes(const Dim& length, bool causal)
{
    return {{"length", length}, {"scale", 0.5}, {"causal", std::int64_t{causal}}};
}

// The size n() comes from another input, as attributes can't name the test's symbol.
void add_scores(std::vector<OpInfo>& rows)
{
    rows.push_back({.name = "attention_scores",
                    .samples = {{.what = "any number of keys",
                                 .arguments = {arg({2, 3, 5}), arg({2, n(), 5})},
                                 .call = apply(ops::attention_scores_op),
                                 .sizes = {0, 1, 3, 8, 33}},
                                {.what = "heads inside of rows",
                                 .arguments = {arg({2, n(), 3, 8}), arg({2, n(), 3, 8})},
                                 .call =
                                     [](const Inputs& in) {
                                         return graph::apply(
                                             ops::attention_scores_op,
                                             {transpose(in[0], 1, 2), transpose(in[1], 1, 2)});
                                     }}},
                    .tolerance = 5e-6});
    rows.push_back({.name = "attention_values",
                    .samples = {{.what = "any number of keys",
                                 .arguments = {arg({2, 3, 5, padded()}), arg({2, 3, n(), 4})},
                                 .call = apply(ops::attention_values_op)},
                                {.what = "as many columns as keys",
                                 .arguments = {arg({2, 5, n()}), arg({2, n(), 6})},
                                 .call = apply(ops::attention_values_op)}},
                    .tolerance = 5e-6});
    rows.push_back({.name = "matmul_heads",
                    .samples = {{.what = "odd sizes",
                                 .arguments = {arg({2, 3, n(), 5}), arg({2, 3, 5, 7})},
                                 .call = apply(ops::matmul_heads_op)},
                                {.what = "texels",
                                 .arguments = {arg({3, 8, n()}), arg({3, n(), 32})},
                                 .call = apply(ops::matmul_heads_op),
                                 .sizes = {0, 1, 16}}},
                    .tolerance = 5e-6});
}

void add_softmax_of_scores(std::vector<OpInfo>& rows)
{
    OpInfo forward{.name = "attention_softmax"}, backward{.name = "attention_softmax_vjp"};
    for (const bool causal : {false, true}) {
        const char* what = causal ? "causal" : "all";
        forward.samples.push_back({.what = what,
                                   .arguments = {arg({2, 6, padded()}, -3, 3), fixed(arg({n()}))},
                                   .call =
                                       [causal](const Inputs& in) {
                                           return graph::apply(ops::attention_softmax_op, {in[0]},
                                                               softmax_attributes(in[1].size(0), causal));
                                       },
                                   .sizes = {1, 3, 8, 300}});
        forward.samples.push_back({.what = std::string(what) + ", any number of queries",
                                   .arguments = {arg({2, n(), 7}, -3, 3)},
                                   .call = apply(ops::attention_softmax_op, softmax_attributes(6, causal))});
        // y is 0 where nothing counts.
        backward.samples.push_back(
            {.what = what,
             .arguments = {arg({2, 6, padded()}), arg({2, 6, padded()}), fixed(arg({n()}))},
             .call =
                 [causal](const Inputs& in) {
                     const Dim length = in[2].size(0);
                     Tensor y = pad(narrow(in[1], 2, 0, length), {0, in[1].size(2) - length});
                     if (causal) y = tril(y);
                     return graph::apply(ops::attention_softmax_vjp_op, {in[0], y},
                                         softmax_attributes(length, causal));
                 },
             .sizes = {1, 3, 8}});
    }
    rows.insert(rows.end(), {forward, backward});
}

Sample attention(const char* what, std::vector<Argument> arguments, AttentionOptions options,
                 std::vector<std::int64_t> sizes = {1, 3, 8})
{
    return {.what = what,
            .arguments = std::move(arguments),
            .call =
                [options](const Inputs& in) {
                    AttentionOptions o = options;
                    if (in.size() > 3) o.attn_mask = in[3];
                    if (o.dropout_p > 0) reseed();
                    return std::vector{scaled_dot_product_attention(in[0], in[1], in[2], o)};
                },
            .sizes = std::move(sizes)};
}

} // namespace

void add_attention(std::vector<OpInfo>& rows)
{
    add_scores(rows);
    add_softmax_of_scores(rows);
    const Argument heads = arg({2, 3, n(), 8});
    rows.push_back(
        {.name = "scaled_dot_product_attention",
         .is_op = false,
         .samples = {attention("causal", {heads, heads, heads}, {.is_causal = true}, {0, 1, 3, 8, 33}),
                     attention("all", {arg({2, n(), 5}), arg({2, 4, 5}), arg({2, 4, 3})}, {.scale = 0.7}),
                     attention("any number of keys", {arg({3, 4, 8}), arg({3, n(), 8}), arg({3, n(), 8})},
                               {.is_causal = true}),
                     attention("matrices", {arg({n(), 4}), arg({5, 4}), arg({5, 4})}, {}),
                     attention("broadcast", {arg({2, 1, n(), 4}), arg({3, n(), 4}), arg({1, n(), 4})}, {}),
                     attention("dropout", {heads, heads, heads}, {.dropout_p = 0.3, .is_causal = true}),
                     attention("an added mask", {heads, heads, heads, arg({n(), n()})}, {}, {0, 1, 3, 8}),
                     attention("a mask of truth", {heads, heads, heads, truth({2, 1, n(), n()})}, {},
                               {0, 1, 3, 8})},
         .mistakes =
             {{"features",
               [] {
                   scaled_dot_product_attention(ones({2, 3}), ones({2, 4}), ones({2, 4}));
               },
               ErrorKind::shape, "(3) features but the key (4)"},
              {"values",
               [] {
                   scaled_dot_product_attention(ones({2, 3}), ones({2, 3}), ones({4, 3}));
               },
               ErrorKind::shape, "(2) keys but (4) values"},
              {"vectors", [] { scaled_dot_product_attention(ones({3}), ones({3}), ones({3})); },
               ErrorKind::shape, "[3]"},
              {"a mask of a larger batch",
               [] {
                   const Tensor x = ones({1, 2, 3});
                   scaled_dot_product_attention(x, x, x, {.attn_mask = zeros({4, 2, 2})});
               },
               ErrorKind::shape, "does not broadcast"},
              {"a mask of more queries",
               [] {
                   const Tensor x = ones({1, 3});
                   scaled_dot_product_attention(x, x, x, {.attn_mask = zeros({2, 1})});
               },
               ErrorKind::shape, "does not broadcast"},
              {"two masks",
               [] {
                   const Tensor x = ones({3, 3});
                   scaled_dot_product_attention(x, x, x, {.attn_mask = x, .is_causal = true});
               },
               ErrorKind::argument, "one of both"},
              {"batches",
               [] { scaled_dot_product_attention(ones({2, 3, 4}), ones({3, 3, 4}), ones({3, 3, 4})); },
               ErrorKind::shape, "[2]"}},
         .tolerance = 1e-5});
}

} // namespace reprise::test
