// Lists and dictionaries of parameters.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <reprise/nn/module.hpp>
#include <reprise/ordered_dict.hpp>

namespace reprise::nn {

// A list of parameters, named "0", "1", ...  A Variable becomes an element itself; another tensor becomes a
// new Variable with its value.  It has no forward().
class ParameterList final : public Module {
public:
    REPRISE_LAYER(ParameterList)
    using Module::Module;
    ParameterList() = default; // without parameters
    // Adds these parameters.
    explicit ParameterList(const std::vector<Tensor>& parameters) { extend(parameters); }
    // Adds a parameter at the end; returns this list.
    template <std::derived_from<Tensor> T> ParameterList& append(const T& parameter)
    {
        items_.push_back(register_parameter(std::to_string(items_.size()), parameter));
        return *this;
    }
    // Does the same as append().
    template <std::derived_from<Tensor> T> void push_back(const T& parameter) { append(parameter); }
    // Adds all parameters of a list or vector at the end; returns this list.
    template <class Parameters> ParameterList& extend(const Parameters& parameters)
    {
        for (const auto& parameter : parameters) append(parameter);
        return *this;
    }
    Variable operator[](std::int64_t index) const; // negative: from the end; Error(argument) out of range
    Variable at(std::int64_t index) const { return (*this)[index]; } // the same
    std::size_t size() const noexcept { return items_.size(); }      // the number of parameters
    bool empty() const noexcept { return items_.empty(); }           // whether there are none
    bool is_empty() const noexcept { return empty(); }               // as empty()
    auto begin() const noexcept { return items_.begin(); }           // for loops over the parameters
    auto end() const noexcept { return items_.end(); }               // past the last parameter

private:
    std::vector<Variable> items_;
};

// Parameters by name, in the order of insertion; elements are created as in ParameterList.  It has no forward().
class ParameterDict final : public Module {
public:
    REPRISE_LAYER(ParameterDict)
    using Module::Module;
    ParameterDict() = default; // without parameters
    // Adds a parameter and returns it.  Throws Error(argument) for a name that exists already, is empty or
    // has a dot.
    template <std::derived_from<Tensor> T> Variable insert(const std::string& name, const T& parameter)
    {
        Variable added = register_parameter(name, parameter);
        items_.insert(name, added);
        return added;
    }
    // Returns the parameter of this name.  Throws Error(argument), which lists the names, if there is none.
    Variable operator[](const std::string& name) const { return items_[name]; }
    Variable get(const std::string& name) const { return items_[name]; } // the same
    bool contains(const std::string& name) const noexcept
    {
        return items_.contains(name);
    }                                                                      // whether it exists
    std::vector<std::string> keys() const { return items_.keys(); }        // names, in order
    std::vector<Variable> values() const { return items_.values(); }       // the parameters, in order
    const OrderedDict<Variable>& items() const noexcept { return items_; } // names and parameters, in order
    std::size_t size() const noexcept { return items_.size(); }            // the number of parameters
    bool empty() const noexcept { return items_.empty(); }                 // whether there are none
    bool is_empty() const noexcept { return empty(); }                     // as empty()
    auto begin() const noexcept { return items_.begin(); } // for loops over names and parameters
    auto end() const noexcept { return items_.end(); }     // past the last one

private:
    OrderedDict<Variable> items_{"parameter"};
};

} // namespace reprise::nn
