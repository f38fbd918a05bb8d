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

// A Shape with the questions that one asks of it; each becomes the other where it is needed.
class SymbolicShape {
public:
    SymbolicShape() = default; // of a tensor without dimensions
    SymbolicShape(Shape dims) : dims_(std::move(dims)) {}
    SymbolicShape(std::initializer_list<Dim> dims) : dims_(dims) {}
    operator Shape() const& { return dims_; } // by value, as a reference would bind to temporaries
    operator Shape() && { return std::move(dims_); }

    const Shape& dims() const& noexcept { return dims_; }
    Shape dims() && { return std::move(dims_); }
    std::size_t rank() const noexcept { return dims_.size(); }
    // Negative counts from the end.  Error(argument) for a dimension that there is not.
    const Dim& operator[](std::int64_t dim) const& { return dims_[place_of(dim)]; }
    Dim operator[](std::int64_t dim) && { return std::move(dims_[place_of(dim)]); }
    auto begin() const& noexcept { return dims_.begin(); }
    auto end() const& noexcept { return dims_.end(); }
    Dim numel() const;      // 1 without dimensions
    bool is_static() const; // all sizes are numbers

    // broadcast_shapes() of the two.
    SymbolicShape broadcast(const SymbolicShape& other) const;
    // The sizes as numbers where each symbol has the given value: {{batch, 32}, {seq, 128}}.  Error(argument) for
    // a symbol without a value or with several or with one that it can't have, and where what stands before a
    // value is no symbol; Error(shape) where a size would be below 0.
    SymbolicShape bind(const std::vector<std::pair<Dim, std::int64_t>>& values) const;

    // As two shapes: throws Error(state) where the values of symbols decide.  same() asks for one form.
    friend bool operator==(const SymbolicShape& a, const SymbolicShape& b) { return a.dims_ == b.dims_; }
    friend bool same(const SymbolicShape& a, const SymbolicShape& b)
    {
        return reprise::same(a.dims_, b.dims_);
    }

private:
    std::size_t place_of(std::int64_t dim) const;

    Shape dims_;
};

// "[batch, 1, 28, 28]", which to_string() gives as well.
std::ostream& operator<<(std::ostream&, const SymbolicShape&);

} // namespace reprise
