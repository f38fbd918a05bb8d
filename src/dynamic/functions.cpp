#include <reprise/dynamic/functions.hpp>

#include <any>
#include <utility>

#include <reprise/autograd/output_shape.hpp>
#include <reprise/backward.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

namespace reprise {

namespace {

using Tensors = std::vector<Tensor>;
using Shapes = std::vector<SymbolicShape>;

// A plain op that takes from `least` to `most` tensors.
class OfOp : public DynamicGradientFunction::Implementation {
public:
    OfOp(const char* name, std::size_t least, std::size_t most) : name_(name), least_(least), most_(most) {}

    SymbolicShape get_output_shape(const Shapes& inputs) const final
    {
        if (inputs.size() < least_ || inputs.size() > most_)
            detail::fail(ErrorKind::argument, name_, "There are (", inputs.size(), ") inputs: give from (",
                         least_, ") to (", most_, ").");
        return output_shape([this](const Tensors& in) { return op(in); }, {inputs.begin(), inputs.end()});
    }

protected:
    virtual Tensor op(const Tensors& inputs) const = 0;

private:
    const char* name_;
    std::size_t least_, most_;
};

// The gradient reads the inputs.
class OfInputs : public OfOp {
public:
    using OfOp::OfOp;
    Tensor forward(FunctionContext& context, const Tensors& inputs) const final
    {
        context.save_for_backward(inputs);
        return op(inputs);
    }
};

// The gradient reads nothing but the shape of the one input.
class OfShape : public OfOp {
public:
    OfShape(const char* name, SymbolicShape to) : OfOp(name, 1, 1), to_(std::move(to)) {}
    Tensor forward(FunctionContext& context, const Tensors& inputs) const final
    {
        context.data = inputs[0].shape();
        return op(inputs);
    }

protected:
    static const Shape& shape_of_input(const FunctionContext& context)
    {
        return std::any_cast<const Shape&>(context.data);
    }
    const SymbolicShape& to() const { return to_; }

private:
    SymbolicShape to_;
};

class MatMul final : public OfInputs {
public:
    MatMul() : OfInputs("DynamicMatMulBackward", 2, 2) {}
    Tensors backward(const FunctionContext& context, const Tensor& gradient) const override
    {
        const auto [a, b] = backward::matmul_backward(gradient, context.saved(0), context.saved(1));
        return {a, b};
    }

protected:
    Tensor op(const Tensors& in) const override { return matmul(in[0], in[1]); }
};

class Conv2D final : public OfInputs {
public:
    explicit Conv2D(const Conv2dOptions& options) : OfInputs("DynamicConv2DBackward", 2, 3), options_(options)
    {}
    Tensors backward(const FunctionContext& context, const Tensor& gradient) const override
    {
        const Tensors& in = context.saved();
        const backward::OfLayer g = backward::conv2d_backward(gradient, in[0], in[1], bias_of(in), options_);
        Tensors gradients{g.x, g.weight, g.bias};
        gradients.resize(in.size());
        return gradients;
    }

protected:
    Tensor op(const Tensors& in) const override { return conv2d(in[0], in[1], bias_of(in), options_); }

private:
    static Tensor bias_of(const Tensors& in) { return in.size() == 3 ? in[2] : Tensor(); }
    Conv2dOptions options_;
};

class Reshape final : public OfShape {
public:
    explicit Reshape(SymbolicShape to) : OfShape("DynamicReshapeBackward", std::move(to)) {}
    Tensors backward(const FunctionContext& context, const Tensor& gradient) const override
    {
        return {reshape(gradient, shape_of_input(context))};
    }

protected:
    Tensor op(const Tensors& in) const override { return reshape(in[0], to()); }
};

class Broadcast final : public OfShape {
public:
    explicit Broadcast(SymbolicShape to) : OfShape("DynamicBroadcastBackward", std::move(to)) {}
    Tensors backward(const FunctionContext& context, const Tensor& gradient) const override
    {
        return {sum_to(gradient, shape_of_input(context))};
    }

protected:
    Tensor op(const Tensors& in) const override { return expand(in[0], to()); }
};

} // namespace

DynamicMatMulBackward::DynamicMatMulBackward()
    : DynamicGradientFunction("DynamicMatMulBackward", std::make_shared<MatMul>())
{}

DynamicConv2DBackward::DynamicConv2DBackward(const Conv2dOptions& options)
    : DynamicGradientFunction("DynamicConv2DBackward", std::make_shared<Conv2D>(options))
{}

DynamicReshapeBackward::DynamicReshapeBackward(SymbolicShape to)
    : DynamicGradientFunction("DynamicReshapeBackward", std::make_shared<Reshape>(std::move(to)))
{}

DynamicBroadcastBackward::DynamicBroadcastBackward(SymbolicShape to)
    : DynamicGradientFunction("DynamicBroadcastBackward", std::make_shared<Broadcast>(std::move(to)))
{}

} // namespace reprise
