// Sequences and optional values.
#include "onnx/call.hpp"

#include <algorithm>

namespace reprise::onnx {

namespace {

Values items_of(const Call& call, std::size_t input)
{
    const Value& given = call.value(input);
    if (!given.is_sequence()) call.fail("The input (", input, ") is a tensor, not a sequence.");
    return given.items();
}

// The position of an item, from the front; one past the last only where `end` says so.
std::size_t position(const Call& call, std::size_t input, std::size_t count, bool end)
{
    const auto size = static_cast<std::int64_t>(count), given = call.integers(input).at(0);
    const std::int64_t at = given < 0 ? given + size : given;
    if (at < 0 || at > size - (end ? 0 : 1))
        call.fail("The position (", given, ") is not in a sequence of (", size, ").");
    return static_cast<std::size_t>(at);
}

Value construct(Call& call) { return Value(call.values()); }

Value empty_sequence(Call&) { return Value(Values()); }

Value at(Call& call)
{
    const Values items = items_of(call, 0);
    return items[position(call, 1, items.size(), false)];
}

Value insert(Call& call)
{
    Values items = items_of(call, 0);
    const std::size_t where_to = call.has(2) ? position(call, 2, items.size(), true) : items.size();
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(where_to), call.value(1));
    return Value(items);
}

Value erase(Call& call)
{
    Values items = items_of(call, 0);
    if (items.empty()) call.fail("The sequence has no items.");
    const std::size_t which = call.has(1) ? position(call, 1, items.size(), false) : items.size() - 1;
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(which));
    return Value(items);
}

Value length(Call& call) { return Value::scalar(Dim(items_of(call, 0).size())); }

Value concat_from(Call& call)
{
    std::vector<Tensor> parts;
    for (const Value& item : items_of(call, 0)) parts.push_back(item.tensor(call.device));
    if (parts.empty()) call.fail("The sequence has no items.");
    if (call.flag("new_axis")) return stack(parts, call.axis(call.integer("axis"), parts[0].dim() + 1));
    return cat(parts, call.axis(call.integer("axis"), parts[0].dim()));
}

Value split_to(Call& call)
{
    const Tensor x = call[0];
    const std::int64_t axis = call.axis("axis", 0, x.dim());
    Shape sizes;
    bool keep = true;
    if (call.has(1) && call.rank(1) == 1) {
        sizes = call.sizes(1);
    } else {
        const std::int64_t each = call.has(1) ? call.integers(1).at(0) : 1, size = x.size(axis).value();
        if (each < 1) call.fail("The size of the parts is (", each, ").");
        for (std::int64_t done = 0; done < size; done += each)
            sizes.emplace_back(std::min(each, size - done));
        keep = call.has(1) || call.flag("keepdims", true);
    }
    Values items;
    for (const Tensor& part : split(x, sizes, axis))
        items.emplace_back(keep ? part : squeeze(part, axis), &call.type(0));
    return Value(items);
}

// Runs the body for each item; other sequences give their items of the same position.
Values map(Call& call)
{
    const std::size_t count = items_of(call, 0).size();
    std::vector<Values> out(call.outputs());
    for (std::size_t i = 0; i < count; ++i) {
        Values given;
        for (std::size_t k = 0; k < call.inputs(); ++k) {
            const Value& input = call.value(k);
            if (input.is_sequence() && input.items().size() <= i)
                call.fail("The sequence (", k, ") has no item (", i, ").");
            given.push_back(input.is_sequence() ? input.items()[i] : input);
        }
        const Values results = call.run(call.subgraph("body"), std::move(given));
        for (std::size_t k = 0; k < out.size() && k < results.size(); ++k) out[k].push_back(results[k]);
    }
    Values sequences;
    for (Values& items : out) sequences.emplace_back(Value(std::move(items)));
    return sequences;
}

Value optional_of(Call& call) { return call.has(0) ? call.value(0) : Value(); }

Value has_element(Call& call) { return Value({{}, {Dim(call.has(0) ? 1 : 0)}}, element_type_of(boolean)); }

Value get_element(Call& call) { return call.value(0); }

constexpr const char* not_outside = "sequences can't be inputs and outputs of a model";

const Operator rows[] = {
    {"ConcatFromSequence", concat_from},
    {"Optional", optional_of},
    {"OptionalGetElement", get_element},
    {"OptionalHasElement", has_element},
    {"SequenceAt", at},
    {"SequenceConstruct", construct, {.limits = not_outside}},
    {"SequenceEmpty", empty_sequence, {.limits = not_outside}},
    {"SequenceErase", erase, {.limits = not_outside}},
    {"SequenceInsert", insert, {.limits = not_outside}},
    {"SequenceLength", length},
    {"SequenceMap", map, {.limits = not_outside}},
    {"SplitToSequence", split_to, {.limits = "the size of the axis must be constant"}},
};

} // namespace

Operators sequence_operators() { return rows; }

} // namespace reprise::onnx
