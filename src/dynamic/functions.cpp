#include <reprise/dynamic/functions.hpp>

#include <any>
#include <string>
#include <utility>

#include <reprise/autograd/output_shape.hpp>
#include <reprise/backward.hpp>
#include <reprise/ops/creation.hpp>
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
        check_count(inputs.size());
        return output_shape([this](const Tensors& in) { return op(in); }, {inputs.begin(), inputs.end()});
    }
    Tensor forward(FunctionContext& context, const Tensors& inputs) const final
    {
        check_count(inputs.size());
        save(context, inputs);
        return op(inputs);
    }

protected:
    virtual Tensor op(const Tensors& inputs) const = 0;
    virtual void save(FunctionContext&, const Tensors& inputs) const = 0;

private:
    void check_count(std::size_t given) const
    {
        if (given >= least_ && given <= most_) return;
        const std::string most = most_ > least_ ? " or (" + std::to_string(most_) + ")" : "";
        detail::fail(ErrorKind::argument, name_, "There are (", given, ") inputs: give (", least_, ")", most,
                     ".");
    }

    const char* name_;
    std::size_t least_, most_;
};

// Two operands, of which the gradient by one reads the other one, and perhaps a bias, which none reads.
class OfOperands : public OfOp {
public:
    using OfOp::OfOp;
    Tensors backward(const FunctionContext& context, const Tensor& gradient) const final
    {
        return gradients(gradient, inputs_of(context, gradient));
    }

protected:
    virtual Tensors gradients(const Tensor& gradient, const Tensors& inputs) const = 0;

private:
    struct Inputs {
        std::vector<Shape> shapes;
        std::vector<std::size_t> saved; // which of them
    };

    void save(FunctionContext& context, const Tensors& inputs) const final
    {
        Inputs of;
        Tensors read;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            of.shapes.push_back(inputs[i].shape());
            if (i >= 2 || !context.needs_input_grad(1 - i)) continue;
            of.saved.push_back(i);
            read.push_back(inputs[i]);
        }
        context.save_for_backward(read);
        context.data = std::move(of);
    }

    // Zeros where only the shape is read.
    static Tensors inputs_of(const FunctionContext& context, const Tensor& gradient)
    {
        const auto& of = std::any_cast<const Inputs&>(context.data);
        Tensors inputs(of.shapes.size());
        for (std::size_t i = 0; i < of.saved.size(); ++i) inputs[of.saved[i]] = context.saved(i);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (!inputs[i].defined())
                inputs[i] = zeros(of.shapes[i], {.dtype = gradient.dtype(), .device = gradient.device()});
        return inputs;
    }
};

class MatMul final : public OfOperands {
public:
    MatMul() : OfOperands("DynamicMatMulBackward", 2, 2) {}

protected:
    Tensor op(const Tensors& in) const override { return matmul(in[0], in[1]); }
    Tensors gradients(const Tensor& gradient, const Tensors& in) const override
    {
        const auto [a, b] = backward::matmul_backward(gradient, in[0], in[1]);
        return {a, b};
    }
};

class Conv2D final : public OfOperands {
public:
    explicit Conv2D(const ConvOptions<2>& options)
        : OfOperands("DynamicConv2DBackward", 2, 3), options_(options)
    {}

protected:
    Tensor op(const Tensors& in) const override { return conv2d(in[0], in[1], bias_of(in), options_); }
    Tensors gradients(const Tensor& gradient, const Tensors& in) const override
    {
        const backward::OfLayer g = backward::conv2d_backward(gradient, in[0], in[1], bias_of(in), options_);
        Tensors of{g.x, g.weight, g.bias};
        of.resize(in.size());
        return of;
    }

private:
    static Tensor bias_of(const Tensors& in) { return in.size() == 3 ? in[2] : Tensor(); }
    ConvOptions<2> options_;
};

// An op of one tensor and a shape, the gradient of which is `back` to the tensor's own shape.
class OfShape final : public OfOp {
public:
    using Op = Tensor (*)(const Tensor&, const Shape&);
    OfShape(const char* name, SymbolicShape to, Op forth, Op back)
        : OfOp(name, 1, 1), to_(std::move(to)), forth_(forth), back_(back)
    {}
    Tensors backward(const FunctionContext& context, const Tensor& gradient) const override
    {
        return {back_(gradient, std::any_cast<const Shape&>(context.data))};
    }

protected:
    Tensor op(const Tensors& in) const override { return forth_(in[0], to_.dims()); }
    void save(FunctionContext& context, const Tensors& in) const override { context.data = in[0].shape(); }

private:
    SymbolicShape to_;
    Op forth_, back_;
};

constexpr bool checks_output = false; // the ops check what they are called with themselves

} // namespace

DynamicMatMulBackward::DynamicMatMulBackward()
    : DynamicGradientFunction("DynamicMatMulBackward", std::make_shared<MatMul>(), checks_output)
{}

DynamicConv2DBackward::DynamicConv2DBackward(const ConvOptions<2>& options)
    : DynamicGradientFunction("DynamicConv2DBackward", std::make_shared<Conv2D>(options), checks_output)
{}

DynamicReshapeBackward::DynamicReshapeBackward(SymbolicShape to)
    : DynamicGradientFunction(
          "DynamicReshapeBackward",
          std::make_shared<OfShape>("DynamicReshapeBackward", std::move(to), reshape, reshape), checks_output)
{}

DynamicBroadcastBackward::DynamicBroadcastBackward(SymbolicShape to)
    : DynamicGradientFunction(
          "DynamicBroadcastBackward",
          std::make_shared<OfShape>("DynamicBroadcastBackward", std::move(to), expand, sum_to), checks_output)
{}

} // namespace reprise
