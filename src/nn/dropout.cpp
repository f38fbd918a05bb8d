#include <reprise/error.hpp>
#include <reprise/nn/dropout.hpp>
#include <reprise/ops/normalization.hpp>

#include "nn/repr.hpp"

namespace reprise::nn {

namespace {

double checked(const char* module, double p)
{
    if (!(p >= 0 && p <= 1))
        detail::fail(ErrorKind::argument, module, "The probability (", p, ") must be from 0 to 1.");
    return p;
}

} // namespace

Dropout::Dropout(double p) : p_(checked("Dropout", p)) {}
Tensor Dropout::forward(Tensor x) { return dropout(x, p_, is_training()); }
std::string Dropout::extra_repr() const { return Repr().option("p", p_).text(); }

Dropout1d::Dropout1d(double p) : p_(checked("Dropout1d", p)) {}
Tensor Dropout1d::forward(Tensor x) { return dropout1d(x, p_, is_training()); }
std::string Dropout1d::extra_repr() const { return Repr().option("p", p_).text(); }

Dropout2d::Dropout2d(double p) : p_(checked("Dropout2d", p)) {}
Tensor Dropout2d::forward(Tensor x) { return dropout2d(x, p_, is_training()); }
std::string Dropout2d::extra_repr() const { return Repr().option("p", p_).text(); }

Dropout3d::Dropout3d(double p) : p_(checked("Dropout3d", p)) {}
Tensor Dropout3d::forward(Tensor x) { return dropout3d(x, p_, is_training()); }
std::string Dropout3d::extra_repr() const { return Repr().option("p", p_).text(); }

AlphaDropout::AlphaDropout(double p) : p_(checked("AlphaDropout", p)) {}
Tensor AlphaDropout::forward(Tensor x) { return alpha_dropout(x, p_, is_training()); }
std::string AlphaDropout::extra_repr() const { return Repr().option("p", p_).text(); }

} // namespace reprise::nn
