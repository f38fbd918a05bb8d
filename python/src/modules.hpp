// Modules whose class is written in Python.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/trampoline.h>

#include <reprise/nn/module.hpp>

#include "binding.hpp"
#include "structure.hpp"

namespace reprise::python {

inline std::optional<Variable> variable_or_none(const Variable& v)
{
    return v.defined() ? std::optional<Variable>(v) : std::nullopt;
}

// A module as Python's object, the existing one where there is one.
nb::object object_of(const nn::ModulePointer&, nb::handle owner);

// The part of a module that its class in Python uses.
class PythonSide {
public:
    virtual ~PythonSide() = default;
    // Registers the value under the name if it is a parameter or a module, in place of what the name had.
    virtual void attribute_is_set(const std::string& name, nb::handle value) = 0;
    virtual void attribute_is_deleted(const std::string& name) = 0;
    virtual Variable add_buffer(const std::string& name, const Tensor&) = 0;
    // What super() calls: the members of the C++ class.
    virtual Tensor base_forward(const Tensor& x) = 0;
    virtual std::string base_extra_repr() const = 0;
    // Calls forward() of the Python class with the module's hooks.
    virtual nb::object call(nb::handle self, const nb::args&, const nb::kwargs&) = 0;
};

template <class Base> class PythonModule : public Base, public PythonSide {
public:
    NB_TRAMPOLINE(Base);

    Tensor forward(Tensor x) override { NB_OVERRIDE(forward, x); }
    Tensor base_forward(const Tensor& x) override { return Base::forward(x); }
    std::string extra_repr() const override { NB_OVERRIDE(extra_repr); }
    std::string base_extra_repr() const override { return Base::extra_repr(); }
    std::string name() const override
    {
        const nb::gil_scoped_acquire locked;
        const std::string whole = nb::type_name(this->nb_trampoline.base().type()).c_str();
        return whole.substr(whole.rfind('.') + 1);
    }

    void attribute_is_set(const std::string& name, nb::handle value) override
    {
        const bool is_module = nb::isinstance<nn::Module>(value),
                   is_parameter = nb::isinstance<Variable>(value);
        if (registered_.count(name)) {
            const bool is_tensor = nb::isinstance<Tensor>(value) && !is_parameter;
            if (is_tensor)
                throw nb::type_error(
                    ("(" + name + ") is a parameter or a buffer: write into it with assign().").c_str());
            attribute_is_deleted(name);
        }
        if (is_module) this->register_module(name, nb::cast<nn::Module&>(value));
        else if (is_parameter) this->register_parameter(name, nb::cast<const Variable&>(value));
        else return;
        registered_.insert(name);
    }
    void attribute_is_deleted(const std::string& name) override
    {
        if (registered_.erase(name)) this->unregister(name);
    }
    Variable add_buffer(const std::string& name, const Tensor& value) override
    {
        Variable buffer = this->register_buffer(name, value);
        registered_.insert(name);
        return buffer;
    }

    nb::object call(nb::handle self, const nb::args& arguments, const nb::kwargs& keywords) override
    {
        const nb::object all = nb::make_tuple(arguments, keywords);
        std::vector<Tensor> in, returned, out;
        tensors_in(all, in);
        nb::object result;
        const auto forward_all = [&](std::vector<Tensor>& given) {
            const nb::gil_scoped_acquire locked;
            std::size_t next = 0;
            const nb::object now = with_tensors(all, given, next);
            result = self.attr("forward")(*nb::borrow<nb::args>(now[0]), **nb::borrow<nb::kwargs>(now[1]));
            tensors_in(result, returned);
            return returned;
        };
        {
            const Unlocked unlocked;
            out = this->called(here(), forward_all, in);
        }
        const auto is_same = [](const Tensor& a, const Tensor& b) { return a.is_same(b); };
        if (std::equal(out.begin(), out.end(), returned.begin(), returned.end(), is_same)) return result;
        std::size_t next = 0;
        return with_tensors(result, out, next);
    }

private:
    std::set<std::string> registered_;
};

} // namespace reprise::python
