// Branches and loops.  They are decided while the graph runs, so that a recorded program has the branch and the number
// of iterations of its recording.
#include <algorithm>

#include "onnx/call.hpp"

namespace reprise::onnx {

namespace {

constexpr std::int64_t most_iterations = 1 << 20;

bool is_true(const Call& call, const Value& condition)
{
    if (!condition.present() || condition.is_sequence()) call.fail("A condition is no tensor.");
    const Integers read = condition.read_integers();
    if (read.values.size() != 1) call.fail("A condition has (", read.values.size(), ") elements, not one.");
    return read.values[0].value() != 0;
}

Values branch(Call& call)
{
    return call.run(call.subgraph(is_true(call, call.value(0)) ? "then_branch" : "else_branch"), {});
}

// The results of all iterations along an axis; in reverse order where they are put in front.
Value collected(const Call& call, const Values& items, std::int64_t axis, bool in_front)
{
    std::vector<Tensor> parts;
    for (const Value& item : items) parts.push_back(item.tensor(call.device));
    if (in_front) std::reverse(parts.begin(), parts.end());
    if (parts.empty()) call.fail("A loop without iterations has no results to stack.");
    return Value(stack(parts, call.axis(axis, parts[0].dim() + 1)), &items[0].type());
}

Values loop(Call& call)
{
    const Graph& body = call.subgraph("body");
    const std::int64_t trips = call.has(0) ? call.integers(0).at(0) : most_iterations;
    const std::size_t states = call.inputs() > 2 ? call.inputs() - 2 : 0;
    if (body.outputs.size() < 1 + states) call.fail("The body has (", body.outputs.size(), ") outputs.");
    Value condition = call.has(1) ? call.value(1) : Value({{}, {Dim(1)}}, element_type_of(boolean));
    Values state(call.values().begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, call.inputs())),
                 call.values().end());
    std::vector<Values> scanned(body.outputs.size() - 1 - states);
    for (std::int64_t i = 0; i < trips && is_true(call, condition); ++i) {
        if (i + 1 == most_iterations) call.fail("The loop has more than (", most_iterations, ") iterations.");
        Values given{Value::scalar(Dim(i)), condition};
        given.insert(given.end(), state.begin(), state.end());
        Values results = call.run(body, std::move(given));
        condition = results[0];
        for (std::size_t k = 0; k < states; ++k) state[k] = results[1 + k];
        for (std::size_t k = 0; k < scanned.size(); ++k) scanned[k].push_back(results[1 + states + k]);
    }
    for (std::size_t k = 0; k < scanned.size(); ++k)
        if (call.wants(states + k)) state.push_back(collected(call, scanned[k], 0, false));
        else state.emplace_back();
    return state;
}

// Iterates over the elements of scanned inputs along their axes.
Values scan_inputs(Call& call, Values given, std::size_t states)
{
    const char* directions = call.opset() < 9 ? "directions" : "scan_input_directions";
    const Graph& body = call.subgraph("body");
    const std::size_t inputs = given.size() - states;
    const auto number = [&](const char* name, std::size_t i) {
        const auto list = call.list(name);
        return i < list.size() ? list[i] : 0;
    };
    if (body.outputs.size() < states) call.fail("The body has (", body.outputs.size(), ") outputs.");
    std::vector<Tensor> sources;
    std::int64_t steps = 0;
    for (std::size_t i = 0; i < inputs; ++i) {
        Tensor x = given[states + i].tensor(call.device);
        const std::int64_t axis = call.axis(number("scan_input_axes", i), x.dim());
        if (number(directions, i)) x = flip(x, {axis});
        sources.push_back(movedim(x, axis, 0));
        steps = sources[0].size(0).value();
    }
    Values state(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(states));
    std::vector<Values> scanned(body.outputs.size() - states);
    for (std::int64_t t = 0; t < steps; ++t) {
        Values now = state;
        for (std::size_t i = 0; i < inputs; ++i)
            now.emplace_back(select(sources[i], 0, t), &given[states + i].type());
        Values results = call.run(body, std::move(now));
        for (std::size_t k = 0; k < states; ++k) state[k] = results[k];
        for (std::size_t k = 0; k < scanned.size(); ++k) scanned[k].push_back(results[states + k]);
    }
    for (std::size_t k = 0; k < scanned.size(); ++k)
        state.push_back(collected(call, scanned[k], number("scan_output_axes", k),
                                  number("scan_output_directions", k) != 0));
    return state;
}

Values scan(Call& call)
{
    const auto inputs = static_cast<std::size_t>(std::max<std::int64_t>(call.integer("num_scan_inputs"), 1));
    const std::size_t first = call.opset() < 9 ? 1 : 0; // sequence_lens came first, and a batch around all
    if (call.inputs() < inputs + first) call.fail("There are (", call.inputs(), ") inputs.");
    if (first == 0) return scan_inputs(call, call.values(), call.inputs() - inputs);
    if (call.has(0)) call.fail("Scan of opset 8 with sequence_lens is not imported.");
    const std::int64_t batch = call.shape(1).at(0).value();
    std::vector<Values> by_output(call.outputs());
    for (std::int64_t b = 0; b < batch; ++b) {
        Values one;
        for (std::size_t i = 1; i < call.inputs(); ++i)
            one.emplace_back(select(call[i], 0, b), &call.type(i));
        const Values results = scan_inputs(call, std::move(one), call.inputs() - 1 - inputs);
        for (std::size_t k = 0; k < by_output.size() && k < results.size(); ++k)
            by_output[k].push_back(results[k]);
    }
    Values out;
    for (const Values& items : by_output) out.push_back(collected(call, items, 0, false));
    return out;
}

const Operator rows[] = {
    {"If", branch, {.limits = "the condition must be known while recording"}},
    {"Loop",
     loop,
     {.limits =
          "the number of iterations must be known while recording; without iterations it stacks no results"}},
    {"Scan",
     scan,
     {.since = 8,
      .limits = "the number of iterations must be constant, and not 0 where results are stacked"}},
};

} // namespace

Operators control_operators() { return rows; }

} // namespace reprise::onnx
