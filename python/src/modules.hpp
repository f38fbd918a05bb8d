// Modules whose class is written in Python.
#pragma once
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/trampoline.h>

#include <reprise/nn/module.hpp>

#include "binding.hpp"
#include "structure.hpp"

namespace reprise::python {

// A member of a module as Python's object: nn.Parameter if it is among the module's parameters.
using Member = nb::typed<nb::object, std::optional<Variable>>;
Member member_of(const nn::Module&, const Variable&);

// A module as Python's object, the existing one where there is one.
nb::object object_of(const nn::ModulePointer&, nb::handle owner);

// The part of a module that its class in Python uses.
class PythonSide {
public:
    virtual ~PythonSide() = default;
    // Registers the value under the name if it is a parameter or a module, in place of what the name had.
    virtual void attribute_is_set(const std::string& name, nb::handle value) = 0;
    virtual void attribute_is_deleted(const std::string& name) = 0;
    virtual void add_buffer(const std::string& name, const Variable&) = 0;
    // The names that are registered, in order.
    virtual std::vector<std::string> registered() const = 0;
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
        const auto old = find(name);
        const bool is_module = nb::isinstance<nn::Module>(value),
                   is_parameter = nb::isinstance<Parameter>(value);
        if (old != entries_.end() && nb::isinstance<Tensor>(value) && !is_parameter)
            throw nb::type_error(
                ("(" + name + ") is a parameter or a buffer: write into it with assign().").c_str());
        if (is_module) put(old, {name, Kind::module, {}, &nb::cast<nn::Module&>(value)});
        else if (is_parameter) put(old, {name, Kind::parameter, nb::cast<const Parameter&>(value), nullptr});
        else attribute_is_deleted(name);
    }
    void attribute_is_deleted(const std::string& name) override
    {
        const auto old = find(name);
        if (old == entries_.end()) return;
        leave(*old);
        entries_.erase(old);
    }
    void add_buffer(const std::string& name, const Variable& value) override
    {
        put(find(name), {name, Kind::buffer, value, nullptr});
    }
    std::vector<std::string> registered() const override
    {
        std::vector<std::string> names;
        for (const Entry& e : entries_)
            if (is_registered(e)) names.push_back(e.name);
        return names;
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
    enum class Kind { parameter, buffer, module };
    struct Entry {
        std::string name;
        Kind kind;
        Variable variable;
        nn::Module* module; // alive while is_registered()
    };
    using Entries = std::vector<Entry>;

    typename Entries::iterator find(const std::string& name)
    {
        return std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
    }
    void enter(const Entry& e)
    {
        if (e.kind == Kind::module) this->register_module(e.name, *e.module);
        else if (e.kind == Kind::parameter) this->register_parameter(e.name, e.variable);
        else this->register_buffer(e.name, e.variable);
    }
    // Whether the library still has the entry: it forgets modules that are destroyed.
    bool is_registered(const Entry& e) const
    {
        if (e.kind != Kind::module) return true;
        const auto all = this->children();
        return std::any_of(all.begin(), all.end(), [&](const auto& m) { return m.get() == e.module; });
    }
    void leave(const Entry& e)
    {
        if (is_registered(e)) this->unregister(e.name);
    }
    // Registers an entry at the position of the old one of its name.  If the library refuses it, nothing changes.
    void put(typename Entries::iterator old, const Entry& now)
    {
        if (old == entries_.end()) {
            enter(now);
            entries_.push_back(now);
            return;
        }
        // The library appends, so that those that come after it are registered again.
        Entries again;
        for (auto e = std::next(old); e != entries_.end(); ++e)
            if (is_registered(*e)) again.push_back(*e);
        const bool had = is_registered(*old);
        leave(*old);
        for (const Entry& e : again) this->unregister(e.name);
        try {
            enter(now);
        } catch (...) {
            if (had) enter(*old);
            for (const Entry& e : again) enter(e);
            throw;
        }
        for (const Entry& e : again) enter(e);
        *old = now;
    }

    Entries entries_; // in the order of registration
};

} // namespace reprise::python
