#include "options.hpp"

#include <string>

namespace reprise::python {
namespace {

constexpr const char* kept = "_options"; // the attribute that has the options

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

} // namespace reprise::python
