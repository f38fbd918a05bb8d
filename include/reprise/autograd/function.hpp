// Custom functions in libtorch's form: a class with a static forward and a static backward.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <reprise/autograd/custom_function.hpp>

namespace reprise::autograd {

using Variable = Tensor;                   // libtorch's older name
using tensor_list = std::vector<Tensor>;   // libtorch's name
using variable_list = std::vector<Tensor>; // libtorch's name

// A value in AutogradContext::saved_data.  The to...() functions throw Error(argument) where it is of another
// kind; toDouble() takes integers too.
class SavedValue {
public:
    using Kinds = std::variant<std::monostate, bool, std::int64_t, double, std::string, Tensor,
                               std::vector<std::int64_t>, std::vector<double>, tensor_list>; // all kinds
    SavedValue() = default;                                                                  // nothing
    // A bool, a number, a text, a tensor or a list.
    template <class T>
    requires(!std::is_base_of_v<SavedValue, std::remove_cvref_t<T>>) SavedValue(T&& value)
        : kind_(kept(std::forward<T>(value)))
    {}
    bool isNone() const { return std::holds_alternative<std::monostate>(kind_); } // whether it is nothing
    bool toBool() const { return get<bool>("a bool"); }                           // as a bool
    std::int64_t toInt() const { return get<std::int64_t>("an integer"); }        // as an integer
    double toDouble() const;                                                      // as a number
    const std::string& toStringRef() const { return get<std::string>("a text"); } // as a text
    const Tensor& toTensor() const { return get<Tensor>("a tensor"); }            // as a tensor
    // Returns it as a list of integers.
    const std::vector<std::int64_t>& toIntVector() const
    {
        return get<std::vector<std::int64_t>>("a list of integers");
    }
    // Returns it as a list of numbers.
    const std::vector<double>& toDoubleVector() const
    {
        return get<std::vector<double>>("a list of numbers");
    }
    const tensor_list& toTensorVector() const { return get<tensor_list>("a list of tensors"); } // as tensors
    const Kinds& kind() const { return kind_; }                                                 // the value

private:
    template <class T> static Kinds kept(T&& value)
    {
        using Plain = std::remove_cvref_t<T>;
        if constexpr (std::is_integral_v<Plain> && !std::is_same_v<Plain, bool>)
            return static_cast<std::int64_t>(value);
        else if constexpr (std::is_floating_point_v<Plain>) return static_cast<double>(value);
        else if constexpr (std::is_base_of_v<Tensor, Plain>) return Tensor(value);
        else if constexpr (std::is_same_v<Plain, Dim>) return value.value();
        else if constexpr (std::is_same_v<Plain, Shape>) return constants(value);
        else return Kinds(std::forward<T>(value));
    }
    template <class T> const T& get(const char* wanted) const
    {
        if (const T* found = std::get_if<T>(&kind_)) return *found;
        fail_kind(wanted);
    }
    static std::vector<std::int64_t> constants(const Shape&);
    [[noreturn]] static void fail_kind(const char* wanted);
    Kinds kind_;
};

// The data that forward saves for backward, as libtorch's AutogradContext.
class AutogradContext {
public:
    AutogradContext(const AutogradContext&) = delete;
    AutogradContext& operator=(const AutogradContext&) = delete;
    ~AutogradContext() = default;
    // Saves tensors for backward, as FunctionContext::save_for_backward().
    void save_for_backward(tensor_list tensors) { saved_ = std::move(tensors); }
    const tensor_list& get_saved_variables() const { return saved_; } // the saved tensors, in their order
    // Called in forward: makes these of its outputs require no gradient.
    void mark_non_differentiable(const tensor_list& outputs) { constant_ = outputs; }
    // Whether the gradient of a tensor among the arguments is needed, counted over the tensors only.
    // Error(argument) where there is no such tensor.
    bool needs_input_grad(std::size_t tensor) const;
    std::unordered_map<std::string, SavedValue> saved_data; // numbers and others by name, for backward

private:
    template <class T> friend class Function;
    // The data of one call.
    struct Call {
        std::vector<bool> tensor;          // for each argument (for each tensor of a list): whether it is one
        std::vector<std::ptrdiff_t> input; // for each tensor: its index in the inputs; -1: undefined
        std::vector<bool> constant;        // for each output: whether it requires no gradient
        std::unordered_map<std::string, SavedValue> saved_data;
    };
    AutogradContext(const FunctionContext& context, std::shared_ptr<Call> call);
    static const std::shared_ptr<Call>& call_of(const FunctionContext&);
    void end_forward(FunctionContext& context, const tensor_list& outputs);
    tensor_list gradients_of_inputs(const char* name, const tensor_list& given) const;

    const FunctionContext& context_;
    std::shared_ptr<Call> call_;
    tensor_list saved_, constant_;
};

// A function of tensors and other arguments with a custom gradient, as libtorch's autograd::Function.  It is
// implemented by CustomFunction.
//
//     struct Scale : autograd::Function<Scale> {
//         static Tensor forward(autograd::AutogradContext* c, Tensor x, double factor)
//         {
//             c->saved_data["factor"] = factor;
//             return x * factor;
//         }
//         static autograd::tensor_list backward(autograd::AutogradContext* c, autograd::tensor_list dy)
//         {
//             return {dy[0] * c->saved_data["factor"].toDouble(), Tensor()};
//         }
//     };
//     Tensor y = Scale::apply(x, 2.0);
//
// forward returns a tensor or a tensor_list, and so does apply().  backward gets the gradient of each output
// (zeros where none arrives) and returns one tensor for each argument of forward (for each tensor of a list of
// them), undefined where there is no gradient.  In all else, also errors, it is like CustomFunction.
template <class T> class Function {
public:
    // Calls forward with a context and these arguments.
    template <class... Arguments> static auto apply(Arguments&&... arguments)
    {
        using Result = decltype(T::forward(static_cast<AutogradContext*>(nullptr),
                                           std::forward<Arguments>(arguments)...));
        const auto call = std::make_shared<AutogradContext::Call>();
        tensor_list inputs;
        (note(*call, inputs, arguments), ...);
        const CustomFunction function(
            name(),
            [&](FunctionContext& context, const std::vector<Tensor>&) {
                AutogradContext c(context, call);
                const tensor_list outputs = listed(T::forward(&c, std::forward<Arguments>(arguments)...));
                c.end_forward(context, outputs);
                return outputs;
            },
            [](const FunctionContext& context, const std::vector<Tensor>& gradients) {
                AutogradContext c(context, AutogradContext::call_of(context));
                return c.gradients_of_inputs(name().c_str(), T::backward(&c, gradients));
            });
        tensor_list outputs = function.call(inputs);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (call->constant[i]) outputs[i] = outputs[i].detach().snapshot();
        if constexpr (std::is_base_of_v<Tensor, std::remove_cvref_t<Result>>) return outputs.at(0);
        else return outputs;
    }

private:
    static const std::string& name()
    {
        static const std::string text = detail::name_of_type(typeid(T));
        return text;
    }
    static tensor_list listed(Tensor output) { return {std::move(output)}; }
    static tensor_list listed(tensor_list outputs) { return outputs; }

    template <class Argument>
    static void note(AutogradContext::Call& call, tensor_list& inputs, const Argument& argument)
    {
        if constexpr (std::is_base_of_v<Tensor, Argument>) {
            call.tensor.push_back(true);
            call.input.push_back(argument.defined() ? static_cast<std::ptrdiff_t>(inputs.size()) : -1);
            if (argument.defined()) inputs.push_back(argument);
        } else if constexpr (std::is_same_v<Argument, tensor_list>) {
            for (const Tensor& t : argument) note(call, inputs, t);
        } else {
            call.tensor.push_back(false);
        }
    }
};

} // namespace reprise::autograd
