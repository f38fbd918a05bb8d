// An LRU cache by sizes, limited by the bytes of its entries.
#pragma once
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shape/hash.hpp"

namespace reprise::execution {

template <class T> class LruCache {
public:
    using Key = std::vector<std::int64_t>;

    explicit LruCache(std::size_t bytes) : limit_(bytes) {}

    // Returns null where there is no entry.  The pointer is valid until the next add().
    T* find(const Key& key)
    {
        const auto found = by_key_.find(key);
        if (found == by_key_.end()) return nullptr;
        entries_.splice(entries_.begin(), entries_, found->second);
        return &found->second->value;
    }
    T& add(const Key& key, T value, std::size_t bytes)
    {
        while (!entries_.empty() && bytes_ + bytes > limit_) {
            bytes_ -= entries_.back().bytes;
            by_key_.erase(entries_.back().key);
            entries_.pop_back();
        }
        entries_.push_front({key, std::move(value), bytes});
        by_key_.emplace(key, entries_.begin());
        bytes_ += bytes;
        return entries_.front().value;
    }
    std::size_t bytes() const { return bytes_; }

private:
    struct Entry {
        Key key;
        T value;
        std::size_t bytes;
    };
    std::size_t limit_, bytes_ = 0;
    std::list<Entry> entries_; // most recently used first
    std::unordered_map<Key, typename std::list<Entry>::iterator, shape::HashOfWords> by_key_;
};

} // namespace reprise::execution
