#include "distributed/buckets.hpp"

#include <reprise/ops/shapes.hpp>

namespace reprise::distributed {

void each_bucket(const Tensors& tensors, std::int64_t first_bytes, std::int64_t bytes,
                 const std::function<void(const Tensors&)>& f)
{
    Tensors bucket;
    std::int64_t size = 0, limit = first_bytes;
    const auto end_bucket = [&] {
        if (bucket.empty()) return;
        f(bucket);
        bucket.clear();
        size = 0;
        limit = bytes;
    };
    for (const Tensor& t : tensors) {
        if (!bucket.empty() && (t.dtype() != bucket[0].dtype() || t.device() != bucket[0].device()))
            end_bucket();
        bucket.push_back(t);
        size += t.numel().value() * static_cast<std::int64_t>(size_of(t.dtype()));
        if (size >= limit) end_bucket();
    }
    end_bucket();
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
