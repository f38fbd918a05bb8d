// A plan that serves evaluations of one structure: the sizes that differed between those it was made from are its
// symbols, and the numbers that differed are host scalars.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "eager/dynamic_dims.hpp"
#include "eager/graph_key.hpp"
#include "execution/executable.hpp"
#include "shape/guard.hpp"

namespace reprise::eager {

class CompiledGraph {
public:
    // Plans and records.  `all` are of one structure, those of the evaluation itself the last.  Throws Error(shape) where the
    // shape rules do not follow sizes that differ.
    CompiledGraph(const Evaluation&, const std::vector<DynamicValues>& all,
                  const std::shared_ptr<device::Device>&);

    // Whether it computes an evaluation of its structure with these values.
    bool fits(const DynamicValues&);
    // With the values of the last fits().  Fills in all of the call but its externals.
    execution::Executable::Outcome run(const DynamicValues&, execution::Executable::Call&);
    execution::Executable& executable() { return *executable_; }
    bool is_new() const { return !was_run_; }
    std::size_t known_bytes() const { return executable_->known_bytes(); }
    std::size_t launches() const { return executable_->compiled().plan.launches.size(); }

private:
    class Builder;
    struct Condition {
        shape::Relation relation;
        shape::Slot a, b;
    };

    void open_numbers(const std::vector<DynamicValues>&);
    void compare_with(const DimVector& sizes, const std::vector<shape::Guard>&);
    void bind_symbols(const std::array<Dim, draws.size()>&);

    std::unique_ptr<execution::Executable> executable_;
    bool was_run_ = false;
    std::vector<std::shared_ptr<const graph::UserKernel>>
        kernels_;                        // a structure has addresses of their options
    std::vector<std::int64_t> sizes_;    // by position: the graph's constant, unless the position is dynamic
    std::vector<std::uint64_t> numbers_; // bits
    std::vector<std::size_t> open_sizes_;
    std::vector<bool> number_is_open_;
    std::shared_ptr<std::vector<std::uint64_t>> given_ =
        std::make_shared<std::vector<std::uint64_t>>(); // at the call under way: bits

    std::vector<DynamicDims::Symbol> symbols_;
    shape::DimProgram program_;      // over these symbols
    std::vector<shape::Slot> slots_; // by open size
    std::vector<Condition> conditions_;
    std::vector<std::int64_t> symbol_values_, values_;
    std::vector<std::size_t> symbol_places_; // of the executable's symbols, among ours and then the draws
};

} // namespace reprise::eager
