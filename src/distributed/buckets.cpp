#include "distributed/buckets.hpp"

#include <algorithm>

#include <reprise/ops/shapes.hpp>

namespace reprise::distributed {

std::vector<Bucket> buckets_of(const Tensors& tensors, std::int64_t first_bytes, std::int64_t bytes)
{
    const auto bytes_of = [](const Tensor& t) {
        return t.numel().value() * static_cast<std::int64_t>(size_of(t.dtype()));
    };
    std::vector<Bucket> buckets;
    std::int64_t left = 0; // bytes until the current bucket ends
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const Tensor& t = tensors[i];
        const bool is_other =
            i > 0 && (t.dtype() != tensors[i - 1].dtype() || t.device() != tensors[i - 1].device());
        if (left <= 0 || is_other) {
            left = buckets.empty() ? first_bytes : bytes;
            buckets.emplace_back();
        }
        buckets.back().push_back(i);
        left -= bytes_of(t);
    }
    for (Bucket& b : buckets)
        std::stable_partition(b.begin(), b.end(),
                              [&](std::size_t i) { return bytes_of(tensors[i]) % 16 == 0; });
    return buckets;
}

Tensors chosen(const Tensors& tensors, const Bucket& bucket)
{
    Tensors out;
    for (const std::size_t i : bucket) out.push_back(tensors[i]);
    return out;
}

Tensor joined(Tensors parts)
{
    for (Tensor& t : parts) t = reshape(t, {-1});
    return parts.size() == 1 ? parts[0] : cat(parts, 0);
}

Tensors cut(const Tensor& vector, const Tensors& like)
{
    Tensors out;
    Dim at = 0;
    for (const Tensor& t : like) {
        out.push_back(reshape(narrow(vector, 0, at, t.numel()), t.shape()));
        at += t.numel();
    }
    return out;
}

} // namespace reprise::distributed
