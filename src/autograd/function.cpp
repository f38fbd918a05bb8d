// The context of libtorch-style custom functions.
#include <reprise/autograd/function.hpp>

#include <algorithm>
#include <cstdlib>

#if defined(__GNUC__)
#include <cxxabi.h>
#endif

namespace reprise {

std::string detail::name_of_type(const std::type_info& type)
{
    std::string name = type.name();
#if defined(__GNUC__)
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> readable(
        abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
    if (status == 0) name = readable.get();
#endif
    const std::size_t arguments = name.find('<'), scope = name.rfind("::", arguments);
    return scope == std::string::npos ? name : name.substr(scope + 2);
}

namespace autograd {

double SavedValue::toDouble() const
{
    if (const auto* whole = std::get_if<std::int64_t>(&kind_)) return static_cast<double>(*whole);
    return get<double>("a number");
}

std::vector<std::int64_t> SavedValue::constants(const Shape& shape)
{
    std::vector<std::int64_t> out;
    for (const Dim& d : shape) out.push_back(d.value());
    return out;
}

void SavedValue::fail_kind(const char* wanted)
{
    detail::fail(ErrorKind::argument, "saved_data", "The value is not (", wanted,
                 "): read it as what was saved, under the same name.");
}

AutogradContext::AutogradContext(const FunctionContext& context, std::shared_ptr<Call> call)
    : saved_data(call->saved_data), context_(context), call_(std::move(call)), saved_(context.saved())
{}

const std::shared_ptr<AutogradContext::Call>& AutogradContext::call_of(const FunctionContext& context)
{
    return std::any_cast<const std::shared_ptr<Call>&>(context.data);
}

bool AutogradContext::needs_input_grad(std::size_t tensor) const
{
    if (tensor >= call_->input.size())
        detail::fail(ErrorKind::argument, "needs_input_grad", "There is no tensor (", tensor, ") of (",
                     call_->input.size(), ") among the arguments.");
    const std::ptrdiff_t input = call_->input[tensor];
    return input >= 0 && context_.needs_input_grad(static_cast<std::size_t>(input));
}

void AutogradContext::end_forward(FunctionContext& context, const tensor_list& outputs)
{
    for (const Tensor& output : outputs)
        call_->constant.push_back(std::any_of(constant_.begin(), constant_.end(),
                                              [&](const Tensor& t) { return t.is_same(output); }));
    call_->saved_data = std::move(saved_data);
    context.save_for_backward(saved_);
    context.data = call_;
}

tensor_list AutogradContext::gradients_of_inputs(const char* name, const tensor_list& given) const
{
    const std::size_t count = call_->tensor.size();
    const bool more = std::any_of(given.begin() + static_cast<std::ptrdiff_t>(std::min(count, given.size())),
                                  given.end(), [](const Tensor& t) { return t.defined(); });
    if (given.size() < count || more)
        detail::fail(ErrorKind::argument, name, "The backward gave (", given.size(), ") tensors for (", count,
                     ") arguments of forward: give one for each, undefined where there is no gradient.");
    tensor_list out;
    auto input = call_->input.begin();
    for (std::size_t i = 0; i < count; ++i)
        if (call_->tensor[i] && *input++ >= 0) out.push_back(given[i]);
    return out;
}

} // namespace autograd
} // namespace reprise
