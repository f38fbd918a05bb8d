// Entries of a state that are cut into parts, of which each rank of a world has one.
//
// The entry NAME of k elements, flat and padded with zeros, is cut into n parts of ceil(k / n) elements:
// NAME.part_0_of_n to NAME.part_(n-1)_of_n.
#pragma once
#include <optional>
#include <string>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

std::string part_name(const std::string& entry, int part, int parts);
// Returns the name of the entry of which this is a part, or the name itself.
std::string without_part(const std::string& name);

// Returns the entry of this name; if the state has its parts instead, all of them as a tensor of this shape; nullopt
// if it has neither.  Throws Error(argument) where a part is missing, Error(shape) where one has another size.
std::optional<Tensor> whole_entry(const StateDict&, const std::string& name, const Shape&);

} // namespace reprise::optim
