// Values by name, in an order.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <reprise/error.hpp>

namespace reprise {

// A list of pairs that also finds its values by name.  A name comes once.
//
//     for (const auto& [name, parameter] : net.named_parameters()) ...
//     Variable w = net.named_parameters()["fc.weight"];
template <class T> class OrderedDict {
public:
    struct Item : std::pair<std::string, T> {
        using std::pair<std::string, T>::pair;
        const std::string& key() const noexcept { return this->first; }
        T& value() noexcept { return this->second; }
        const T& value() const noexcept { return this->second; }
    };

    // `of` says what the values are, for errors: "parameter".
    explicit OrderedDict(std::string of = "value") : of_(std::move(of)) {}

    // Error(argument) for a name that is there already.
    void insert(std::string key, T value)
    {
        if (contains(key))
            detail::fail(ErrorKind::argument, "insert", "The name (", key, ") is there already.");
        items_.emplace_back(std::move(key), std::move(value));
    }

    // Error(argument), which lists the names, for one that there is not.
    const T& operator[](const std::string& key) const
    {
        if (const T* found = find(key)) return *found;
        fail_missing(key);
    }
    T& operator[](const std::string& key) { return const_cast<T&>(std::as_const(*this)[key]); }
    const Item& operator[](std::size_t index) const { return items_.at(index); }
    Item& operator[](std::size_t index) { return items_.at(index); }
    const T* find(const std::string& key) const noexcept // null: there is none
    {
        const auto at =
            std::find_if(items_.begin(), items_.end(), [&](const Item& i) { return i.first == key; });
        return at == items_.end() ? nullptr : &at->second;
    }
    bool contains(const std::string& key) const noexcept { return find(key) != nullptr; }

    std::size_t size() const noexcept { return items_.size(); }
    bool empty() const noexcept { return items_.empty(); }
    std::vector<std::string> keys() const
    {
        std::vector<std::string> out;
        for (const Item& item : items_) out.push_back(item.first);
        return out;
    }
    std::vector<T> values() const
    {
        std::vector<T> out;
        for (const Item& item : items_) out.push_back(item.second);
        return out;
    }
    const std::vector<Item>& items() const noexcept { return items_; }
    auto begin() noexcept { return items_.begin(); }
    auto end() noexcept { return items_.end(); }
    auto begin() const noexcept { return items_.begin(); }
    auto end() const noexcept { return items_.end(); }

private:
    [[noreturn]] void fail_missing(const std::string& key) const
    {
        constexpr std::size_t most = 20; // so that the sentence stays readable
        std::string known;
        for (std::size_t i = 0; i < std::min(items_.size(), most); ++i)
            known += (i ? ", " : "") + items_[i].first;
        if (items_.size() > most) known += " and " + std::to_string(items_.size() - most) + " more";
        detail::fail(ErrorKind::argument, "OrderedDict", "There is no ", of_, " (", key, "): there are (",
                     known, ").");
    }

    std::string of_;
    std::vector<Item> items_;
};

} // namespace reprise
