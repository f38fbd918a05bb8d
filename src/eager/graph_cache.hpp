// The LRU cache of the compiled graphs of eager code, by the structure of an evaluation.
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

    // Returns a graph that serves this evaluation, from the second one of its structure on; compiles one if needed.
    // Sizes that differ are symbols where the shape rules allow it.  Null: the evaluation must be planned by itself.
    // The pointer is valid until the next find().
    CompiledGraph* find(const Evaluation&, GraphKey&); // moves the structure out of the key, if it is new

    void refuse(const Error&); // called if the graph found last can't run: plans its structure each time

    void set_limit(std::size_t structures); // the default is 256; 0: none is cached
    // These two may be called without the lock.
    std::size_t size() const { return size_; }
    std::uint64_t hits() const { return hits_; }
    std::string text() const; // one line per structure, most recently used first

private:
    struct Entry {
        std::string name{};                                   // for text()
        std::vector<DynamicValues> seen{};                    // distinct values of evaluations, newest last
        std::vector<std::unique_ptr<CompiledGraph>> graphs{}; // newest first
        std::uint64_t hits = 0, compiled = 0, last_use = 0;
        std::string refused{};   // why its sizes can't be symbols, or why its graph could not run
        bool is_refused = false; // planned each time, whatever the sizes
    };
    using Entries = std::unordered_map<std::vector<std::uint64_t>, Entry, shape::HashOfWords>; // by structure

    static std::size_t estimated_bytes(const Entries::value_type&);
    Entry& entry_of(const Evaluation&, GraphKey&);
    CompiledGraph* compile(Entry&, const Evaluation&, const DynamicValues&);
    CompiledGraph* add(Entry&, const Evaluation&, const std::vector<DynamicValues>&);
    void shrink();

    std::shared_ptr<device::Device> device_;
    Entries entries_;
    Entry* found_ = nullptr; // the entry of the last find()
    std::uint64_t uses_ = 0;
    std::size_t limit_ = 256; // structures
    std::atomic<std::uint64_t> hits_ = 0;
    std::atomic<std::size_t> size_ = 0;
};

} // namespace reprise::eager
