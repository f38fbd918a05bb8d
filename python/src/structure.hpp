// The nesting of tensors in arguments and results of Python's functions: lists, tuples and dictionaries.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include <reprise/program.hpp>
#include <reprise/tensor.hpp>

#include "callback.hpp"

namespace reprise::python {

// The leaves of a structure, in order.
struct Leaves {
    std::vector<Tensor> tensors;
    DimVector sizes;
};

// A structure without its leaves.  Of Python it holds only the classes of named tuples.
class Structure {
public:
    enum class Kind { tensor, size, none, list, tuple, dictionary };

    Structure(Kind kind = Kind::none) : kind_(kind) {}
    // Of specs: a Spec, a symbol, or a list, tuple or dictionary of these.  Appends to `tensors` and `sizes`.
    static Structure of_specs(nanobind::handle, std::vector<Spec>& tensors, DimVector& sizes);
    // Of a result: tensors, None, and lists, tuples and dictionaries of these; else TypeError.
    static Structure of_result(nanobind::handle, std::vector<Tensor>& tensors);

    Kind kind() const { return kind_; }
    std::size_t size() const { return items_.size(); }
    // Appends the leaves of a value that has this structure.  Arrays are copied to tensors on the device.  TypeError
    // for others.
    void flatten(nanobind::handle value, Leaves& to, const std::optional<Device>& device = {}) const;
    // The value of these leaves.  `next_tensor` and `next_size` count those that are used.
    nanobind::object value(const Leaves&, std::size_t& next_tensor, std::size_t& next_size) const;
    nanobind::object value(const std::vector<Tensor>&) const;
    std::string text() const; // "(tensor, {x: tensor})"

private:
    [[noreturn]] void refuse(nanobind::handle value) const;

    Kind kind_;
    std::vector<Structure> items_;
    std::vector<std::string> keys_; // of a dictionary
    Shared named_;                  // the class of a named tuple
};

// For calls that other code may change the tensors of, such as hooks.  Appends the tensors of an object, also those
// inside of lists, tuples and dictionaries.  Other objects are left out.
void tensors_in(nanobind::handle, std::vector<Tensor>& to);
// The object with these tensors in place of its own, from `next` on.  Parts whose tensors are the same remain the same
// objects; others are made anew, of the same class.
nanobind::object with_tensors(nanobind::handle, const std::vector<Tensor>&, std::size_t& next);

} // namespace reprise::python
