#include "ops/registry.hpp"

#include <map>
#include <mutex>
#include <utility>

#include <reprise/error.hpp>

namespace reprise::ops {

std::vector<const graph::Op*> structured_ops()
{
    return {
#define OP(name) &name##_op,
#include "ops/ops.def"
    };
}

const graph::Op& named(const graph::Op& like, const std::string& name)
{
    static std::mutex mutex;
    static std::map<std::pair<const graph::Op*, std::string>, graph::Op> ops;
    const std::lock_guard lock(mutex);
    const auto [entry, is_new] = ops.try_emplace({&like, name}, like);
    if (is_new) entry->second.name = entry->first.second.c_str();
    return entry->second;
}

void wrong_dtype(const char* op, DType found, const char* wanted)
{
    detail::fail(ErrorKind::dtype, op, "The op takes ", wanted, ", not (", name_of(found),
                 "): cast the input first.");
}

void require_floating(const char* op, DType t)
{
    if (!is_floating(t)) wrong_dtype(op, t, "a floating dtype");
}

} // namespace reprise::ops
