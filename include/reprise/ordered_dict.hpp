// A dictionary that preserves the order of insertion.
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

    // Appends an entry.  Throws Error(argument) for a name that exists already.
    void insert(std::string key, T value)
    {
        if (contains(key))
            detail::fail(ErrorKind::argument, "insert", "The name (", key, ") is there already.");
        items_.emplace_back(std::move(key), std::move(value));
    }

    // Returns the value of a name, as a copy if the dictionary is a temporary.  Throws Error(argument), which
    // lists the names, for a name that does not exist.
    const T& operator[](const std::string& key) const&
    {
        if (const T* found = find(key)) return *found;
        fail_missing(key);
    }
    // Returns the value of a name; errors as above.
    T& operator[](const std::string& key) & { return const_cast<T&>(std::as_const(*this)[key]); }
    // Returns the value of a name; errors as above.
    T operator[](const std::string& key) && { return std::as_const(*this)[key]; }
    // Returns the entry at an index; throws std::out_of_range if there is none.
    const Item& operator[](std::size_t index) const& { return items_.at(index); }
    // Returns the entry at an index; throws std::out_of_range if there is none.
    Item& operator[](std::size_t index) & { return items_.at(index); }
    // Returns the entry at an index; throws std::out_of_range if there is none.
    Item operator[](std::size_t index) && { return items_.at(index); }
    // Returns the value of a name, or null where there is none.
    const T* find(const std::string& key) const noexcept
    {
        const auto at =
            std::find_if(items_.begin(), items_.end(), [&](const Item& i) { return i.first == key; });
        return at == items_.end() ? nullptr : &at->second;
    }
    // Returns whether a name exists.
    bool contains(const std::string& key) const noexcept { return find(key) != nullptr; }

    std::size_t size() const noexcept { return items_.size(); } // the number of entries
    bool empty() const noexcept { return items_.empty(); }      // whether there are no entries
    // Returns a copy of all names, in order.
    std::vector<std::string> keys() const
    {
        std::vector<std::string> out;
        for (const Item& item : items_) out.push_back(item.first);
        return out;
    }
    // Returns a copy of all values, in order.
    std::vector<T> values() const
    {
        std::vector<T> out;
        for (const Item& item : items_) out.push_back(item.second);
        return out;
    }
    const std::vector<Item>& items() const& noexcept { return items_; } // all entries, in order
    std::vector<Item> items() && { return std::move(items_); } // all entries of a temporary dictionary
    auto begin() noexcept { return items_.begin(); }           // an iterator to the first entry
    auto end() noexcept { return items_.end(); }               // an iterator past the last entry
    auto begin() const noexcept { return items_.begin(); }     // an iterator to the first entry
    auto end() const noexcept { return items_.end(); }         // an iterator past the last entry

private:
    [[noreturn]] void fail_missing(const std::string& key) const
    {
        constexpr std::size_t most = 20; // so that the message stays readable
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
