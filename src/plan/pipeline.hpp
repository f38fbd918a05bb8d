// The compiler: a graph becomes a plan by the passes that pipeline.cpp lists in order.
#pragma once
#include <span>
#include <vector>

#include "plan/plan.hpp"

namespace reprise::plan {

// What to compile.
struct Request {
    std::vector<const graph::Node*> nodes; // to compute, inputs first
    // Values that exist at the call, by slot.  `layouts` says how their elements lie in their memory; empty:
    // row-major.
    struct External {
        graph::Value value;
        DimVector strides; // elements; empty: contiguous
        Dim offset = 0;
    };
    std::vector<External> externals;
    std::vector<graph::Value> results; // to keep
    // State: external slot `to` gets result `from` at the end of the call.
    struct Assignment {
        std::uint32_t to = 0, from = 0;
    };
    std::vector<Assignment> assignments;
    const device::Capabilities* capabilities = nullptr;
    bool fuse = false; // chains become one kernel: worth compiling for what is called again
};

struct Compiled {
    Plan plan;
    std::vector<ops::View> results;          // as the request lists them: of outputs and externals
    std::vector<std::uint32_t> external;     // plan value of each external slot
    std::vector<std::uint32_t> state_copies; // first launch of the copy of each assignment
};

Compiled compile(const Request&);
// The same in two parts: launches that no kernel is chosen for yet, which a memory budget may add to (drop.hpp), and
// what makes a plan of them.
Compiled draft(const Request&);
void finish(Compiled&, const Request&);

// What holds between any two passes (invariants.cpp).  Throws Error(internal), which names the pass that ran last and the launch, where:
// - an operand, a result or an external slot is no value of the plan;
// - a launch reads a temporary or an output that no launch before it writes, or a result is never written;
// - a fallback does not follow the launch that it stands in for, or writes other values;
// - a launch or a value lies in a segment that does not exist;
// - a chain has another number of operands than its launch, as long as no kernel is chosen;
// - epochs decrease.
void check_invariants(const Compiled&, const char* pass);

// -- the passes, each with its file and its test --
Compiled lower(const Request&);                  // lower.cpp: nodes to launches
void recompute_segments(Compiled&);              // recompute.cpp: readers outside of a segment read clones
void eliminate_common_subexpressions(Compiled&); // cse.cpp: gradients use what was recomputed for them
// state.cpp: updates in place where nothing else reads, else copies
void assign_state(Compiled&, const Request&);
void eliminate_dead_code(Plan&); // dce.cpp: launches whose results nobody reads
void fuse(Plan&);                // fuse.cpp: joins chains of elementwise launches
void write_in_place(Plan&);      // in_place.cpp: elementwise launches write over what they read last
void choose_kernels(Plan&, const device::Capabilities&); // choose.cpp: elementwise launches get their kernels
void batch(Plan&);          // batch.cpp: the updates of all parameters become one launch
void schedule(Plan&);       // schedule.cpp: epochs
void find_lifetimes(Plan&); // schedule.cpp: first and last epoch of each value

} // namespace reprise::plan
