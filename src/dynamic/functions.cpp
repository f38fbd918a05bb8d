#include <reprise/dynamic/functions.hpp>

#include <any>
#include <functional>
#include <memory>
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

// Implements a DynamicGradientFunction by a plain op of `min_inputs` to `max_inputs` tensors; the third one is a bias.
// With two operands, the gradient of each reads the other one; otherwise only shapes are saved.
class OpImplementation final : public DynamicGradientFunction::Implementation {
public:
    using Op = std::function<Tensor(const Tensors& inputs)>;
    using Gradients = std::function<Tensors(const Tensor& gradient, const Tensors& inputs)>;

    OpImplementation(const char* name, std::size_t min_inputs, std::size_t max_inputs, Op op,
                     Gradients gradients)
        : name_(name), min_inputs_(min_inputs), max_inputs_(max_inputs), op_(std::move(op)),
          gradients_(std::move(gradients))
    {}

    SymbolicShape get_output_shape(const Shapes& inputs) const override
    {
        check_count(inputs.size());
        return output_shape(op_, {inputs.begin(), inputs.end()});
    }
    Tensor forward(FunctionContext& context, const Tensors& inputs) const override
    {
        check_count(inputs.size());
        save(context, inputs);
        return op_(inputs);
    }
    Tensors backward(const FunctionContext& context, const Tensor& gradient) const override
    {
        return gradients_(gradient, inputs_of(context, gradient));
    }

private:
    struct Inputs {
        std::vector<Shape> shapes;
        std::vector<std::size_t> saved; // indices of the saved inputs
    };

    void check_count(std::size_t given) const
    {
        if (given >= min_inputs_ && given <= max_inputs_) return;
        const std::string or_max =
            max_inputs_ > min_inputs_ ? " or (" + std::to_string(max_inputs_) + ")" : "";
        detail::fail(ErrorKind::argument, name_, "There are (", given, ") inputs: give (", min_inputs_, ")",
                     or_max, ".");
    }

    static void save(FunctionContext& context, const Tensors& inputs)
    {
        Inputs of;
        Tensors read;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            of.shapes.push_back(inputs[i].shape());
            if (inputs.size() < 2 || i >= 2 || !context.needs_input_grad(1 - i)) continue;
            of.saved.push_back(i);
            read.push_back(inputs[i]);
        }
        context.save_for_backward(read);
        context.data = std::move(of);
    }

    // Returns the inputs, with zeros for those of which only the shape is read.
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

    const char* name_;
    std::size_t min_inputs_, max_inputs_;
    Op op_;
    Gradients gradients_;
};

std::shared_ptr<const OpImplementation> matmul_of_two()
{
    return std::make_shared<OpImplementation>(
        "DynamicMatMulBackward", 2, 2, [](const Tensors& in) { return matmul(in[0], in[1]); },
        [](const Tensor& gradient, const Tensors& in) {
            const auto [a, b] = backward::matmul_backward(gradient, in[0], in[1]);
            return Tensors{a, b};
        });
}

std::shared_ptr<const OpImplementation> convolution(const ConvOptions<2>& options)
{
    const auto bias_of = [](const Tensors& in) { return in.size() == 3 ? in[2] : Tensor(); };
    return std::make_shared<OpImplementation>(
        "DynamicConv2DBackward", 2, 3,
        [=](const Tensors& in) { return conv2d(in[0], in[1], bias_of(in), options); },
        [=](const Tensor& gradient, const Tensors& in) {
            const auto g = backward::conv2d_backward(gradient, in[0], in[1], bias_of(in), options);
            Tensors of{g.x, g.weight, g.bias};
            of.resize(in.size());
            return of;
        });
}

// Returns an op of one tensor and a shape, whose gradient is `backward` applied with the tensor's own shape.
std::shared_ptr<const OpImplementation> to_shape(const char* name, const SymbolicShape& to,
                                                 Tensor (*forward)(const Tensor&, const Shape&),
                                                 Tensor (*backward)(const Tensor&, const Shape&))
{
    return std::make_shared<OpImplementation>(
        name, 1, 1, [=](const Tensors& in) { return forward(in[0], to.dims()); },
        [=](const Tensor& gradient, const Tensors& in) {
            return Tensors{backward(gradient, in[0].shape())};
        });
}

constexpr bool checks_output = false; // the ops check their inputs

} // namespace

DynamicMatMulBackward::DynamicMatMulBackward()
    : DynamicGradientFunction("DynamicMatMulBackward", matmul_of_two(), checks_output)
{}

DynamicConv2DBackward::DynamicConv2DBackward(const ConvOptions<2>& options)
    : DynamicGradientFunction("DynamicConv2DBackward", convolution(options), checks_output)
{}

DynamicReshapeBackward::DynamicReshapeBackward(SymbolicShape to)
    : DynamicGradientFunction("DynamicReshapeBackward",
                              to_shape("DynamicReshapeBackward", to, reshape, reshape), checks_output)
{}

DynamicBroadcastBackward::DynamicBroadcastBackward(SymbolicShape to)
    : DynamicGradientFunction("DynamicBroadcastBackward",
                              to_shape("DynamicBroadcastBackward", to, expand, sum_to), checks_output)
{}

} // namespace reprise
