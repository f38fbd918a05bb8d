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

void check_dtype(const char* op, const char* name, DType dtype, DType of_input)
{
    if (dtype != of_input)
        detail::fail(ErrorKind::dtype, op, "The ", name, "'s dtype (", name_of(dtype),
                     ") is not the input's (", name_of(of_input), "): cast one of them.");
}

TensorTypes infer_one_type(const Op& op, const InputTypes& in, const Attributes&)
{
    for (std::size_t i = 0; i < in.size(); ++i) {
        const TensorType& t = in[i];
        require_floating(op.name, t.dtype);
        if (t != in[0])
            detail::fail(ErrorKind::internal, op.name, "The inputs' types differ: ", name_of(in[0].dtype),
                         to_string(in[0].shape), " and ", name_of(t.dtype), to_string(t.shape), ".");
    }
    return {in[0]};
}

} // namespace reprise::ops
