// A vector whose first N elements lie in itself: nodes of a graph and their shapes are made by the thousand, and each
// allocation of them costs a cache miss or two.
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

#include <reprise/cold.hpp>
#include <reprise/recycled.hpp>

namespace reprise {

// As std::vector, but that moving it moves the elements that lie in it: references to them do not stay.
template <class T, std::size_t N> class Few {
    static_assert(N > 0 && std::is_nothrow_move_constructible_v<T>);

public:
    using value_type = T;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using const_reference = const T&;
    using iterator = T*;
    using const_iterator = const T*;
    using reverse_iterator = std::reverse_iterator<iterator>;
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;

    Few() noexcept : data_(own()) {} // by hand: the compiler's would fill the memory with zeros first
    explicit Few(std::size_t n) : Few() { resize(n); }
    Few(std::size_t n, const T& value) : Few() { resize(n, value); }
    Few(std::initializer_list<T> list) : Few() { append(list.begin(), list.end()); }
    template <std::forward_iterator From> Few(From from, From to) : Few() { append(from, to); }
    Few(std::vector<T>&& from) // NOLINT(google-explicit-constructor): what made it gives it up
        : Few()
    {
        append(std::move_iterator(from.begin()), std::move_iterator(from.end()));
    }
    Few(const std::vector<T>& from) : Few() // NOLINT(google-explicit-constructor): the same elements
    {
        append(from.begin(), from.end());
    }
    template <std::convertible_to<T> From>
    requires(!std::same_as<From, T>) Few(const std::vector<From>& from)
        : Few() // NOLINT(google-explicit-constructor): the same, converted
    {
        append(from.begin(), from.end());
    }
    Few(const Few& other) : Few() { append(other.begin(), other.end()); }
    Few(Few&& other) noexcept : Few() { take(other); }
    Few& operator=(const Few& other)
    {
        return *this = Few(other); // which may hang on what goes here
    }
    Few& operator=(Few&& other) noexcept
    {
        if (this != &other) {
            Few before(std::move(*this)); // goes when this is whole again
            take(other);
        }
        return *this;
    }
    ~Few() { release(); }

    T* data() noexcept { return data_; }
    const T* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    std::size_t capacity() const noexcept { return capacity_; }
    bool empty() const noexcept { return size_ == 0; }
    T* begin() noexcept { return data_; }
    T* end() noexcept { return data_ + size_; }
    const T* begin() const noexcept { return data_; }
    const T* end() const noexcept { return data_ + size_; }
    const T* cbegin() const noexcept { return begin(); }
    const T* cend() const noexcept { return end(); }
    reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
    reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
    const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
    const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
    T& operator[](std::size_t i) noexcept { return data_[i]; }
    const T& operator[](std::size_t i) const noexcept { return data_[i]; }
    T& at(std::size_t i)
    {
        check(i);
        return data_[i];
    }
    const T& at(std::size_t i) const
    {
        check(i);
        return data_[i];
    }
    T& front() noexcept { return data_[0]; }
    const T& front() const noexcept { return data_[0]; }
    T& back() noexcept { return data_[size_ - 1]; }
    const T& back() const noexcept { return data_[size_ - 1]; }

    void reserve(std::size_t n)
    {
        if (n > capacity_) grow(n);
    }
    template <class... Args> T& emplace_back(Args&&... args)
    {
        if (size_ == capacity_) {
            T made(std::forward<Args>(args)...); // which may lie in here
            grow(2 * std::size_t{capacity_});
            return add(std::move(made));
        }
        return add(std::forward<Args>(args)...);
    }
    void push_back(T v) { emplace_back(std::move(v)); }
    void pop_back() noexcept { std::destroy_at(data_ + --size_); }
    void resize(std::size_t n)
    {
        provide(n);
        while (size_ < n) add();
        while (size_ > n) pop_back();
    }
    void resize(std::size_t n, const T& value)
    {
        const T copy(value); // which may lie in here
        provide(n);
        while (size_ < n) add(copy);
        while (size_ > n) pop_back();
    }
    template <std::forward_iterator From> void assign(From from, From to) { *this = Few(from, to); }
    void assign(std::size_t n, const T& value) { *this = Few(n, value); }
    void clear() noexcept
    {
        std::destroy(begin(), end());
        size_ = 0;
    }

    T* insert(const T* at, T value)
    {
        const auto place = at - data_;
        emplace_back(std::move(value));
        std::rotate(data_ + place, end() - 1, end());
        return data_ + place;
    }
    // Elements of another container.
    template <std::forward_iterator From> T* insert(const T* at, From from, From to)
    {
        const auto place = at - data_;
        const std::size_t before = size_;
        provide(size_ + static_cast<std::size_t>(std::distance(from, to)));
        for (; from != to; ++from) add(*from);
        std::rotate(data_ + place, data_ + before, end());
        return data_ + place;
    }
    T* insert(const T* at, std::initializer_list<T> list) { return insert(at, list.begin(), list.end()); }
    T* insert(const T* at, std::size_t n, const T& value)
    {
        const Few copies(n, value);
        return insert(at, copies.begin(), copies.end());
    }
    T* erase(const T* at) { return erase(at, at + 1); }
    T* erase(const T* from, const T* to)
    {
        T* const first = data_ + (from - data_);
        if (from == to) return first;
        T* const rest = std::move(data_ + (to - data_), end(), first);
        while (end() != rest) pop_back();
        return first;
    }

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

    void provide(std::size_t n) // so that growing by and by moves each element a few times at most
    {
        if (n > capacity_) grow(std::max(n, 2 * std::size_t{capacity_}));
    }
    template <class From> void append(From from, From to)
    {
        reserve(static_cast<std::size_t>(std::distance(from, to)));
        for (; from != to; ++from) add(*from);
    }
    template <class... Args> T& add(Args&&... args) // there is room
    {
        T* const made = std::construct_at(data_ + size_, std::forward<Args>(args)...);
        ++size_;
        return *made;
    }
    REPRISE_COLD void grow(std::size_t n)
    {
        if (n > std::min<std::size_t>(std::numeric_limits<std::uint32_t>::max(),
                                      std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T)))
            throw std::length_error("Few");
        T* const to = Recycled<T>().allocate(n);
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
    REPRISE_COLD void give_back() noexcept
    {
        Recycled<T>().deallocate(data_, capacity_);
        data_ = own();
        capacity_ = N;
    }
    void take(Few& other) noexcept // into nothing
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

template <class T, std::size_t N> bool operator==(const Few<T, N>& a, const Few<T, N>& b)
{
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

} // namespace reprise
