// A table of a network's layers with the shapes of their outputs and the numbers of their parameters.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include <reprise/grad_mode.hpp>
#include <reprise/nn/module.hpp>

namespace reprise::nn {

// A module of a Summary.
struct SummaryRow {
    std::string name{};           // "block.0"; "" for the network itself
    std::string type{};           // the class's name, "Linear"
    std::size_t depth = 0;        // 0 for the network itself
    std::vector<Shape> outputs{}; // of its last call; empty if it was not called
    std::int64_t parameters = 0;  // the elements of its own parameters, without its children's
    std::int64_t trainable = 0;   // those of them that require a gradient
};
// What summary() returns; a stream prints it as a table.
struct Summary {
    std::vector<SummaryRow> rows{};    // all modules, a module before its children
    std::int64_t parameters = 0;       // the elements of all parameters, each counted once
    std::int64_t trainable = 0;        // those of them that require a gradient
    std::uint64_t parameter_bytes = 0; // the memory of all parameters
    std::uint64_t buffer_bytes = 0;    // that of all buffers, to which quantised weights belong
};
std::string to_string(const Summary&);                   // the table, with a line break at its end
std::ostream& operator<<(std::ostream&, const Summary&); // prints to_string()

// Returns the table of a network after call(), which calls it in evaluation mode.  For networks that summary() can't
// call.
Summary summarize(Module& net, const std::function<void()>& call);

// Calls the network with the inputs, in evaluation mode and without gradients, and returns its table:
// std::cout << nn::summary(net, zeros({1, 3, 32, 32}));  Modes and hooks are afterwards as before.  Outputs are not
// computed, unless the network reads them.  Throws what the call throws.
template <std::derived_from<Module> M, class... Inputs> Summary summary(M& net, Inputs&&... inputs)
{
    return summarize(net, [&] {
        const no_grad guard;
        static_cast<void>(net(std::forward<Inputs>(inputs)...));
    });
}

} // namespace reprise::nn
