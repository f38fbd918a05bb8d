// A plan that serves evaluations of one structure.  It is compiled from the values of several evaluations: sizes that
// differed between them are its symbols, and numbers that differed are host scalars.
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
    // Plans and records.  `all` are values of evaluations of one structure, those of this evaluation last.  Throws
    // Error(shape) where the shape rules do not hold with symbols for the sizes that differ.
    CompiledGraph(const Evaluation&, const std::vector<DynamicValues>& all,
                  const std::shared_ptr<device::Device>&);

    // Whether this plan can serve an evaluation of its structure with these values.
    bool fits(const DynamicValues&);
    // Runs an evaluation with the values of the last fits().  The caller sets the externals of the call; this fills in
    // the rest.
    execution::Executable::Outcome run(const DynamicValues&, execution::Executable::Call&);
    execution::Executable& executable() { return *executable_; }
    bool is_new() const { return !was_run_; }
    std::size_t cached_bytes() const { return executable_->cached_bytes(); }
    std::size_t launches() const { return executable_->compiled().plan.launches.size(); }

private:
    class Builder;
    struct Condition {
        shape::Relation relation;
        shape::Slot a, b;
    };

    void find_dynamic_numbers(const std::vector<DynamicValues>&);
    void compile_checks(const DimVector& sizes, const std::vector<shape::Guard>&);
    void bind_symbols(const std::array<Dim, draws.size()>&);

    std::unique_ptr<execution::Executable> executable_;
    bool was_run_ = false;
    std::vector<std::shared_ptr<const void>> kept_; // attributes whose addresses are part of the structure
    std::vector<std::int64_t> sizes_;    // by position: the constant size; unused where the size is dynamic
    std::vector<std::uint64_t> numbers_; // bits
    std::vector<std::size_t> dynamic_sizes_; // positions of the sizes that are expressions of symbols
    std::vector<bool> number_is_dynamic_;    // by number: whether it is a host scalar
    std::shared_ptr<std::vector<std::uint64_t>> call_numbers_ =
        std::make_shared<std::vector<std::uint64_t>>(); // bits of the numbers of the call in progress

    std::vector<DynamicDims::Symbol> symbols_;
    shape::DimProgram program_;      // over these symbols
    std::vector<shape::Slot> slots_; // by open size
    std::vector<Condition> conditions_;
    std::vector<std::int64_t> symbol_values_, values_;
    std::vector<std::size_t>
        symbol_positions_; // by symbol of the executable: index in symbols_, then `draws`
};

} // namespace reprise::eager
