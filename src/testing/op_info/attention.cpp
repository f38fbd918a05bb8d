// Attention and its parts.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

void add_matmul_heads(Rows& rows)
{
    rows.op("matmul_heads").tolerance = 5e-6;
    rows.sample("odd sizes", {arg({2, 3, n(), 5}), arg({2, 3, 5, 7})}, apply(ops::matmul_heads_op));
    rows.sample("texels", {arg({3, 8, n()}), arg({3, n(), 32})}, {0, 1, 16}, apply(ops::matmul_heads_op));
}

// Calls the op, or its gradient if dy is given.  Outputs other than the first serve only the gradient.
struct Kind {
    bool causal = false, masked = false, dropout = false;
    std::int64_t wide = 0; // 1: by matrix products for any number of keys, except on GPUs
};
graph::Attributes attributes_of(const Kind& k)
{
    const std::int64_t causal = k.causal, masked = k.masked;
    if (!k.dropout)
        return {{"p", 0.0}, {"scale", 0.5}, {"causal", causal}, {"masked", masked}, {"wide", k.wide}};
    return {{"seed_low", Dim(3)}, {"seed_high", Dim(1)}, {"ordinal", Dim(5)}, {"first", Dim(2)}, {"p", 0.3},
            {"scale", 0.5},       {"causal", causal},    {"masked", masked},  {"wide", k.wide}};
}
void attention_op_sample(Rows& rows, const char* what, std::vector<Argument> arguments, const Kind& kind,
                         std::vector<std::int64_t> sizes)
{
    rows.sample(what, std::move(arguments), std::move(sizes), [kind](const Inputs& in) {
        return graph::apply(ops::attention_op, in, attributes_of(kind))[0];
    });
}
std::function<Inputs(const Inputs&)> attention_vjp(const Kind& kind)
{
    return [kind](const Inputs& in) {
        const Inputs of_forward(in.begin() + 1, in.end());
        const Inputs y = graph::apply(ops::attention_op, of_forward, attributes_of(kind));
        Inputs all = {in[0], in[1], in[2], in[3], y[0], y[1]};
        all.insert(all.end(), in.begin() + 4, in.end());
        return graph::apply(ops::attention_vjp_op, all, attributes_of(kind));
    };
}
void attention_vjp_sample(Rows& rows, const char* what, std::vector<Argument> arguments, const Kind& kind,
                          std::vector<std::int64_t> sizes)
{
    rows.sample(what, std::move(arguments), std::move(sizes), attention_vjp(kind));
}
// Large sizes, whose second gradients, composed of other ops, would only take time.
void large_attention_vjp(Rows& rows, const char* what, std::vector<Argument> arguments, const Kind& kind,
                         std::vector<std::int64_t> sizes)
{
    rows.forward(what, std::move(arguments), std::move(sizes), attention_vjp(kind));
}

void add_attention_op(Rows& rows)
{
    const Argument q = arg({2, 4, n(), 8}), one = arg({2, 4, n(), 8}), grouped = arg({2, 2, n(), 8}),
                   odd = arg({1, 2, n(), 5}), values = arg({1, 2, n(), 3});
    const Argument truths = truth({2, 4, n(), n()}), numbers = arg({2, 4, n(), n()}, -2, 2);

    rows.op("attention").tolerance = 1e-5;
    attention_op_sample(rows, "by matrices", {q, one, one}, {.causal = true}, {0, 1, 3, 8, 70});
    attention_op_sample(rows, "many keys", {arg({1, 2, 3, 4}), arg({1, 2, n(), 4}), arg({1, 2, n(), 4})}, {},
                        {5, 513, 700});
    attention_op_sample(rows, "many keys, dropout",
                        {arg({1, 2, 3, 4}), arg({1, 2, n(), 4}), arg({1, 2, n(), 4})}, {.dropout = true},
                        {5, 514});
    attention_op_sample(rows, "causal, many", {arg({1, 1, n(), 4}), arg({1, 1, n(), 4}), arg({1, 1, n(), 4})},
                        {.causal = true}, {5, 517});
    attention_op_sample(rows, "grouped", {q, grouped, grouped}, {.causal = true}, {0, 1, 3, 8, 70});
    attention_op_sample(rows, "odd features", {odd, arg({1, 1, 6, 5}), arg({1, 1, 6, 3})}, {}, {0, 1, 70});
    attention_op_sample(rows, "numbers", {q, one, one, numbers}, {.masked = true, .dropout = true},
                        {1, 3, 8});
    attention_op_sample(rows, "truth", {q, grouped, grouped, truths}, {.masked = true}, {1, 3, 8, 70});
    // More queries and keys than a tile of GPUs has, and as many features as one, two and four blocks of its results
    // hold.
    attention_op_sample(rows, "tiles", {arg({1, 4, n(), 20}), arg({1, 2, n(), 20}), arg({1, 2, n(), 36})},
                        {.causal = true, .dropout = true}, {16, 64, 130});
    attention_op_sample(
        rows, "tiles of two blocks",
        {arg({1, 2, n(), 68}), arg({1, 1, 70, 68}), arg({1, 1, 70, 96}), arg({1, 2, n(), 70}, -2, 2)},
        {.masked = true}, {16, 65});
    attention_op_sample(
        rows, "tiles of four blocks",
        {arg({1, 1, n(), 132}), arg({1, 1, 67, 132}), arg({1, 1, 67, 253}), truth({1, 1, n(), 67})},
        {.masked = true, .wide = 1}, {16, 66});

    rows.op("attention_vjp").tolerance = 1e-5;
    attention_vjp_sample(rows, "by matrices", {arg({2, n(), 4, 8}), q, one, one}, {.causal = true},
                         {0, 1, 3, 8});
    attention_vjp_sample(rows, "many keys",
                         {arg({1, 3, 2, 4}), arg({1, 2, 3, 4}), arg({1, 2, n(), 4}), arg({1, 2, n(), 4})},
                         {.dropout = true}, {5, 514});
    attention_vjp_sample(rows, "grouped", {arg({2, n(), 4, 8}), q, grouped, grouped},
                         {.causal = true, .dropout = true}, {0, 1, 3, 8, 70});
    attention_vjp_sample(rows, "odd features",
                         {arg({1, n(), 2, 3}), odd, arg({1, 1, 6, 5}), arg({1, 1, 6, 3})}, {}, {0, 1, 70});
    attention_vjp_sample(rows, "truth", {arg({2, n(), 4, 8}), q, grouped, grouped, truths}, {.masked = true},
                         {1, 3, 8, 70});
    large_attention_vjp(
        rows, "tiles",
        {arg({1, n(), 4, 36}), arg({1, 4, n(), 20}), arg({1, 2, n(), 20}), arg({1, 2, n(), 36})},
        {.causal = true, .dropout = true}, {16, 64, 130});
    large_attention_vjp(rows, "tiles, causal, other lengths",
                        {arg({1, 70, 2, 8}), arg({1, 2, 70, 8}), arg({1, 1, n(), 8}), arg({1, 1, n(), 8})},
                        {.causal = true}, {3, 130});
    large_attention_vjp(rows, "tiles of two blocks",
                        {arg({1, n(), 2, 96}), arg({1, 2, n(), 68}), arg({1, 1, 70, 68}), arg({1, 1, 70, 96}),
                         truth({1, 2, n(), 70})},
                        {.masked = true, .dropout = true}, {16, 65});
    large_attention_vjp(rows, "tiles of four blocks",
                        {arg({1, n(), 1, 253}), arg({1, 1, n(), 132}), arg({1, 1, 67, 132}),
                         arg({1, 1, 67, 253}), truth({1, 1, n(), 67})},
                        {.masked = true, .wide = 1}, {16, 66});
}

void with_scores(Rows& rows, const char* what, std::vector<Argument> arguments, AttentionOptions options)
{
    rows.sample(what, std::move(arguments), [options](const Inputs& in) {
        AttentionOptions o = options;
        if (in.size() > 3) o.attn_mask = in[3];
        std::vector<Tensor> out;
        for (const AttentionScores which : {AttentionScores::products, AttentionScores::capped,
                                            AttentionScores::masked, AttentionScores::weights}) {
            const auto [y, scores] = scaled_dot_product_attention_with_scores(in[0], in[1], in[2], o, which);
            // the gradient of -infinity can't be compared
            out.insert(out.end(), {y, where(isinf(scores), -9.0, scores)});
        }
        return out;
    });
}

void attention(Rows& rows, const char* what, std::vector<Argument> arguments, AttentionOptions options,
               std::vector<std::int64_t> sizes = {1, 3, 8})
{
    rows.sample(what, std::move(arguments), std::move(sizes), [options](const Inputs& in) {
        AttentionOptions o = options;
        if (in.size() > 3) o.attn_mask = in[3];
        if (o.dropout_p > 0) reseed();
        return scaled_dot_product_attention(in[0], in[1], in[2], o);
    });
}

void add_rotary(Rows& rows)
{
    const auto sample = [&](const char* what, const Shape& x, bool interleaved) {
        const Shape angles = {x[x.size() - 2], floor_div(x.back(), 2)};
        rows.sample(what, {arg(x), arg(angles), arg(angles)}, [interleaved](const Inputs& in) {
            return rotary_embedding(in[0], in[1], in[2], interleaved);
        });
    };

    rows.composed("rotary_embedding");
    sample("halves", {2, 3, n(), 8}, false);
    sample("neighbours", {2, n(), 6}, true);
    rows.mistake("an odd number", ErrorKind::shape, "(3) features do not make pairs", [] {
        rotary_embedding(ones({2, 3}), ones({2, 1}), ones({2, 1}));
    });
    rows.mistake("more angles than pairs", ErrorKind::shape, "does not broadcast", [] {
        rotary_embedding(ones({2, 4}), ones({2, 4}), ones({2, 4}));
    });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype",
                 [] { rotary_embedding(ones({2}, {.dtype = i32}), ones({1}), ones({1})); });
}

void add_scaled_dot_product(Rows& rows)
{
    const Argument heads = arg({2, 3, n(), 8});

    rows.composed("scaled_dot_product_attention").tolerance = 1e-5;
    attention(rows, "causal", {heads, heads, heads}, {.is_causal = true}, {0, 1, 3, 8, 33});
    attention(rows, "all", {arg({2, n(), 5}), arg({2, 4, 5}), arg({2, 4, 3})}, {.scale = 0.7});
    attention(rows, "any number of keys", {arg({3, 4, 8}), arg({3, n(), 8}), arg({3, n(), 8})},
              {.is_causal = true});
    attention(rows, "matrices", {arg({n(), 4}), arg({5, 4}), arg({5, 4})}, {});
    attention(rows, "broadcast", {arg({2, 1, n(), 4}), arg({3, n(), 4}), arg({1, n(), 4})}, {});
    attention(rows, "dropout", {heads, heads, heads}, {.dropout_p = 0.3, .is_causal = true});
    attention(rows, "an added mask", {heads, heads, heads, arg({n(), n()})}, {}, {0, 1, 3, 8});
    attention(rows, "grouped heads", {arg({2, 6, n(), 8}), arg({2, 3, n(), 8}), arg({2, 3, n(), 8})},
              {.is_causal = true, .enable_gqa = true});
    attention(rows, "a mask of each batch",
              {arg({3, 2, n(), 4}), arg({3, 2, 5, 4}), arg({3, 2, 5, 4}), arg({3, 1, 1, 5})}, {});
    attention(rows, "wide heads", {arg({2, n(), 132}), arg({2, n(), 132}), arg({2, n(), 3})}, {.scale = 0.1},
              {0, 1, 5});
    attention(rows, "wide heads and a mask",
              {arg({2, n(), 132}), arg({2, n(), 132}), arg({2, n(), 3}), truth({n(), n()})},
              {.dropout_p = 0.3, .scale = 0.1}, {1, 5});
    attention(rows, "five dimensions", {arg({2, 1, 2, n(), 4}), arg({3, 2, n(), 4}), arg({2, n(), 4})}, {});
    attention(rows, "causal beside a mask of truth", {heads, heads, heads, truth({2, 1, n(), n()})},
              {.is_causal = true});
    attention(rows, "causal beside an added mask", {heads, heads, heads, arg({n(), n()})},
              {.is_causal = true});
    attention(rows, "a part of the queries, causal from the end",
              {arg({2, 3, 2, 4}), arg({2, 3, n() + 2, 4}), arg({2, 3, n() + 2, 4})},
              {.is_causal = true, .causal_alignment = CausalAlignment::lower_right});
    attention(rows, "more queries than keys, causal from the end",
              {arg({1, n() + 2, 4}), arg({1, 2, 4}), arg({1, 2, 4})},
              {.is_causal = true, .causal_alignment = CausalAlignment::lower_right});
    attention(rows, "a mask of integers", {heads, heads, heads, of(i64, arg({2, 1, 1, n()}, 0, 1))}, {});
    attention(rows, "softcap", {heads, heads, heads}, {.is_causal = true, .scale = 3.0, .softcap = 1.5});
    attention(rows, "a mask of truth", {heads, heads, heads, truth({2, 1, n(), n()})}, {}, {0, 1, 3, 8});
}

void add_scaled_dot_product_mistakes(Rows& rows)
{
    rows.mistake("features", ErrorKind::shape, "(3) features but the key (4)", [] {
        scaled_dot_product_attention(ones({2, 3}), ones({2, 4}), ones({2, 4}));
    });
    rows.mistake("values", ErrorKind::shape, "(2) keys but (4) values", [] {
        scaled_dot_product_attention(ones({2, 3}), ones({2, 3}), ones({4, 3}));
    });
    rows.mistake("vectors", ErrorKind::shape, "[3]",
                 [] { scaled_dot_product_attention(ones({3}), ones({3}), ones({3})); });
    rows.mistake("a mask of a larger batch", ErrorKind::shape, "does not broadcast", [] {
        const Tensor x = ones({1, 2, 3});
        scaled_dot_product_attention(x, x, x, {.attn_mask = zeros({4, 2, 2})});
    });
    rows.mistake("a mask of more queries", ErrorKind::shape, "does not broadcast", [] {
        const Tensor x = ones({1, 3});
        scaled_dot_product_attention(x, x, x, {.attn_mask = zeros({2, 1})});
    });
    rows.mistake("a softcap below 0", ErrorKind::argument, "(-1)", [] {
        const Tensor x = ones({3, 3});
        scaled_dot_product_attention(x, x, x, {.softcap = -1});
    });
    rows.mistake("a mask of another floating dtype", ErrorKind::dtype, "(f16)", [] {
        const Tensor x = ones({3, 3});
        scaled_dot_product_attention(x, x, x, {.attn_mask = zeros({3, 3}, {.dtype = f16})});
    });
    rows.mistake("groups", ErrorKind::shape, "(3) heads of queries are no multiple of the (2)", [] {
        scaled_dot_product_attention(ones({1, 3, 2, 4}), ones({1, 2, 2, 4}), ones({1, 2, 2, 4}),
                                     {.enable_gqa = true});
    });
    rows.mistake("groups of matrices", ErrorKind::shape, "heads, length, features", [] {
        scaled_dot_product_attention(ones({2, 4}), ones({2, 4}), ones({2, 4}), {.enable_gqa = true});
    });
    rows.mistake("a probability", ErrorKind::argument, "(1.5)", [] {
        scaled_dot_product_attention(ones({2, 4}), ones({2, 4}), ones({2, 4}), {.dropout_p = 1.5});
    });
    rows.mistake("batches", ErrorKind::shape, "[2]", [] {
        scaled_dot_product_attention(ones({2, 3, 4}), ones({3, 3, 4}), ones({3, 3, 4}));
    });
}

void add_scores(Rows& rows)
{
    const Argument heads = arg({2, 3, n(), 8});
    rows.composed("scaled_dot_product_attention_with_scores").tolerance = 1e-5;
    with_scores(rows, "causal, capped", {heads, heads, heads}, {.is_causal = true, .softcap = 2});
    with_scores(rows, "grouped heads and a mask",
                {arg({2, 4, n(), 5}), arg({2, 2, 3, 5}), arg({2, 2, 3, 2}), truth({n(), 3})},
                {.enable_gqa = true});
}

} // namespace

void add_attention(Rows& rows)
{
    add_matmul_heads(rows);
    add_attention_op(rows);
    add_rotary(rows);
    add_scaled_dot_product(rows);
    add_scaled_dot_product_mistakes(rows);
    add_scores(rows);
}

} // namespace reprise::test
