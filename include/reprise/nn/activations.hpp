// Activations: modules of the functions of the same meaning (ops/elementwise.hpp, ops/losses.hpp).
#pragma once
#include <cstdint>
#include <string>

#include <reprise/nn/module.hpp>
#include <reprise/ops/elementwise.hpp>

namespace reprise::nn {

class Identity : public Module {
public:
    Tensor forward(Tensor x) override;
};
class ReLU : public Module {
public:
    Tensor forward(Tensor x) override;
};
class ReLU6 : public Module {
public:
    Tensor forward(Tensor x) override;
};
class Sigmoid : public Module {
public:
    Tensor forward(Tensor x) override;
};
class LogSigmoid : public Module {
public:
    Tensor forward(Tensor x) override;
};
class Tanh : public Module {
public:
    Tensor forward(Tensor x) override;
};
class SELU : public Module {
public:
    Tensor forward(Tensor x) override;
};
class SiLU : public Module {
public:
    Tensor forward(Tensor x) override;
};
class Mish : public Module {
public:
    Tensor forward(Tensor x) override;
};
class Softsign : public Module {
public:
    Tensor forward(Tensor x) override;
};
class Hardsigmoid : public Module {
public:
    Tensor forward(Tensor x) override;
};
class Hardswish : public Module {
public:
    Tensor forward(Tensor x) override;
};

class GELU : public Module {
public:
    explicit GELU(GeluApproximation approximate = GeluApproximation::none) : approximate_(approximate) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    GeluApproximation approximate_;
};

class LeakyReLU : public Module {
public:
    explicit LeakyReLU(double negative_slope = 0.01) : negative_slope_(negative_slope) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double negative_slope_;
};

// One slope below 0 for all channels, or one for each, to train.
class PReLU : public Module {
public:
    explicit PReLU(std::int64_t num_parameters = 1, double init = 0.25);
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;
    Variable weight; // [num_parameters]
};

class ELU : public Module {
public:
    explicit ELU(double alpha = 1) : alpha_(alpha) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double alpha_;
};

class CELU : public Module {
public:
    explicit CELU(double alpha = 1) : alpha_(alpha) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double alpha_;
};

class Softplus : public Module {
public:
    explicit Softplus(double beta = 1, double threshold = 20) : beta_(beta), threshold_(threshold) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double beta_, threshold_;
};

class Hardtanh : public Module {
public:
    explicit Hardtanh(double min_val = -1, double max_val = 1);
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double min_, max_;
};

class GLU : public Module {
public:
    explicit GLU(std::int64_t dim = -1) : dim_(dim) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t dim_;
};

class Softmax : public Module {
public:
    explicit Softmax(std::int64_t dim) : dim_(dim) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t dim_;
};

class LogSoftmax : public Module {
public:
    explicit LogSoftmax(std::int64_t dim) : dim_(dim) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t dim_;
};

class Softmin : public Module {
public:
    explicit Softmin(std::int64_t dim) : dim_(dim) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t dim_;
};

class Tanhshrink : public Module {
public:
    Tensor forward(Tensor x) override;
};

class Hardshrink : public Module {
public:
    explicit Hardshrink(double lambd = 0.5) : lambd_(lambd) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double lambd_;
};

class Softshrink : public Module {
public:
    explicit Softshrink(double lambd = 0.5) : lambd_(lambd) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double lambd_;
};

class Threshold : public Module {
public:
    Threshold(double threshold, double value) : threshold_(threshold), value_(value) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double threshold_, value_;
};

} // namespace reprise::nn
