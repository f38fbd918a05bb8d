// A vector that stores up to N elements inside itself: nodes of a graph and their shapes are created in large
// numbers, and each allocation costs a cache miss or two.
#pragma once
#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace reprise {

// std::vector with room for N elements inside itself; more elements are allocated.  Moving a Few moves the
// elements inside it, so that references to them become invalid.  Members are those of std::vector unless
// stated otherwise.
template <class T, std::size_t N> class Few {
    static_assert(N > 0 && std::is_nothrow_move_constructible_v<T>);

public:
    using value_type = T;                                                 // the type of an element
    using size_type = std::size_t;                                        // the type of sizes
    using difference_type = std::ptrdiff_t;                               // the type of distances
    using reference = T&;                                                 // a reference to an element
    using const_reference = const T&;                                     // a constant reference
    using iterator = T*;                                                  // an iterator
    using const_iterator = const T*;                                      // a constant iterator
    using reverse_iterator = std::reverse_iterator<iterator>;             // an iterator from the end
    using const_reverse_iterator = std::reverse_iterator<const_iterator>; // a constant one from the end

    // An empty vector.  Written out, as the compiler's own would fill the memory with zeros first.
    Few() noexcept : data_(own()) {}
    explicit Few(std::size_t n) : Few() { resize(n); }                               // n default elements
    Few(std::size_t n, const T& value) : Few() { resize(n, value); }                 // n copies of a value
    Few(std::initializer_list<T> list) : Few() { append(list.begin(), list.end()); } // these elements
    // Copies of the elements of a range.
    template <std::forward_iterator From> Few(From from, From to) : Few() { append(from, to); }
    // The elements of a vector, moved.
    Few(std::vector<T>&& from) // NOLINT(google-explicit-constructor): the vector gives them up
        : Few()
    {
        append(std::move_iterator(from.begin()), std::move_iterator(from.end()));
    }
    // Copies of the elements of a vector.
    Few(const std::vector<T>& from) : Few() // NOLINT(google-explicit-constructor): the same elements
    {
        append(from.begin(), from.end());
    }
    // The elements of a vector, converted.
    template <std::convertible_to<T> From>
    requires(!std::same_as<From, T>) Few(const std::vector<From>& from)
        : Few() // NOLINT(google-explicit-constructor): the same, converted
    {
        append(from.begin(), from.end());
    }
    Few(const Few& other) : Few() { append(other.begin(), other.end()); } // a copy
    Few(Few&& other) noexcept : Few() { take(other); } // the elements, moved; other is empty
    // Becomes a copy.
    Few& operator=(const Few& other)
    {
        return *this = Few(other); // a copy first: an element that is destroyed here may own `other`
    }
    // Takes the elements; other is empty then.
    Few& operator=(Few&& other) noexcept
    {
        if (this != &other) {
            Few before(std::move(*this)); // destroyed when *this is valid again
            take(other);
        }
        return *this;
    }
    ~Few() { release(); }

    // The elements as a std::vector, by default of 64-bit integers.  A size that is a symbol throws Error(state).
    template <class To = std::int64_t>
    requires std::convertible_to<const T&, To> std::vector<To> vec()
    const { return {begin(), end()}; }

    T* data() noexcept { return data_; }                                   // the first element
    const T* data() const noexcept { return data_; }                       // the first element
    std::size_t size() const noexcept { return size_; }                    // the number of elements
    std::size_t capacity() const noexcept { return capacity_; }            // what fits without an allocation
    bool empty() const noexcept { return size_ == 0; }                     // whether there are none
    T* begin() noexcept { return data_; }                                  // the first element
    T* end() noexcept { return data_ + size_; }                            // behind the last element
    const T* begin() const noexcept { return data_; }                      // the first element
    const T* end() const noexcept { return data_ + size_; }                // behind the last element
    const T* cbegin() const noexcept { return begin(); }                   // the first element
    const T* cend() const noexcept { return end(); }                       // behind the last element
    reverse_iterator rbegin() noexcept { return reverse_iterator(end()); } // the last element, going back
    reverse_iterator rend() noexcept { return reverse_iterator(begin()); } // before the first element
    // The last element, going back.
    const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
    // Before the first element.
    const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
    T& operator[](std::size_t i) noexcept { return data_[i]; }             // element i, unchecked
    const T& operator[](std::size_t i) const noexcept { return data_[i]; } // element i, unchecked
    // Element i; std::out_of_range where there is none.
    T& at(std::size_t i)
    {
        check(i);
        return data_[i];
    }
    // Element i; std::out_of_range where there is none.
    const T& at(std::size_t i) const
    {
        check(i);
        return data_[i];
    }
    T& front() noexcept { return data_[0]; }                    // the first element
    const T& front() const noexcept { return data_[0]; }        // the first element
    T& back() noexcept { return data_[size_ - 1]; }             // the last element
    const T& back() const noexcept { return data_[size_ - 1]; } // the last element

    // Makes room for n elements; std::length_error for more than 2^32 - 1.
    void reserve(std::size_t n)
    {
        if (n > capacity_) grow(n);
    }
    // Appends an element made of the arguments, and returns it.
    template <class... Args> T& emplace_back(Args&&... args)
    {
        if (size_ == capacity_) {
            T made(std::forward<Args>(args)...); // first, as an argument may be an element
            grow(2 * std::size_t{capacity_});
            return add(std::move(made));
        }
        return add(std::forward<Args>(args)...);
    }
    void push_back(T v) { emplace_back(std::move(v)); }            // appends an element
    void pop_back() noexcept { std::destroy_at(data_ + --size_); } // removes the last element
    // Removes elements from the end, or appends default ones, until there are n.
    void resize(std::size_t n)
    {
        provide(n);
        while (size_ < n) add();
        while (size_ > n) pop_back();
    }
    // Removes elements from the end, or appends copies of a value, until there are n.
    void resize(std::size_t n, const T& value)
    {
        const T copy(value); // first, as the value may be an element
        provide(n);
        while (size_ < n) add(copy);
        while (size_ > n) pop_back();
    }
    // Becomes a copy of a range.
    template <std::forward_iterator From> void assign(From from, From to) { *this = Few(from, to); }
    void assign(std::size_t n, const T& value) { *this = Few(n, value); } // becomes n copies of a value
    // Removes all elements and keeps the capacity.
    void clear() noexcept
    {
        std::destroy(begin(), end());
        size_ = 0;
    }

    // Inserts an element before `at`, and returns its place.
    T* insert(const T* at, T value)
    {
        const auto place = at - data_;
        emplace_back(std::move(value));
        std::rotate(data_ + place, end() - 1, end());
        return data_ + place;
    }
    // Inserts copies of a range of another container before `at`, and returns the place of the first.
    template <std::forward_iterator From> T* insert(const T* at, From from, From to)
    {
        const auto place = at - data_;
        const std::size_t before = size_;
        provide(size_ + static_cast<std::size_t>(std::distance(from, to)));
        for (; from != to; ++from) add(*from);
        std::rotate(data_ + place, data_ + before, end());
        return data_ + place;
    }
    // Inserts these elements before `at`, and returns the place of the first.
    T* insert(const T* at, std::initializer_list<T> list) { return insert(at, list.begin(), list.end()); }
    // Inserts n copies of a value before `at`, and returns the place of the first.
    T* insert(const T* at, std::size_t n, const T& value)
    {
        const Few copies(n, value);
        return insert(at, copies.begin(), copies.end());
    }
    T* erase(const T* at) { return erase(at, at + 1); } // removes an element; returns the place behind it
    // Removes the elements from `from` to before `to`; returns the place behind them.
    T* erase(const T* from, const T* to)
    {
        T* const first = data_ + (from - data_);
        if (from == to) return first;
        T* const rest = std::move(data_ + (to - data_), end(), first);
        while (end() != rest) pop_back();
        return first;
    }

    // Lexicographical order.
    friend auto operator<=>(const Few& a, const Few& b) requires std::three_way_comparable<T>
    {
        return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    T* own() noexcept { return reinterpret_cast<T*>(memory_); }
    void check(std::size_t i) const
    {
        if (i >= size_) throw std::out_of_range("Few::at");
    }

    void provide(std::size_t n) // at least doubles: repeated growth moves each element a few times at most
    {
        if (n > capacity_) grow(std::max(n, 2 * std::size_t{capacity_}));
    }
    template <class From> void append(From from, From to)
    {
        reserve(static_cast<std::size_t>(std::distance(from, to)));
        for (; from != to; ++from) add(*from);
    }
    template <class... Args> T& add(Args&&... args) // needs room for one
    {
        T* const made = std::construct_at(data_ + size_, std::forward<Args>(args)...);
        ++size_;
        return *made;
    }
    void grow(std::size_t n)
    {
        if (n > std::min<std::size_t>(std::numeric_limits<std::uint32_t>::max(),
                                      std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T)))
            throw std::length_error("Few");
        T* const to = std::allocator<T>().allocate(n);
        std::uninitialized_move(begin(), end(), to);
        const std::uint32_t size = size_;
        release();
        data_ = to;
        size_ = size;
        capacity_ = static_cast<std::uint32_t>(n);
    }
    void release() noexcept
    {
        clear();
        if (data_ != own()) give_back();
    }
    void give_back() noexcept
    {
        std::allocator<T>().deallocate(data_, capacity_);
        data_ = own();
        capacity_ = N;
    }
    void take(Few& other) noexcept // *this is empty
    {
        if (other.data_ != other.own()) {
            data_ = std::exchange(other.data_, other.own());
            size_ = std::exchange(other.size_, 0);
            capacity_ = std::exchange(other.capacity_, N);
            return;
        }
        std::uninitialized_move(other.begin(), other.end(), data_);
        size_ = other.size_;
        other.clear();
    }

    T* data_;
    std::uint32_t size_ = 0, capacity_ = N;
    alignas(T) std::byte memory_[N * sizeof(T)];
};

// Whether both have equal elements in the same order.
template <class T, std::size_t N> bool operator==(const Few<T, N>& a, const Few<T, N>& b)
{
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

} // namespace reprise
