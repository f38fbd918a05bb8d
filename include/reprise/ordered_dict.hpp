// A dictionary that keeps the order of its entries.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <reprise/error.hpp>

namespace reprise {

// A list of (name, value) pairs that also finds a value by its name.  Each name occurs once.
//
//     for (const auto& [name, parameter] : net.named_parameters()) ...
//     Variable w = net.named_parameters()["fc.weight"];
template <class T> class OrderedDict {
public:
    // An entry.
    struct Item : std::pair<std::string, T> {
        using std::pair<std::string, T>::pair;
        const std::string& key() const noexcept { return this->first; } // the name
        T& value() noexcept { return this->second; }                    // the value
        const T& value() const noexcept { return this->second; }        // the value
    };

    // An empty dictionary; errors name its values by `of`, such as "parameter".
    explicit OrderedDict(std::string of = "value") : of_(std::move(of)) {}

    // Appends an entry.  Error(argument) for a name that exists already.
    void insert(std::string key, T value)
    {
        if (contains(key))
            detail::fail(ErrorKind::argument, "insert", "The name (", key, ") is there already.");
        items_.emplace_back(std::move(key), std::move(value));
    }

    // The value of a name, of a temporary dictionary a copy.  Error(argument), which lists the names, for one that
    // does not exist.
    const T& operator[](const std::string& key) const&
    {
        if (const T* found = find(key)) return *found;
        fail_missing(key);
    }
    // The value of a name; errors as above.
    T& operator[](const std::string& key) & { return const_cast<T&>(std::as_const(*this)[key]); }
    // The value of a name; errors as above.
    T operator[](const std::string& key) && { return std::as_const(*this)[key]; }
    // The entry at an index; std::out_of_range for one that does not exist.
    const Item& operator[](std::size_t index) const& { return items_.at(index); }
    // The entry at an index; std::out_of_range for one that does not exist.
    Item& operator[](std::size_t index) & { return items_.at(index); }
    // The entry at an index; std::out_of_range for one that does not exist.
    Item operator[](std::size_t index) && { return items_.at(index); }
    // The value of a name, or null where there is none.
    const T* find(const std::string& key) const noexcept
    {
        const auto at =
            std::find_if(items_.begin(), items_.end(), [&](const Item& i) { return i.first == key; });
        return at == items_.end() ? nullptr : &at->second;
    }
    // Whether a name exists.
    bool contains(const std::string& key) const noexcept { return find(key) != nullptr; }

    std::size_t size() const noexcept { return items_.size(); } // the number of entries
    bool empty() const noexcept { return items_.empty(); }      // whether there are no entries
    // A copy of all names, in order.
    std::vector<std::string> keys() const
    {
        std::vector<std::string> out;
        for (const Item& item : items_) out.push_back(item.first);
        return out;
    }
    // A copy of all values, in order.
    std::vector<T> values() const
    {
        std::vector<T> out;
        for (const Item& item : items_) out.push_back(item.second);
        return out;
    }
    const std::vector<Item>& items() const& noexcept { return items_; } // all entries, in order
    std::vector<Item> items() && { return std::move(items_); } // all entries of a temporary dictionary
    auto begin() noexcept { return items_.begin(); }           // an iterator to the first entry
    auto end() noexcept { return items_.end(); }               // an iterator behind the last entry
    auto begin() const noexcept { return items_.begin(); }     // an iterator to the first entry
    auto end() const noexcept { return items_.end(); }         // an iterator behind the last entry

private:
    [[noreturn]] void fail_missing(const std::string& key) const
    {
        constexpr std::size_t most = 20; // keeps the message readable
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
