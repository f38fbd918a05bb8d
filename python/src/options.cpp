#include "options.hpp"

#include <string>

#include <reprise/error.hpp>
#include <reprise/ordered_dict.hpp>

namespace reprise::python {
namespace {

constexpr const char* kept = "_options"; // the attribute that has the options

// Reaches what modules offer to the classes that derive from them.
struct Registration : nn::Module {
    // Registers another value under the name.  The order of names remains, as all are registered again.
    static void replace(nn::Module& module, const OrderedDict<Variable>& all, bool are_parameters,
                        const std::string& name, const Variable& value)
    {
        using Register = Variable (nn::Module::*)(const std::string&, const Variable&);
        using RegisterParameter = Variable (nn::Module::*)(const std::string&, const Variable&, bool);
        constexpr RegisterParameter add_parameter = &Registration::register_parameter<Variable>;
        constexpr Register add_buffer = &Registration::register_buffer<Variable>;
        for (const auto& [each, before] : all) {
            const Variable& now = each == name ? value : before;
            (module.*&Registration::unregister)(each);
            if (are_parameters) (module.*add_parameter)(each, now, true);
            else (module.*add_buffer)(each, now);
        }
    }
};

} // namespace

nb::object recipe_of(const nn::Module& layer)
{
    const nb::object object = nb::find(layer);
    return nb::make_tuple(object.type(), nb::getattr(object, kept, nb::none()));
}

void keep_options(const nn::Module& layer, const Options& options)
{
    nb::dict all;
    for (const auto& [name, value] : options) all[name] = value;
    nb::find(layer).attr("__dict__")[kept] = all;
}

nb::object option_named(nb::handle layer, const char* name)
{
    const nb::object all = nb::getattr(layer, kept, nb::none());
    if (!all.is_none() && nb::borrow<nb::dict>(all).contains(name)) return all[name];
    throw nb::attribute_error(
        ("(" + std::string(name) + ") is not known: " +
         (all.is_none() ? "a part of one of the library's layers has no options in Python."
                        : "the layer was made with other arguments."))
            .c_str());
}

void replace_member(nn::Module& layer, const char* name, Variable& member, nb::handle value)
{
    const OrderedDict<Variable> parameters = layer.named_parameters(false),
                                buffers = layer.named_buffers(false);
    const bool is_parameter = parameters.contains(name);
    const auto refuse = [&](const char* why) {
        throw nb::type_error(("(" + std::string(name) + ") " + why).c_str());
    };
    if (!is_parameter && !buffers.contains(name)) refuse("is not there: the layer was made without it.");
    if (is_parameter && !nb::isinstance<Parameter>(value))
        refuse("is a parameter: assign an nn.Parameter, or write into it with assign().");
    if (!is_parameter && (!nb::isinstance<Variable>(value) || nb::isinstance<Parameter>(value)))
        refuse("is a buffer: assign a Variable, or write into it with assign().");
    const auto& now = nb::cast<const Variable&>(value);
    if (!same(now.shape(), member.shape()))
        detail::fail(ErrorKind::shape, layer.name().c_str(), "(", name, ") has the shape (",
                     to_string(member.shape()), "), the value (", to_string(now.shape()), ").");
    Registration::replace(layer, is_parameter ? parameters : buffers, is_parameter, name, now);
    member = now;
}

} // namespace reprise::python
