// Parameters: the list of tensors that optimizers, gradient clipping and similar functions take.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// A vector of parameters, constructed from a list of Variables or of Tensors: net.parameters(), {w, b},
// std::vector<Tensor>.  Each entry is a handle to the same tensor: its grad() is that tensor's, and an
// optimizer updates that tensor.  Whether entries are leaves and require a gradient is checked where they are
// used.
class Parameters : public std::vector<Variable> {
public:
    Parameters() = default;                                                                 // an empty list
    Parameters(const std::vector<Variable>& parameters) : vector(parameters) {}             // these
    Parameters(std::vector<Variable>&& parameters) : vector(std::move(parameters)) {}       // these
    Parameters(const std::vector<Tensor>& tensors) { add(tensors.begin(), tensors.end()); } // these tensors
    Parameters(std::initializer_list<Tensor> tensors)
    {
        add(tensors.begin(), tensors.end());
    }                                                                 // those in braces
    Parameters(const Tensor& tensor) { push_back(tensor); }           // one tensor
    operator std::vector<Tensor>() const { return {begin(), end()}; } // handles to the same tensors

    void push_back(const Tensor& tensor) { vector::push_back(same(tensor)); } // appends a tensor
    // Appends a tensor and returns the new entry.
    Variable& emplace_back(const Tensor& tensor) { return vector::emplace_back(same(tensor)); }
    // Inserts a tensor before `at`, and returns an iterator to it.
    iterator insert(const_iterator at, const Tensor& tensor) { return vector::insert(at, same(tensor)); }
    // Inserts the tensors of a range before `at`, and returns an iterator to the first.
    template <std::input_iterator From> iterator insert(const_iterator at, From from, From to)
    {
        const Parameters more(std::vector<Tensor>(from, to));
        return vector::insert(at, more.begin(), more.end());
    }

private:
    // Returns a handle to the same tensor; Variable(tensor) would be a new leaf.
    static Variable same(const Tensor& tensor)
    {
        Variable out;
        static_cast<Tensor&>(out) = tensor;
        return out;
    }
    template <class From> void add(From from, From to)
    {
        reserve(size() + static_cast<std::size_t>(std::distance(from, to)));
        for (; from != to; ++from) push_back(*from);
    }
};

} // namespace reprise
