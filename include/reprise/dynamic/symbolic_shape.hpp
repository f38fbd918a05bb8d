// A shape whose sizes may be symbols.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <utility>
#include <vector>

#include <reprise/dim.hpp>

namespace reprise {

// A Shape with members to read and compare it.  Shape and SymbolicShape convert to each other implicitly.
class SymbolicShape {
public:
    SymbolicShape() = default;                            // the shape of a tensor without dimensions
    SymbolicShape(Shape dims) : dims_(std::move(dims)) {} // the shape itself
    SymbolicShape(std::initializer_list<Dim> dims) : dims_(dims) {} // the sizes in the braces
    operator Shape() const& { return dims_; }                       // the shape itself, as a copy
    operator Shape() && { return std::move(dims_); }                // the shape itself

    const Shape& dims() const& noexcept { return dims_; }      // the shape itself
    Shape dims() && { return std::move(dims_); }               // the shape of a temporary
    std::size_t rank() const noexcept { return dims_.size(); } // the number of dimensions
    // The size of a dimension; negative indices count from the end. Error(argument) if the index is out of range.
    const Dim& operator[](std::int64_t dim) const& { return dims_[place_of(dim)]; }
    // The same for a temporary.
    Dim operator[](std::int64_t dim) && { return std::move(dims_[place_of(dim)]); }
    auto begin() const& noexcept { return dims_.begin(); } // the first size
    auto end() const& noexcept { return dims_.end(); }     // the end of the sizes
    Dim numel() const;                                     // the product of all sizes; 1 without dimensions
    bool is_static() const;                                // whether all sizes are numbers

    // The shape that both broadcast to, as broadcast_shapes().
    SymbolicShape broadcast(const SymbolicShape& other) const;
    // The shape with each symbol replaced by its value: {{batch, 32}, {seq, 128}}. Error(argument) for a symbol without
    // a value, with different values, or with one below 0 or outside of its range, and if a value is assigned to
    // anything but a symbol; Error(shape) if a size would be below 0.
    SymbolicShape bind(const std::vector<std::pair<Dim, std::int64_t>>& values) const;

    // Whether the shapes are equal, as for Shape: Error(state) if that depends on the values of symbols.
    friend bool operator==(const SymbolicShape& a, const SymbolicShape& b) { return a.dims_ == b.dims_; }
    // Whether the shapes are equal symbol for symbol.
    friend bool same(const SymbolicShape& a, const SymbolicShape& b)
    {
        return reprise::same(a.dims_, b.dims_);
    }

private:
    std::size_t place_of(std::int64_t dim) const;

    Shape dims_;
};

// Prints the shape as to_string() does, such as "[batch, 1, 28, 28]".
std::ostream& operator<<(std::ostream&, const SymbolicShape&);

} // namespace reprise
