#include <reprise/error.hpp>
#include <reprise/nn/dropout.hpp>
#include <reprise/ops/normalization.hpp>

namespace reprise::nn {

Dropout::Dropout(double p) : p_(p)
{
    if (!(p >= 0 && p <= 1))
        detail::fail(ErrorKind::argument, "Dropout", "The probability (", p, ") must be from 0 to 1.");
}

Tensor Dropout::forward(Tensor x) { return dropout(x, p_, is_training()); }

} // namespace reprise::nn
