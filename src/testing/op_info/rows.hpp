// Helpers for the files of this folder, which define rows: X.cpp defines add_X(Rows&).
#pragma once
#include <type_traits>
#include <utility>

#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "graph/cell.hpp"
#include "ops/registry.hpp"
#include "testing/op_info/op_info.hpp"

namespace reprise::test {

using Inputs = std::vector<Tensor>;

inline Argument arg(Shape sizes, double low = -1, double high = 1)
{
    return {.sizes = std::move(sizes), .low = low, .high = high};
}
inline Argument fixed(Argument a) // no gradient is required
{
    a.differentiable = false;
    return a;
}
inline Argument of(DType dtype, Argument a)
{
    a.dtype = dtype;
    return a;
}
inline Argument whole(Shape sizes, double low, double high)
{
    return of(i32, arg(std::move(sizes), low, high));
}
inline Argument truth(Shape sizes) { return of(boolean, arg(std::move(sizes), 0, 1)); }
inline Argument number(double low, double high)
{
    Argument a = arg({}, low, high);
    a.number = true;
    return a;
}

// Calls the op directly, for ops without a public function that calls nothing else.
inline auto apply(const graph::Op& op, graph::Attributes attributes = {})
{
    return [&op, attributes = std::move(attributes)](const Inputs& in) {
        return graph::apply(op, in, attributes);
    };
}

// Restarts the random numbers, so that each evaluation draws the same.  A program gets its ordinals from the generator
// at each call, so nothing is done while recording.
inline void reseed()
{
    if (!is_recording()) manual_seed(3);
}

// Reductions of losses, with the names of their samples.
inline constexpr std::pair<const char*, Reduction> reductions[] = {
    {"each", Reduction::none}, {"sum", Reduction::sum}, {"mean", Reduction::mean}};

inline std::vector<Tensor> results(std::vector<Tensor> all) { return all; }
inline std::vector<Tensor> results(const Tensor& one) { return {one}; }
inline std::vector<Tensor> results(const std::pair<Tensor, Tensor>& two) { return {two.first, two.second}; }

// Returns a Sample::call for a function of all inputs, of the first or of the first two, which returns a tensor, a pair
// or a vector.
template <class F> auto of_inputs(F f)
{
    return [f = std::move(f)](const Inputs& in) {
        if constexpr (std::is_invocable_v<const F&, const Inputs&>) return results(f(in));
        else if constexpr (std::is_invocable_v<const F&, const Tensor&>) return results(f(in[0]));
        else return results(f(in[0], in[1]));
    };
}

// The list of rows under construction: op() or composed() begins a row, and later calls add to the last row.
class Rows {
public:
    std::vector<OpInfo> all;

    OpInfo& op(std::string name) { return all.emplace_back(OpInfo{.name = std::move(name)}); }
    OpInfo& composed(std::string name) // a function composed of ops
    {
        return all.emplace_back(OpInfo{.name = std::move(name), .is_op = false});
    }
    OpInfo& last() { return all.back(); }

    template <class F>
    Sample& sample(std::string what, std::vector<Argument> arguments, std::vector<std::int64_t> sizes, F call)
    {
        return last().samples.emplace_back(Sample{.what = std::move(what),
                                                  .arguments = std::move(arguments),
                                                  .call = of_inputs(std::move(call)),
                                                  .sizes = std::move(sizes)});
    }
    template <class F> Sample& sample(std::string what, std::vector<Argument> arguments, F call)
    {
        return sample(std::move(what), std::move(arguments), Sample().sizes, std::move(call));
    }
    // Adds a sample without gradients.
    template <class F>
    void forward(std::string what, std::vector<Argument> arguments, std::vector<std::int64_t> sizes, F call)
    {
        sample(std::move(what), std::move(arguments), std::move(sizes), std::move(call)).differentiable =
            false;
    }
    template <class F> void forward(std::string what, std::vector<Argument> arguments, F call)
    {
        forward(std::move(what), std::move(arguments), Sample().sizes, std::move(call));
    }

    void mistake(std::string what, ErrorKind kind, std::string fragment, std::function<void()> call)
    {
        last().mistakes.push_back({std::move(what), std::move(call), kind, std::move(fragment)});
    }
};

// files.def lists the files of this folder; cmake/RepriseOps.cmake generates it.
#define ROWS(file) void add_##file(Rows&);
#include "testing/op_info/files.def"

} // namespace reprise::test
