#include <reprise/error.hpp>
#include <reprise/nn/dropout.hpp>
#include <reprise/ops/normalization.hpp>

#include "nn/repr.hpp"

namespace reprise::nn {

bases::DropoutLayer::DropoutLayer(const char* name, double p) : p_(p)
{
    if (!(p >= 0 && p <= 1))
        detail::fail(ErrorKind::argument, name, "The probability (", p, ") must be from 0 to 1.");
}

std::string bases::DropoutLayer::extra_repr() const { return Repr().option("p", p_).text(); }

Dropout::Dropout(double p) : DropoutLayer("Dropout", p) {}
Tensor Dropout::forward(Tensor x) { return dropout(x, p_, is_training()); }

Dropout1d::Dropout1d(double p) : DropoutLayer("Dropout1d", p) {}
Tensor Dropout1d::forward(Tensor x) { return dropout1d(x, p_, is_training()); }

Dropout2d::Dropout2d(double p) : DropoutLayer("Dropout2d", p) {}
Tensor Dropout2d::forward(Tensor x) { return dropout2d(x, p_, is_training()); }

Dropout3d::Dropout3d(double p) : DropoutLayer("Dropout3d", p) {}
Tensor Dropout3d::forward(Tensor x) { return dropout3d(x, p_, is_training()); }

AlphaDropout::AlphaDropout(double p) : DropoutLayer("AlphaDropout", p) {}
Tensor AlphaDropout::forward(Tensor x) { return alpha_dropout(x, p_, is_training()); }

} // namespace reprise::nn
