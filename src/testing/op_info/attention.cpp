// Attention and its parts.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

void add_matmul_heads(std::vector<OpInfo>& rows)
{
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

// The op itself, and where dy is given its gradient.  The other outputs are for the gradient only.
struct Kind {
    bool causal = false, masked = false, dropout = false;
    std::int64_t wide = 0; // 1: by matrices for any number of keys
};
graph::Attributes attributes_of(const Kind& k)
{
    const std::int64_t causal = k.causal, masked = k.masked;
    if (!k.dropout)
        return {{"p", 0.0}, {"scale", 0.5}, {"causal", causal}, {"masked", masked}, {"wide", k.wide}};
    return {{"seed_low", Dim(3)}, {"seed_high", Dim(1)}, {"ordinal", Dim(5)}, {"p", 0.3},
            {"scale", 0.5},       {"causal", causal},    {"masked", masked},  {"wide", k.wide}};
}
Sample attention_op_sample(const char* what, std::vector<Argument> arguments, const Kind& kind,
                           std::vector<std::int64_t> sizes)
{
    return {.what = what,
            .arguments = std::move(arguments),
            .call =
                [kind](const Inputs& in) {
                    return std::vector{graph::apply(ops::attention_op, in, attributes_of(kind))[0]};
                },
            .sizes = std::move(sizes)};
}
Sample attention_vjp_sample(const char* what, std::vector<Argument> arguments, const Kind& kind,
                            std::vector<std::int64_t> sizes)
{
    return {.what = what,
            .arguments = std::move(arguments),
            .call =
                [kind](const Inputs& in) {
                    const Inputs of_forward(in.begin() + 1, in.end());
                    const Inputs y = graph::apply(ops::attention_op, of_forward, attributes_of(kind));
                    Inputs all = {in[0], in[1], in[2], in[3], y[0], y[1]};
                    all.insert(all.end(), in.begin() + 4, in.end());
                    return graph::apply(ops::attention_vjp_op, all, attributes_of(kind));
                },
            .sizes = std::move(sizes)};
}

void add_attention_op(std::vector<OpInfo>& rows)
{
    const Argument q = arg({2, 4, n(), 8}), one = arg({2, 4, n(), 8}), grouped = arg({2, 2, n(), 8}),
                   odd = arg({1, 2, n(), 5}), values = arg({1, 2, n(), 3});
    const Argument truths = truth({2, 4, n(), n()}), numbers = arg({2, 4, n(), n()}, -2, 2);
    rows.push_back(
        {.name = "attention",
         .samples =
             {attention_op_sample("by matrices", {q, one, one}, {.causal = true}, {0, 1, 3, 8, 70}),
              attention_op_sample("many keys", {arg({1, 2, 3, 4}), arg({1, 2, n(), 4}), arg({1, 2, n(), 4})},
                                  {}, {5, 513, 700}),
              attention_op_sample("many keys, dropout",
                                  {arg({1, 2, 3, 4}), arg({1, 2, n(), 4}), arg({1, 2, n(), 4})},
                                  {.dropout = true}, {5, 514}),
              attention_op_sample("causal, many",
                                  {arg({1, 1, n(), 4}), arg({1, 1, n(), 4}), arg({1, 1, n(), 4})},
                                  {.causal = true}, {5, 517}),
              attention_op_sample("grouped", {q, grouped, grouped}, {.causal = true}, {0, 1, 3, 8, 70}),
              attention_op_sample("odd features", {odd, arg({1, 1, 6, 5}), arg({1, 1, 6, 3})}, {},
                                  {0, 1, 70}),
              attention_op_sample("numbers", {q, one, one, numbers}, {.masked = true, .dropout = true},
                                  {1, 3, 8}),
              attention_op_sample("truth", {q, grouped, grouped, truths}, {.masked = true}, {1, 3, 8, 70})},
         .tolerance = 1e-5});
    rows.push_back(
        {.name = "attention_vjp",
         .samples = {attention_vjp_sample("by matrices", {arg({2, n(), 4, 8}), q, one, one}, {.causal = true},
                                          {0, 1, 3, 8}),
                     attention_vjp_sample(
                         "many keys",
                         {arg({1, 3, 2, 4}), arg({1, 2, 3, 4}), arg({1, 2, n(), 4}), arg({1, 2, n(), 4})},
                         {.dropout = true}, {5, 514}),
                     attention_vjp_sample("grouped", {arg({2, n(), 4, 8}), q, grouped, grouped},
                                          {.causal = true, .dropout = true}, {0, 1, 3, 8, 70}),
                     attention_vjp_sample("odd features",
                                          {arg({1, n(), 2, 3}), odd, arg({1, 1, 6, 5}), arg({1, 1, 6, 3})},
                                          {}, {0, 1, 70}),
                     attention_vjp_sample("truth", {arg({2, n(), 4, 8}), q, grouped, grouped, truths},
                                          {.masked = true}, {1, 3, 8, 70})},
         .tolerance = 1e-5});
}

Sample with_scores(const char* what, std::vector<Argument> arguments, AttentionOptions options)
{
    return {.what = what, .arguments = std::move(arguments), .call = [options](const Inputs& in) {
                AttentionOptions o = options;
                if (in.size() > 3) o.attn_mask = in[3];
                std::vector<Tensor> out;
                for (const AttentionScores which : {AttentionScores::products, AttentionScores::capped,
                                                    AttentionScores::masked, AttentionScores::weights}) {
                    const auto [y, scores] =
                        scaled_dot_product_attention_with_scores(in[0], in[1], in[2], o, which);
                    // -infinity has no gradient to compare
                    out.insert(out.end(), {y, where(isinf(scores), -9.0, scores)});
                }
                return out;
            }};
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

void add_rotary(std::vector<OpInfo>& rows)
{
    const auto sample = [](const char* what, const Shape& x, bool interleaved) {
        const Shape angles = {x[x.size() - 2], floor_div(x.back(), 2)};
        return Sample{.what = what,
                      .arguments = {arg(x), arg(angles), arg(angles)},
                      .call = [interleaved](const Inputs& in) {
                          return std::vector{rotary_embedding(in[0], in[1], in[2], interleaved)};
                      }};
    };
    rows.push_back(
        {.name = "rotary_embedding",
         .is_op = false,
         .samples = {sample("halves", {2, 3, n(), 8}, false), sample("neighbours", {2, n(), 6}, true)},
         .mistakes = {{"an odd number",
                       [] {
                           rotary_embedding(ones({2, 3}), ones({2, 1}), ones({2, 1}));
                       },
                       ErrorKind::shape, "(3) features do not make pairs"},
                      {"more angles than pairs",
                       [] {
                           rotary_embedding(ones({2, 4}), ones({2, 4}), ones({2, 4}));
                       },
                       ErrorKind::shape, "does not broadcast"},
                      {"integers", [] { rotary_embedding(ones({2}, {.dtype = i32}), ones({1}), ones({1})); },
                       ErrorKind::dtype, "a floating dtype"}}});
}

} // namespace

void add_attention(std::vector<OpInfo>& rows)
{
    add_matmul_heads(rows);
    add_attention_op(rows);
    add_rotary(rows);
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
                     attention("grouped heads", {arg({2, 6, n(), 8}), arg({2, 3, n(), 8}), arg({2, 3, n(), 8})},
                               {.is_causal = true, .enable_gqa = true}),
                     attention("a mask of each batch",
                               {arg({3, 2, n(), 4}), arg({3, 2, 5, 4}), arg({3, 2, 5, 4}), arg({3, 1, 1, 5})}, {}),
                     attention("wide heads", {arg({2, n(), 132}), arg({2, n(), 132}), arg({2, n(), 3})},
                               {.scale = 0.1}, {0, 1, 5}),
                     attention("wide heads and a mask",
                               {arg({2, n(), 132}), arg({2, n(), 132}), arg({2, n(), 3}), truth({n(), n()})},
                               {.dropout_p = 0.3, .scale = 0.1}, {1, 5}),
                     attention("five dimensions", {arg({2, 1, 2, n(), 4}), arg({3, 2, n(), 4}), arg({2, n(), 4})}, {}),
                     attention("causal beside a mask of truth", {heads, heads, heads, truth({2, 1, n(), n()})},
                               {.is_causal = true}),
                     attention("causal beside an added mask", {heads, heads, heads, arg({n(), n()})},
                               {.is_causal = true}),
                     attention("a part of the queries, causal from the end",
                               {arg({2, 3, 2, 4}), arg({2, 3, n() + 2, 4}), arg({2, 3, n() + 2, 4})},
                               {.is_causal = true, .causal_alignment = CausalAlignment::lower_right}),
                     attention("more queries than keys, causal from the end",
                               {arg({1, n() + 2, 4}), arg({1, 2, 4}), arg({1, 2, 4})},
                               {.is_causal = true, .causal_alignment = CausalAlignment::lower_right}),
                     attention("a mask of integers",
                               {heads, heads, heads, of(i64, arg({2, 1, 1, n()}, 0, 1))}, {}),
                     attention("softcap", {heads, heads, heads},
                               {.is_causal = true, .scale = 3.0, .softcap = 1.5}),
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
              {"a softcap below 0",
               [] {
                   const Tensor x = ones({3, 3});
                   scaled_dot_product_attention(x, x, x, {.softcap = -1});
               },
               ErrorKind::argument, "(-1)"},
              {"a mask of another floating dtype",
               [] {
                   const Tensor x = ones({3, 3});
                   scaled_dot_product_attention(x, x, x, {.attn_mask = zeros({3, 3}, {.dtype = f16})});
               },
               ErrorKind::dtype, "(f16)"},
              {"groups",
               [] {
                   scaled_dot_product_attention(ones({1, 3, 2, 4}), ones({1, 2, 2, 4}), ones({1, 2, 2, 4}),
                                                {.enable_gqa = true});
               },
               ErrorKind::shape, "(3) heads of queries are no multiple of the (2)"},
              {"groups of matrices",
               [] {
                   scaled_dot_product_attention(ones({2, 4}), ones({2, 4}), ones({2, 4}), {.enable_gqa = true});
               },
               ErrorKind::shape, "heads, length, features"},
              {"a probability",
               [] {
                   scaled_dot_product_attention(ones({2, 4}), ones({2, 4}), ones({2, 4}), {.dropout_p = 1.5});
               },
               ErrorKind::argument, "(1.5)"},
              {"batches",
               [] { scaled_dot_product_attention(ones({2, 3, 4}), ones({3, 3, 4}), ones({3, 3, 4})); },
               ErrorKind::shape, "[2]"}},
         .tolerance = 1e-5});
    rows.push_back(
        {.name = "scaled_dot_product_attention_with_scores",
         .is_op = false,
         .samples = {with_scores("causal, capped", {heads, heads, heads}, {.is_causal = true, .softcap = 2}),
                     with_scores("grouped heads and a mask",
                                 {arg({2, 4, n(), 5}), arg({2, 2, 3, 5}), arg({2, 2, 3, 2}), truth({n(), 3})},
                                 {.enable_gqa = true})},
         .tolerance = 1e-5});
}

} // namespace reprise::test
