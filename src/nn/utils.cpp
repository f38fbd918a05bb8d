#include <reprise/nn/utils.hpp>

#include <reprise/autograd/grad.hpp>
#include <reprise/ops/shapes.hpp>

namespace reprise::nn::utils {

using reprise::detail::fail;

Tensor parameters_to_vector(const Parameters& parameters)
{
    if (parameters.empty()) fail(ErrorKind::argument, "parameters_to_vector", "There are no parameters.");
    std::vector<Tensor> parts;
    for (const Variable& p : parameters) parts.push_back(reshape(p, {-1}));
    return cat(parts);
}

void vector_to_parameters(const Tensor& vector, const Parameters& parameters)
{
    std::int64_t count = 0;
    for (const Variable& p : parameters) count += p.numel().value();
    if (vector.dim() != 1 || !same(vector.size(0), count))
        fail(ErrorKind::shape, "vector_to_parameters", "The shape (", to_string(vector.shape()), ") is not [",
             count, "], for all elements of the parameters.");
    const no_grad guard;
    std::vector<Tensor> values; // all converted first, so that a failure changes no parameter
    std::int64_t start = 0;
    for (const Variable& p : parameters) {
        const std::int64_t length = p.numel().value();
        values.push_back(reshape(narrow(vector, 0, start, length), p.shape()).to(p));
        start += length;
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) Variable(parameters[i]).assign(values[i]);
}

} // namespace reprise::nn::utils
