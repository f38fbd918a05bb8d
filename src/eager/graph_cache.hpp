// The plans of eager code that are used again: by the structure of an evaluation, those used last.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <reprise/error.hpp>

#include "eager/compiled_graph.hpp"
#include "shape/hash.hpp"

namespace reprise::eager {

class GraphCache {
public:
    explicit GraphCache(std::shared_ptr<device::Device> device) : device_(std::move(device)) {}

    // What serves this evaluation, from its structure's second one on: with sizes that differ as symbols, where the shape
    // rules follow them.  Null: plan it for itself.  What it gives stays until the next find().
    CompiledGraph* find(const Evaluation&, GraphKey&); // takes the structure, if it is new

    void refuse(const Error&); // what was found last could not run: the structure is planned each time

    void set_limit(std::size_t structures); // 256 at first; 0: none is kept
    // Known without the lock.
    std::size_t size() const { return size_; }
    std::uint64_t hits() const { return hits_; }
    std::string text() const; // a line for each structure, the one used last first

private:
    struct Entry {
        std::string name{};                                   // for text()
        std::vector<DynamicValues> seen{};                    // those that differ, the newest last
        std::vector<std::unique_ptr<CompiledGraph>> graphs{}; // the newest first
        std::uint64_t hits = 0, made = 0, last_use = 0;
        std::string refused{};   // why its sizes are no symbols
        bool is_refused = false; // at any sizes
    };
    using Entries = std::unordered_map<std::vector<std::uint64_t>, Entry, shape::HashOfWords>; // by structure

    static std::size_t estimated_bytes(const Entries::value_type&);
    Entry& entry_of(const Evaluation&, GraphKey&);
    CompiledGraph* make(Entry&, const Evaluation&, const DynamicValues&);
    CompiledGraph* add(Entry&, const Evaluation&, const std::vector<DynamicValues>&);
    void shrink();

    std::shared_ptr<device::Device> device_;
    Entries entries_;
    Entry* found_ = nullptr; // last
    std::uint64_t uses_ = 0;
    std::size_t limit_ = 256; // structures
    std::atomic<std::uint64_t> hits_ = 0;
    std::atomic<std::size_t> size_ = 0;
};

} // namespace reprise::eager
