// Instructions that take composites apart or put them together, which mostly cost no step.
#include "decoder.hpp"

namespace reprise::simulator {

// Finds the first scalar of a part of a composite, and the part's type.
std::pair<std::size_t, std::uint32_t> Decoder::find_part(std::uint32_t type, Words indices) const
{
    std::size_t first = 0;
    for (const std::uint32_t index : indices) {
        for (std::uint32_t i = 0; i < index; ++i) first += types_.scalars(types_.part(type, i)).size();
        type = types_.part(type, index);
    }
    return {first, type};
}

void Decoder::extract(Words w)
{
    const Value& from = value(w[3]);
    const auto [first, type] = find_part(from.type, w.subspan(4));
    const auto begin = from.slots.begin() + static_cast<std::ptrdiff_t>(first);
    define(w, {begin, begin + static_cast<std::ptrdiff_t>(types_.scalars(type).size())});
}

void Decoder::construct(Words w)
{
    std::vector<Slot> slots;
    for (const std::uint32_t id : w.subspan(3)) {
        const Value& part = value(id);
        if (types_.at(part.type).form == Type::Form::pointer) slots.push_back(address_of(part));
        else slots.insert(slots.end(), part.slots.begin(), part.slots.end());
    }
    define(w, std::move(slots));
}

void Decoder::insert(Words w)
{
    const Value part = value(w[3]);
    std::vector<Slot> slots = value(w[4]).slots;
    const std::size_t first = find_part(w[1], w.subspan(5)).first;
    for (std::size_t i = 0; i < part.slots.size(); ++i) slots.at(first + i) = part.slots[i];
    define(w, std::move(slots));
}

void Decoder::shuffle_vector(Words w)
{
    std::vector<Slot> all = value(w[3]).slots, slots;
    const std::vector<Slot>& second = value(w[4]).slots;
    all.insert(all.end(), second.begin(), second.end());
    for (const std::uint32_t index : w.subspan(5)) slots.push_back(index == ~0U ? all[0] : all.at(index));
    define(w, std::move(slots));
}

// OpVectorExtractDynamic: chooses among the components one after the other.
void Decoder::extract_dynamic(Words w)
{
    const Value& vector = value(w[3]);
    const Scalar scalar = scalar_of(w[1]);
    Slot found = vector.slots[0];
    for (std::uint32_t i = 1; i < vector.slots.size(); ++i) {
        const Slot index = new_slot(Scalar::i32), is_chosen = new_slot(Scalar::boolean),
                   next = new_slot(scalar);
        set<std::uint32_t>(index, i);
        const Operation* equal = find_operation(spv::Op::OpIEqual);
        emit(equal->of[static_cast<std::size_t>(Scalar::i32)], is_chosen, {slot(w[4]), index});
        emit(is_wide(scalar) ? select_8 : select_4, next, {is_chosen, vector.slots[i], found});
        found = next;
    }
    define(w, {found});
}

void Decoder::copy_object(Words w)
{
    Value from = value(w[3]);
    from.type = w[1];
    values_[w[2]] = std::move(from);
}

void Decoder::undefined(Words w) { define(w, new_slots(w[1])); }

} // namespace reprise::simulator
