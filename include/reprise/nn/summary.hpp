// A table of a network's layers with the shapes of their outputs and the numbers of their parameters.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <reprise/grad_mode.hpp>
#include <reprise/nn/module.hpp>

namespace reprise::nn {

// A module of a Summary.
struct SummaryRow {
    std::string name{};           // "block.0", or "" for the network itself
    std::string type{};           // the class's name, "Linear"
    std::size_t depth = 0;        // 0 for the network itself
    std::vector<Shape> outputs{}; // of its last call; empty if it was not called
    std::int64_t parameters = 0;  // elements of its own parameters, without its children's
    std::int64_t trainable = 0;   // those of them that require a gradient
};
// What summary() returns; a stream prints it as a table.
struct Summary {
    std::vector<SummaryRow> rows{};    // all modules, a module before its children
    std::int64_t parameters = 0;       // elements of all parameters, each counted once
    std::int64_t trainable = 0;        // those of them that require a gradient
    std::uint64_t parameter_bytes = 0; // the memory of all parameters
};
std::string to_string(const Summary&);
std::ostream& operator<<(std::ostream&, const Summary&); // prints to_string()

} // namespace reprise::nn

namespace reprise::detail {

// Notes the outputs of all modules while it exists, which are in evaluation mode meanwhile.
class Summarizer {
public:
    explicit Summarizer(nn::Module&);
    ~Summarizer();
    Summarizer(const Summarizer&) = delete;
    Summarizer& operator=(const Summarizer&) = delete;
    nn::Summary result() const;

private:
    nn::Module& net_;
    std::vector<std::pair<nn::Module*, bool>> modes_; // whether each was in training mode
    std::vector<HookHandle> hooks_;
    std::map<const nn::Module*, std::vector<Shape>> outputs_;
};

} // namespace reprise::detail

namespace reprise::nn {

// Calls the network with the inputs, in evaluation mode and without gradients, and returns its table:
// std::cout << nn::summary(net, zeros({1, 3, 32, 32}));  The network is unchanged; outputs are not computed, unless it reads
// them.  Throws what the call throws.
template <std::derived_from<Module> M, class... Inputs> Summary summary(M& net, Inputs&&... inputs)
{
    const detail::Summarizer notes(net);
    const no_grad guard;
    static_cast<void>(net(std::forward<Inputs>(inputs)...));
    return notes.result();
}

} // namespace reprise::nn
