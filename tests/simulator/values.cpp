#include "decoder.hpp"

#include <reprise/error.hpp>

namespace reprise::simulator {

void Decoder::fail(const std::string& what) const
{
    reprise::detail::fail(ErrorKind::unsupported, "simulator", program_.name, ": ", what);
}

Slot Decoder::new_slot(Scalar scalar)
{
    const auto first = static_cast<Slot>(8 * program_.registers.size());
    program_.registers.resize(program_.registers.size() +
                              (std::size_t{register_bytes(scalar)} * program_.lanes + 7) / 8);
    return first;
}

std::vector<Slot> Decoder::new_slots(std::uint32_t type)
{
    std::vector<Slot> slots;
    for (const Scalar s : types_.scalars(type)) slots.push_back(new_slot(s));
    return slots;
}

Value& Decoder::define(Words w, std::vector<Slot> slots)
{
    Value& v = values_[w[2]];
    v = {};
    v.type = w[1];
    v.slots = std::move(slots);
    return v;
}

const Value& Decoder::value(std::uint32_t id) const
{
    const auto found = values_.find(id);
    if (found == values_.end()) fail("%" + std::to_string(id) + " is used before it is defined");
    return found->second;
}

std::uint32_t Decoder::number(std::uint32_t id) const
{
    if (!is_constant(id)) fail("%" + std::to_string(id) + " is not a constant");
    return *reinterpret_cast<const std::uint32_t*>(
        reinterpret_cast<const std::byte*>(program_.registers.data()) + slot(id));
}

void Decoder::set_bits(Slot slot, Scalar scalar, std::uint64_t bits)
{
    if (is_wide(scalar)) set<std::uint64_t>(slot, bits);
    else set<std::uint32_t>(slot, static_cast<std::uint32_t>(bytes_of(scalar) == 2 ? bits & 0xFFFF : bits));
}

void Decoder::emit(Step s)
{
    if (block_) {
        block_->steps.push_back(s);
        return;
    }
    const Lanes all{.registers = reinterpret_cast<std::byte*>(program_.registers.data()),
                    .size = program_.lanes,
                    .count = program_.lanes};
    s.run(all, s);
}

void Decoder::emit(Step::Function f, Slot out, std::initializer_list<Slot> in, std::uint32_t extra)
{
    Step s{.run = f, .out = out, .extra = extra};
    std::size_t i = 0;
    for (const Slot slot : in) s.in[i++] = slot;
    emit(s);
}

void Decoder::emit_copy(Scalar scalar, Slot out, Slot in)
{
    emit(is_wide(scalar) ? copy_8 : copy_4, out, {in});
}

} // namespace reprise::simulator
