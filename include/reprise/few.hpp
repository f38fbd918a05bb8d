// A vector whose first N elements lie in itself: nodes of a graph are made by the thousand, and each allocation of them costs a
// cache miss or two.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/recycled.hpp>

namespace reprise {

template <class T, std::size_t N> class Few {
    static_assert(N > 0 && std::is_nothrow_move_constructible_v<T>);

public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    Few() = default;
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
    Few(const Few& other) : Few() { append(other.begin(), other.end()); }
    Few(Few&& other) noexcept { take(other); }
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
    bool empty() const noexcept { return size_ == 0; }
    T* begin() noexcept { return data_; }
    T* end() noexcept { return data_ + size_; }
    const T* begin() const noexcept { return data_; }
    const T* end() const noexcept { return data_ + size_; }
    T& operator[](std::size_t i) noexcept { return data_[i]; }
    const T& operator[](std::size_t i) const noexcept { return data_[i]; }
    const T& at(std::size_t i) const
    {
        if (i >= size_) throw std::out_of_range("Few::at");
        return data_[i];
    }
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
    void resize(std::size_t n)
    {
        reserve(n);
        while (size_ < n) add();
        while (size_ > n) std::destroy_at(data_ + --size_);
    }
    void clear() noexcept
    {
        std::destroy(begin(), end());
        size_ = 0;
    }

    friend bool operator==(const Few& a, const Few& b)
    {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    T* own() noexcept { return reinterpret_cast<T*>(memory_); }

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
    void grow(std::size_t n)
    {
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
        if (data_ != own()) Recycled<T>().deallocate(data_, capacity_);
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

    T* data_ = own();
    std::uint32_t size_ = 0, capacity_ = N;
    alignas(T) std::byte memory_[N * sizeof(T)];
};

} // namespace reprise
