// Attention as one op. For few keys or queries the weights may be matrices in memory, which the gradient recomputes.
// Otherwise they are never stored: the forward pass uses a running maximum (online softmax), and the gradient
// recomputes the weights from the logarithm of each row's sum of exponentials.
#include "ops/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <reprise/ops/attention.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/accumulated.hpp"
#include "ops/autocast.hpp"
#include "ops/dropout.hpp"
#include "ops/random.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {

namespace {

constexpr const char* op_name = "scaled_dot_product_attention";
constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor heads_first(const Tensor& t) { return transpose(t, 1, 2); }

// -- attention: q, k, v [, mask [B, H, T, S]] -> out [B, T, H, F], and the logarithm of each row's sum of exponentials
// [B, H, T]: 0 where the weights are matrices, and the gradient then does not read it --
TensorTypes infer(const Op& op, const InputTypes& in, const Attributes&)
{
    require_floating(op.name, in[0].dtype);
    const AttentionSizes s(in[0].shape, in[1].shape, in[2].shape);
    const DType dtype = in[0].dtype;
    return {{dtype, {s.batch, s.queries, s.heads, s.value_features}},
            {accumulated(dtype), {s.batch, s.heads, s.queries}}};
}

// -- attention_vjp: dy [B, T, H, F], q, k, v, the outputs [, mask] -> dq [B, T, H, E], dk [B, S, G, E],
// dv [B, S, G, F] --
TensorTypes infer_vjp(const Op&, const InputTypes& in, const Attributes&)
{
    TensorTypes out = {in[1], in[2], in[3]};
    for (TensorType& t : out) std::swap(t.shape[1], t.shape[2]);
    return out;
}

// Returns a bool [T, S]: whether query t may attend to key s, which is s <= t for upper_left alignment and
// s <= t + S - T for lower_right.
Tensor causal_mask(const Tensor& like, const Dim& queries, const Dim& keys, CausalAlignment alignment)
{
    Tensor last = count_like(like, queries);
    if (alignment == CausalAlignment::lower_right)
        last = last + size_like(last, keys) - size_like(last, queries);
    return count_like(like, keys) <= unsqueeze(last, 1);
}

// Attention composed of other ops, with the weights as matrices. It serves second derivatives, heads of any width,
// softcap, and scores as results.
class Composed {
public:
    Composed(const Attributes& a, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
             double softcap = 0)
        : attributes_(a), scale_(a.number("scale")), q_(q), k_(repeated(k)), v_(repeated(v)),
          groups_(k.size(1))
    {
        const Tensor zero = number_like(q, 0), none = number_like(q, -infinity);
        products = matmul(q_, k_.mT()) * scale_;
        capped = softcap > 0 ? tanh(products / softcap) * softcap : products;
        masked = capped;
        if (mask.defined()) masked = mask.dtype() == boolean ? where(mask, masked, none) : masked + mask;
        if (a.integer("causal"))
            masked = where(causal_mask(q, q.size(2), k.size(2), CausalAlignment::upper_left), masked, none);
        // A row whose keys are all masked gets zero weights.
        const Tensor hidden = sum(masked != none, {-1}, true) == 0;
        weights = where(hidden, zero, softmax(where(hidden, zero, masked), -1));
    }
    Tensor products, capped, masked; // [B, H, T, S]: scores
    Tensor weights;                  // before dropout

    Tensor out() const { return graph::apply1(matmul_heads_op, {dropped(weights), v_}); }
    // Returns the gradient of the masked scores; dy is [B, H, T, F].
    Tensor of_scores(const Tensor& dy) const
    {
        const Tensor dp = dropped(matmul(dy, v_.mT()));
        return weights * (dp - sum(dp * weights, {-1}, true));
    }
    std::vector<Tensor> gradients(const Tensor& dy) const
    {
        const Tensor ds = of_scores(dy);
        return {graph::apply1(matmul_heads_op, {ds, k_}) * scale_,
                heads_first(shared(matmul(ds.mT(), q_) * scale_)),
                heads_first(shared(matmul(dropped(weights).mT(), dy)))};
    }

private:
    Tensor dropped(const Tensor& t) const
    {
        if (attributes_.number("p") == 0) return t;
        const Dim keys = t.size(3);
        const Tensor all = graph::apply1(dropout_op, {pad(t, {0, attention_pitch(keys) - keys})},
                                         {{"seed_low", attributes_.get<Dim>("seed_low")},
                                          {"seed_high", attributes_.get<Dim>("seed_high")},
                                          {"ordinal", attributes_.get<Dim>("ordinal")},
                                          {"first", attributes_.get<Dim>("first")},
                                          {"p", attributes_.number("p")}});
        return narrow(all, 3, 0, keys);
    }
    Tensor repeated(const Tensor& t) const // one copy of its key head per query head
    {
        const Dim times = floor_div(q_.size(1), t.size(1));
        if (same(times, 1)) return t;
        const Tensor wide = expand(unsqueeze(t, 2), {t.size(0), t.size(1), times, t.size(2), t.size(3)});
        return reshape(wide, {t.size(0), q_.size(1), t.size(2), t.size(3)});
    }
    // The adjoint of repeated(): sums over the query heads of each key head.
    Tensor shared(const Tensor& t) const
    {
        const Dim times = floor_div(t.size(1), groups_);
        if (same(times, 1)) return t;
        return sum(reshape(t, {t.size(0), groups_, times, t.size(2), t.size(3)}), {2});
    }

    const Attributes& attributes_;
    double scale_;
    Tensor q_, k_, v_;
    Dim groups_;
};

std::vector<Tensor> vjp(const VjpArguments& a)
{
    std::vector<Tensor> d(a.inputs.size());
    const Tensor& dy = a.cotangents[0];
    const Tensor mask = a.inputs.size() > 3 ? a.inputs[3] : Tensor();
    if (a.wanted[0] || a.wanted[1] || a.wanted[2]) {
        std::vector<Tensor> in = {dy, a.inputs[0], a.inputs[1], a.inputs[2], a.outputs[0], a.outputs[1]};
        if (mask.defined()) in.push_back(mask);
        const std::vector<Tensor> all = graph::apply(attention_vjp_op, in, a.node.attributes);
        for (std::size_t i = 0; i < 3; ++i) d[i] = heads_first(all[i]);
    }
    if (mask.defined() && a.wanted[3]) // the result is as large as the weights, so they may as well be stored
        d[3] = Composed(a.node.attributes, a.inputs[0], a.inputs[1], a.inputs[2], mask)
                   .of_scores(heads_first(dy));
    return d;
}

std::vector<Tensor> decompose(const Node& n, std::span<const Tensor> in)
{
    const Tensor out = Composed(n.attributes, in[0], in[1], in[2], in.size() > 3 ? in[3] : Tensor()).out();
    return {out,
            expand(number_like(out, 0), n.outputs[1].shape)}; // decompose_vjp does not read the logarithms
}

std::vector<Tensor> decompose_vjp(const Node& n, std::span<const Tensor> in)
{
    return Composed(n.attributes, in[1], in[2], in[3], in.size() > 6 ? in[6] : Tensor())
        .gradients(heads_first(in[0]));
}

// -- the function --

void check(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o)
{
    for (const Tensor* t : {&q, &k, &v}) {
        require_floating(op_name, t->dtype());
        if (t->dim() < 2)
            detail::fail(ErrorKind::shape, op_name, "The shape (", to_string(t->shape()),
                         ") is not [..., length, features].");
        if (t->dtype() != q.dtype())
            detail::fail(ErrorKind::dtype, op_name, "The dtypes (", name_of(q.dtype()), " and ",
                         name_of(t->dtype()), ") differ: cast one of the inputs.");
    }
    shape::require_equal(op_name, q.size(-1), k.size(-1), [&] {
        return "The query has (" + q.size(-1).text() + ") features but the key (" + k.size(-1).text() + ").";
    });
    shape::require_equal(op_name, k.size(-2), v.size(-2), [&] {
        return "There are (" + k.size(-2).text() + ") keys but (" + v.size(-2).text() + ") values.";
    });
    if (o.attn_mask.defined() && is_floating(o.attn_mask.dtype()) && o.attn_mask.dtype() != q.dtype())
        detail::fail(ErrorKind::dtype, op_name, "The attn_mask's dtype (", name_of(o.attn_mask.dtype()),
                     ") must be bool, an integer dtype or the query's (", name_of(q.dtype()), ").");
    if (!(o.softcap >= 0))
        detail::fail(ErrorKind::argument, op_name, "The softcap (", o.softcap, ") must be at least 0.");
    require_probability(op_name, o.dropout_p);
    if (!o.scale && !q.size(-1).is_constant())
        detail::fail(ErrorKind::argument, op_name, "The number of features (", q.size(-1),
                     ") is not known before the call: give the scale.");
}

Shape leading(const Tensor& t) // the dimensions before length and features
{
    const Shape sizes = t.shape();
    return {sizes.begin(), sizes.end() - 2};
}

// Returns the number of key heads with enable_gqa. Then the leading dimensions other than the heads broadcast.
Dim key_heads_of(const Tensor& q, const Tensor& k, const Tensor& v)
{
    if (q.dim() < 3 || k.dim() < 3 || v.dim() < 3)
        detail::fail(ErrorKind::shape, op_name,
                     "With enable_gqa all inputs are [..., heads, length, features].");
    const Dim heads = k.size(-3);
    shape::require_equal(op_name, heads, v.size(-3), [&] {
        return "There are (" + heads.text() + ") heads of keys but (" + v.size(-3).text() + ") of values.";
    });
    shape::require_multiple(op_name, q.size(-3), heads, [&] {
        return "The (" + q.size(-3).text() + ") heads of queries are no multiple of the (" + heads.text() +
               ") of keys.";
    });
    return heads;
}

// Expands t to the leading dimensions `batch` and reshapes it to [B, heads, rows, columns].
Tensor as_heads(const Tensor& t, const Shape& batch, const Dim& rows, const Dim& columns)
{
    Shape sizes = batch;
    sizes.insert(sizes.end(), {rows, columns});
    const Tensor wide = expand_for(op_name, t, sizes);
    if (batch.size() == 2) return wide;
    if (batch.size() == 1) return unsqueeze(wide, 0);
    if (batch.empty()) return unsqueeze(unsqueeze(wide, 0), 0);
    return reshape(wide,
                   {shape::element_count({batch.begin(), batch.end() - 1}), batch.back(), rows, columns});
}

// One draw of random words serves four weights of a row, and the index of a draw within the op has 32 bits.
void check_dropout(const Shape& batch, const Dim& queries, const Dim& keys)
{
    const Dim draws = shape::element_count(batch) * queries * ceil_div(keys, 4) * (random_part() + 1);
    constexpr std::int64_t max_draws = (std::int64_t{1} << 32) - 1;
    shape::require_at_least(op_name, max_draws, draws, [&] {
        return "With a dropout_p the leading sizes times queries times a quarter of the keys (" +
               draws.text() + ") may be at most (" + std::to_string(max_draws) +
               "): split the batch or the heads into several calls.";
    });
}

// The attribute "wide": 0 if heads of these numbers of features have kernels everywhere, 1 if GPUs have some, else 2,
// as for 0 features and for symbolic numbers.
std::int64_t width_of(const Dim& features, const Dim& value_features)
{
    std::int64_t largest = 0;
    for (const Dim& d : {features, value_features}) {
        if (!d.is_constant() || d.value() < 1) return 2;
        largest = std::max(largest, d.value());
    }
    return largest <= 128 ? 0 : largest <= 256 ? 1 : 2;
}

} // namespace

const Op attention_op{.name = "attention",
                      .infer = infer,
                      .vjp = vjp,
                      .decompose = decompose,
                      .lower = lower_attention,
                      .reference = reference_attention,
                      .narrow = true,
                      .cost = graph::Cost::compute};
const Op attention_vjp_op{.name = "attention_vjp",
                          .infer = infer_vjp,
                          .decompose = decompose_vjp,
                          .lower = lower_attention_vjp,
                          .reference = reference_attention_vjp,
                          .narrow = true,
                          .cost = graph::Cost::compute};

} // namespace ops

namespace ops {
namespace {

// The arguments of a call in the layout of the op.
struct Call {
    Tensor q, k, v, mask; // mask: bool or numbers; may be undefined
    Shape full;           // the leading dimensions, followed by T, S
    Attributes attributes;
    double softcap;

    bool is_wide() const { return attributes.integer("wide") != 0; }
    // Reshapes [B, H, T, X] to the caller's [..., T, X].
    Tensor in_full(const Tensor& t, const Dim& columns) const
    {
        if (full.size() == 4) return t;
        Shape to = full;
        to.back() = columns;
        return reshape(t, to);
    }
};

// Combines the mask with that of is_causal. Returns true if the op itself applies the causal mask, which it does for
// upper_left alignment (or as many keys as queries) and no other mask.
bool add_causal(Call& c, const AttentionOptions& o, const Shape& batch, const Dim& queries, const Dim& keys)
{
    if (!o.is_causal) return false;
    const bool first = o.causal_alignment == CausalAlignment::upper_left || same(queries, keys);
    if (first && !c.mask.defined()) return true;
    const Tensor seen = causal_mask(c.q, queries, keys, o.causal_alignment);
    if (!c.mask.defined()) c.mask = as_heads(seen, batch, queries, keys);
    else if (c.mask.dtype() == boolean) c.mask = logical_and(c.mask, seen);
    else c.mask = where(seen, c.mask, number_like(c.mask, -infinity));
    return false;
}

Call prepared(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options)
{
    check(query, key, value, options);
    Shape batch = leading(query), shared = leading(key), of_values = leading(value);
    if (options.enable_gqa) {
        const Dim heads = key_heads_of(query, key, value), own = batch.back();
        for (Shape* s : {&batch, &shared, &of_values}) s->pop_back();
        batch = shape::broadcast(op_name, std::vector{batch, shared, of_values});
        shared = batch;
        batch.push_back(own);
        shared.push_back(heads);
    } else {
        batch = shape::broadcast(op_name, std::vector{batch, shared, of_values});
        shared = batch;
    }
    const Dim queries = query.size(-2), keys = key.size(-2), columns = value.size(-1);
    Call c{as_heads(query, batch, queries, query.size(-1)),
           as_heads(key, shared, keys, key.size(-1)),
           as_heads(value, shared, keys, columns),
           {},
           batch,
           {},
           options.softcap};
    c.full.insert(c.full.end(), {queries, keys});
    if (options.attn_mask.defined()) {
        const Tensor mask =
            is_floating(options.attn_mask.dtype()) ? options.attn_mask : cast(options.attn_mask, boolean);
        shape::require_broadcastable(op_name, mask.shape(), c.full);
        c.mask = as_heads(mask, batch, queries, keys);
    }
    const std::int64_t causal = add_causal(c, options, batch, queries, keys);
    const double scale =
        options.scale ? *options.scale
                      : 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(c.q.size(-1).value(), 1)));
    if (options.dropout_p > 0) check_dropout(batch, queries, keys);
    const std::int64_t masked = c.mask.defined(), wide = width_of(c.q.size(-1), columns);
    if (options.dropout_p == 0) {
        c.attributes = {{"p", 0.0}, {"scale", scale}, {"causal", causal}, {"masked", masked}, {"wide", wide}};
        return c;
    }
    graph::RandomState r = next_random();
    r.first = shape::element_count(batch) * queries * ceil_div(keys, 4) * random_part();
    c.attributes = random_attributes(r)
                       .with("p", options.dropout_p)
                       .with("scale", scale)
                       .with("causal", causal)
                       .with("masked", masked)
                       .with("wide", wide);
    return c;
}

} // namespace
} // namespace ops

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options)
{
    if (const ops::Autocast to = ops::Autocast::low({&options.attn_mask, &query, &key, &value}); to) {
        AttentionOptions cast_options = options;
        cast_options.attn_mask = to(options.attn_mask);
        return scaled_dot_product_attention(to(query), to(key), to(value), cast_options);
    }
    const ops::Call c = ops::prepared(query, key, value, options);
    std::vector<Tensor> in = {c.q, c.k, c.v};
    if (c.mask.defined()) in.push_back(c.mask);
    const bool composed = c.softcap > 0 || (c.is_wide() && !same(c.q.size(1), c.k.size(1)));
    const Tensor out = composed ? ops::Composed(c.attributes, c.q, c.k, c.v, c.mask, c.softcap).out()
                                : graph::apply(ops::attention_op, in, c.attributes)[0];
    return c.in_full(transpose(out, 1, 2), value.size(-1));
}

std::pair<Tensor, Tensor> scaled_dot_product_attention_with_scores(const Tensor& query, const Tensor& key,
                                                                   const Tensor& value,
                                                                   const AttentionOptions& options,
                                                                   AttentionScores which)
{
    if (const ops::Autocast to = ops::Autocast::low({&options.attn_mask, &query, &key, &value}); to) {
        AttentionOptions cast_options = options;
        cast_options.attn_mask = to(options.attn_mask);
        return scaled_dot_product_attention_with_scores(to(query), to(key), to(value), cast_options, which);
    }
    const ops::Call c = ops::prepared(query, key, value, options);
    const ops::Composed by_matrices(c.attributes, c.q, c.k, c.v, c.mask, c.softcap);
    const Tensor scores = which == AttentionScores::products ? by_matrices.products
                          : which == AttentionScores::capped ? by_matrices.capped
                          : which == AttentionScores::masked ? by_matrices.masked
                                                             : by_matrices.weights;
    return {c.in_full(transpose(by_matrices.out(), 1, 2), value.size(-1)), c.in_full(scores, key.size(-2))};
}

} // namespace reprise
