// The reference implementation of attention.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/attention.hpp"
#include "ops/dropout.hpp"
#include "ops/random.hpp"

namespace reprise::ops {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Computes one row of weights at a time.
class HostAttention {
public:
    HostAttention(const ReferenceArguments& a, const HostTensor& q, const HostTensor& k,
                  const HostTensor* mask)
        : a_(a), q_(q), k_(k), mask_(mask), heads(q.sizes[1]), queries(q.sizes[2]), keys(k.sizes[2]),
          sharing(k.sizes[1] == 0 ? 1 : heads / k.sizes[1]), scores(static_cast<std::size_t>(keys)),
          dropout_factors(static_cast<std::size_t>(keys)), scale(a.attributes.number("scale"))
    {}

    // Sets `scores` to the weights of a query and `dropout_factors` to the factor of each. Returns the logarithm of the
    // sum of exponentials, or infinity if all keys are masked.
    double row(std::int64_t b, std::int64_t h, std::int64_t t)
    {
        const bool causal = a_.attributes.integer("causal") != 0;
        const std::int64_t features = q_.sizes[3];
        double largest = -infinity, total = 0;
        for (std::int64_t s = 0; s < keys; ++s) {
            double score = 0;
            for (std::int64_t e = 0; e < features; ++e)
                score += value(q_, b, h, t, e) * value(k_, b, h / sharing, s, e);
            score *= scale;
            if (causal && s > t) score = -infinity;
            if (mask_ && mask_->dtype == DType::boolean && value(*mask_, b, h, t, s) == 0) score = -infinity;
            if (mask_ && mask_->dtype != DType::boolean) score += value(*mask_, b, h, t, s);
            scores[static_cast<std::size_t>(s)] = score;
            if (score > largest || std::isnan(score)) largest = score;
        }
        const double shift = largest == -infinity ? 0 : largest;
        for (double& score : scores) total += score = std::exp(score - shift);
        for (double& score : scores) score = total == 0 ? 0 : score / total;
        drop((b * heads + h) * queries + t);
        return total == 0 ? infinity : largest + std::log(total);
    }

    static double value(const HostTensor& t, std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t e)
    {
        return t.get(b * t.strides[0] + h * t.strides[1] + row * t.strides[2] + e * t.strides[3]);
    }

private:
    const ReferenceArguments& a_;
    const HostTensor &q_, &k_;
    const HostTensor* mask_;

    void drop(std::int64_t row)
    {
        std::fill(dropout_factors.begin(), dropout_factors.end(), 1.0);
        if (a_.attributes.number("p") == 0) return;
        const RandomWords words(a_);
        const auto threshold = static_cast<native::uint>(dropout_threshold(a_.attributes));
        const std::int64_t pitch = (keys + 3) / 4 * 4;
        for (std::int64_t s = 0; s < keys; ++s)
            dropout_factors[static_cast<std::size_t>(s)] =
                native::rp_dropped(words.of(row * pitch + s), threshold) ? 0 : dropout_scale(a_.attributes);
    }

public:
    std::int64_t heads, queries, keys, sharing;
    std::vector<double> scores, dropout_factors;
    double scale;
};

} // namespace

void reference_attention(const ReferenceArguments& a)
{
    const HostTensor &q = a.inputs[0], &v = a.inputs[2], &out = a.outputs[0], &lse = a.outputs[1];
    HostAttention attention(a, q, a.inputs[1], a.inputs.size() > 3 ? &a.inputs[3] : nullptr);
    const std::int64_t heads = attention.heads, queries = attention.queries, keys = attention.keys,
                       columns = v.sizes[3];
    for (std::int64_t b = 0; b < q.sizes[0]; ++b)
        for (std::int64_t h = 0; h < heads; ++h)
            for (std::int64_t t = 0; t < queries; ++t) {
                const std::int64_t row = (b * heads + h) * queries + t;
                lse.put(row, attention.row(b, h, t));
                for (std::int64_t e = 0; e < columns; ++e) {
                    double total = 0;
                    for (std::int64_t s = 0; s < keys; ++s) {
                        const auto i = static_cast<std::size_t>(s);
                        total += attention.scores[i] * attention.dropout_factors[i] *
                                 HostAttention::value(v, b, h / attention.sharing, s, e);
                    }
                    out.put(((b * queries + t) * heads + h) * columns + e, total);
                }
            }
}

void reference_attention_vjp(const ReferenceArguments& a)
{
    const HostTensor &dy = a.inputs[0], &q = a.inputs[1], &k = a.inputs[2], &v = a.inputs[3];
    HostAttention attention(a, q, k, a.inputs.size() > 6 ? &a.inputs[6] : nullptr);
    const std::int64_t heads = attention.heads, queries = attention.queries, keys = attention.keys,
                       groups = k.sizes[1], features = q.sizes[3], columns = v.sizes[3];
    const auto value = HostAttention::value;
    std::vector<double> sums[3];
    for (std::size_t i = 0; i < 3; ++i) sums[i].assign(static_cast<std::size_t>(a.outputs[i].count()), 0);
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    for (std::int64_t b = 0; b < q.sizes[0]; ++b)
        for (std::int64_t h = 0; h < heads; ++h)
            for (std::int64_t t = 0; t < queries; ++t) {
                attention.row(b, h, t);
                const std::int64_t g = h / attention.sharing,
                                   to_q = ((b * queries + t) * heads + h) * features;
                std::vector<double> dp(at(keys));
                double share = 0;
                for (std::int64_t s = 0; s < keys; ++s) {
                    for (std::int64_t e = 0; e < columns; ++e)
                        dp[at(s)] += value(dy, b, t, h, e) * value(v, b, g, s, e);
                    dp[at(s)] *= attention.dropout_factors[at(s)];
                    share += dp[at(s)] * attention.scores[at(s)];
                }
                for (std::int64_t s = 0; s < keys; ++s) {
                    const double p = attention.scores[at(s)];
                    const double ds = p * (dp[at(s)] - share) * attention.scale;
                    const std::int64_t key = (b * keys + s) * groups + g;
                    for (std::int64_t e = 0; e < features; ++e) {
                        sums[0][at(to_q + e)] += ds * value(k, b, g, s, e);
                        sums[1][at(key * features + e)] += ds * value(q, b, h, t, e);
                    }
                    for (std::int64_t e = 0; e < columns; ++e)
                        sums[2][at(key * columns + e)] +=
                            p * attention.dropout_factors[at(s)] * value(dy, b, t, h, e);
                }
            }
    for (std::size_t i = 0; i < 3; ++i) a.outputs[i].put_all(sums[i]);
}

} // namespace reprise::ops
