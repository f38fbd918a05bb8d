#include "structure.hpp"

#include "arrays.hpp"
#include "binding.hpp"
#include "nesting.hpp"

namespace reprise::python {
namespace {

bool is_list(nb::handle value) { return PyList_Check(value.ptr()); }
bool is_tuple(nb::handle value) { return PyTuple_Check(value.ptr()); }
bool is_dictionary(nb::handle value) { return PyDict_Check(value.ptr()); }

std::string type_of(nb::handle value) { return nb::type_name(value.type()).c_str(); }

std::string key_of(nb::handle key)
{
    if (nb::isinstance<nb::str>(key)) return nb::cast<std::string>(key);
    throw nb::type_error(("The key of a dictionary of tensors is a text, not " + type_of(key) + ".").c_str());
}

// The class of a named tuple; null for other objects.
Shared class_of_named_tuple(nb::handle value)
{
    return is_tuple(value) && nb::hasattr(value, "_fields") ? share(value.type()) : nullptr;
}

// A container of the same class with other items, which it has at the same keys or in the same order.
nb::object rebuilt(nb::handle like, const nb::list& items)
{
    if (is_tuple(like)) {
        if (PyTuple_CheckExact(like.ptr())) return nb::tuple(items);
        if (nb::hasattr(like, "_make")) return like.attr("_make")(items);
        return like.type()(items);
    }
    if (PyList_CheckExact(like.ptr())) return items;
    nb::object out = nb::module_::import_("copy").attr("copy")(like);
    if (is_list(like)) {
        for (std::size_t i = 0; i < nb::len(items); ++i) out[i] = items[i];
        return out;
    }
    std::size_t i = 0;
    for (nb::handle key : nb::list(nb::borrow(like))) out[key] = items[i++];
    return out;
}

} // namespace

Structure Structure::of_specs(nb::handle value, std::vector<Spec>& tensors, DimVector& sizes)
{
    const Nesting level;
    if (nb::isinstance<Spec>(value)) {
        tensors.push_back(nb::cast<const Spec&>(value));
        return Kind::tensor;
    }
    if (nb::isinstance<SymbolicDim>(value)) {
        sizes.push_back(nb::cast<Dim>(value));
        return Kind::size;
    }
    Structure out(is_list(value) ? Kind::list : is_tuple(value) ? Kind::tuple : Kind::dictionary);
    out.named_ = class_of_named_tuple(value);
    if (is_dictionary(value)) {
        for (auto [key, item] : nb::borrow<nb::dict>(value)) {
            out.keys_.push_back(key_of(key));
            out.items_.push_back(of_specs(item, tensors, sizes));
        }
    } else if (is_list(value) || is_tuple(value)) {
        for (nb::handle item : value) out.items_.push_back(of_specs(item, tensors, sizes));
    } else {
        throw nb::type_error(
            ("A spec is spec(shape, dtype), a symbol, or a list, tuple or dictionary of these, not " +
             type_of(value) + ".")
                .c_str());
    }
    return out;
}

Structure Structure::of_result(nb::handle value, std::vector<Tensor>& tensors)
{
    const Nesting level;
    if (value.is_none()) return Kind::none;
    if (nb::isinstance<Tensor>(value)) {
        tensors.push_back(nb::cast<const Tensor&>(value));
        return Kind::tensor;
    }
    Structure out(is_list(value) ? Kind::list : is_tuple(value) ? Kind::tuple : Kind::dictionary);
    out.named_ = class_of_named_tuple(value);
    if (is_dictionary(value)) {
        for (auto [key, item] : nb::borrow<nb::dict>(value)) {
            out.keys_.push_back(key_of(key));
            out.items_.push_back(of_result(item, tensors));
        }
    } else if (is_list(value) || is_tuple(value)) {
        for (nb::handle item : value) out.items_.push_back(of_result(item, tensors));
    } else {
        throw nb::type_error(("The function returned " + type_of(value) +
                              ": return tensors, None, or lists, tuples and dictionaries of them.")
                                 .c_str());
    }
    return out;
}

void Structure::refuse(nb::handle value) const
{
    throw nb::type_error(("The argument has the type " + type_of(value) + ", not the structure " + text() +
                          " of the recording.")
                             .c_str());
}

void Structure::flatten(nb::handle value, Leaves& to, const std::optional<Device>& device) const
{
    switch (kind_) {
    case Kind::tensor: to.tensors.push_back(tensor_of(value, device)); return;
    case Kind::size: {
        Dim size;
        if (!nb::try_cast(value, size)) refuse(value);
        to.sizes.push_back(size);
        return;
    }
    case Kind::none:
        if (!value.is_none()) refuse(value);
        return;
    case Kind::list:
    case Kind::tuple:
        if (!(is_list(value) || is_tuple(value)) || nb::len(value) != items_.size()) refuse(value);
        for (std::size_t i = 0; i < items_.size(); ++i) items_[i].flatten(nb::object(value[i]), to, device);
        return;
    case Kind::dictionary:
        if (!is_dictionary(value) || nb::len(value) != items_.size()) refuse(value);
        for (std::size_t i = 0; i < items_.size(); ++i) {
            PyObject* item = PyDict_GetItemString(value.ptr(), keys_[i].c_str());
            if (!item) refuse(value);
            items_[i].flatten(item, to, device);
        }
        return;
    }
}

nb::object Structure::value(const Leaves& from, std::size_t& next_tensor, std::size_t& next_size) const
{
    switch (kind_) {
    case Kind::tensor: return nb::cast(from.tensors.at(next_tensor++));
    case Kind::size: return nb::cast(from.sizes.at(next_size++));
    case Kind::none: return nb::none();
    case Kind::dictionary: {
        nb::dict out;
        for (std::size_t i = 0; i < items_.size(); ++i)
            out[keys_[i].c_str()] = items_[i].value(from, next_tensor, next_size);
        return out;
    }
    default: break;
    }
    nb::list out;
    for (const Structure& item : items_) out.append(item.value(from, next_tensor, next_size));
    if (kind_ == Kind::list) return out;
    return named_ ? named_->get().attr("_make")(out) : nb::object(nb::tuple(out));
}

nb::object Structure::value(const std::vector<Tensor>& tensors) const
{
    std::size_t next_tensor = 0, next_size = 0;
    if (kind_ == Kind::tensor) return nb::cast(tensors.at(0)); // the usual result, without a copy of the list
    return value(Leaves{tensors, {}}, next_tensor, next_size);
}

void tensors_in(nb::handle object, std::vector<Tensor>& to)
{
    if (nb::isinstance<Tensor>(object)) {
        to.push_back(nb::cast<const Tensor&>(object));
        return;
    }
    const Nesting level;
    if (is_list(object) || is_tuple(object))
        for (nb::handle item : object) tensors_in(item, to);
    else if (is_dictionary(object))
        for (auto [key, item] : nb::borrow<nb::dict>(object)) tensors_in(item, to);
}

nb::object with_tensors(nb::handle object, const std::vector<Tensor>& tensors, std::size_t& next)
{
    if (nb::isinstance<Tensor>(object)) {
        const Tensor& now = tensors.at(next++);
        const bool is_same = now.is_same(nb::cast<const Tensor&>(object));
        return is_same ? nb::borrow(object) : nb::cast(now);
    }
    if (!is_list(object) && !is_tuple(object) && !is_dictionary(object)) return nb::borrow(object);
    const Nesting level;
    nb::list items;
    bool is_same = true;
    const auto add = [&](nb::handle item) {
        const nb::object now = with_tensors(item, tensors, next);
        is_same = is_same && now.is(item);
        items.append(now);
    };
    if (is_dictionary(object))
        for (auto [key, item] : nb::borrow<nb::dict>(object)) add(item);
    else
        for (nb::handle item : object) add(item);
    return is_same ? nb::borrow(object) : rebuilt(object, items);
}

std::string Structure::text() const
{
    switch (kind_) {
    case Kind::tensor: return "tensor";
    case Kind::size: return "size";
    case Kind::none: return "None";
    default: break;
    }
    std::string out;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (i > 0) out += ", ";
        if (kind_ == Kind::dictionary) out += keys_[i] + ": ";
        out += items_[i].text();
    }
    return kind_ == Kind::dictionary ? "{" + out + "}"
           : kind_ == Kind::list     ? "[" + out + "]"
                                     : "(" + out + ")";
}

} // namespace reprise::python
