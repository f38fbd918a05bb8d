// The compiler turns a graph into a plan by the passes that pipeline.cpp lists in order.
#pragma once
#include <span>
#include <vector>

#include "base/progress.hpp"
#include "plan/plan.hpp"

namespace reprise::plan {

// The input of the compiler.
struct Request {
    std::vector<const graph::Node*> nodes; // nodes to compute, in topological order
    // Values that exist at the call, by slot.
    struct External {
        graph::Value value;
        DimVector strides; // elements; empty: contiguous
        Dim offset = 0;
    };
    std::vector<External> externals;
    std::vector<graph::Value> results; // values to return
    // State update: at the end of the call, external slot `to` gets the value of result `from`.
    struct Assignment {
        std::uint32_t to = 0, from = 0;
    };
    std::vector<Assignment> assignments;
    const device::Capabilities* capabilities = nullptr;
    bool fuse = false; // whether to fuse chains: worth it for plans that run repeatedly
    detail::Progress progress{};
};
bool fuses_elementwise(const Request&); // whether it asks for that, and the device has a compiler

struct Compiled {
    Plan plan;
    std::vector<ops::View> results;          // in the order of the request; views of outputs and externals
    std::vector<std::uint32_t> external;     // plan value, by external slot
    std::vector<std::uint32_t> state_copies; // first launch of its copy, by assignment
};

Compiled compile(const Request&);
// compile() in two parts. draft() ends before kernels are chosen, so that a memory budget can add launches (drop.hpp);
// finish() turns the draft into a plan.
Compiled draft(const Request&);
void finish(Compiled&, const Request&);

// Checks the invariants that hold between any two passes (invariants.cpp). Throws Error(internal), which names the last
// pass and the launch, if one of these holds:
// - an operand, a result or an external slot refers to no value of the plan;
// - a launch reads a temporary or an output that no earlier launch writes;
// - a fallback does not come after the launch that it replaces, or writes other values;
// - a launch or a value belongs to a segment that does not exist;
// - the number of operands of a launch differs from that of its chain while no kernel is chosen;
// - epochs decrease.
void check_invariants(const Compiled&, const char* pass);

// -- the passes, each with its file and its test --
Compiled lower(const Request&);                  // lower.cpp: translates nodes to launches
void recompute_segments(Compiled&);              // recompute.cpp: recomputes segments for their readers
void eliminate_common_subexpressions(Compiled&); // cse.cpp: gradients reuse recomputed values
// state.cpp: updates state in place if nothing else reads the old value, otherwise copies the new value.
void assign_state(Compiled&, const Request&);
void fold_casts(Plan&);   // fold_casts.cpp: lets kernels that convert as they load and store replace casts
void repeat_casts(Plan&); // repeat_casts.cpp: repeats casts for late readers, to save memory
void eliminate_dead_code(Plan&);               // dce.cpp: removes launches whose results nobody reads
void fuse(Plan&, const device::Capabilities&); // fuse.cpp: joins chains of elementwise launches
void advance_updates(Plan&); // advance.cpp: updates state as soon as its gradient exists, to free that
void write_in_place(Plan&);  // in_place.cpp: elementwise launches overwrite inputs at their last use
// choose.cpp: chooses elementwise kernels, and compiles fused ones
void choose_kernels(Plan&, const device::Capabilities&, const detail::Progress& = {});
// overlap.cpp: moves launches so that the host's run beside those that do not depend on them
void overlap_host_calls(Plan&);
void batch(Plan&);                                 // batch.cpp: merges the updates of parameters
void schedule(Plan&, const device::Capabilities&); // schedule.cpp: assigns epochs
void find_lifetimes(Plan&);                        // schedule.cpp: first and last epoch of each value

} // namespace reprise::plan
