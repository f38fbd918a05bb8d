// Pointers, and instructions that access memory.
#include "decoder.hpp"

#include <algorithm>

#include "memory.hpp"

namespace reprise::simulator {

Layout Decoder::layout_of(const Value& pointer)
{
    if (pointer.memory == Access::Memory::global) return Layout::decorated;
    return pointer.memory == Access::Memory::shared ? Layout::packed : Layout::words;
}

Slot Decoder::address_of(const Value& pointer)
{
    if (pointer.displacement == 0 || pointer.memory != Access::Memory::global) return pointer.slots.at(0);
    const Slot sum = new_slot(Scalar::address);
    emit(displace, sum, {pointer.slots[0]}, pointer.displacement);
    return sum;
}

void Decoder::access_chain(Words w)
{
    Value p = value(w[3]);
    const Words indices = w.subspan(4);
    std::uint32_t type = types_.at(p.type).element;
    p.type = w[1];
    if (p.is_variable) {
        std::vector<std::uint32_t> numbers;
        for (const std::uint32_t id : indices) numbers.push_back(number(id));
        const auto [first, part] = find_part(type, numbers);
        const auto begin = p.slots.begin() + static_cast<std::ptrdiff_t>(first);
        p.slots = {begin, begin + static_cast<std::ptrdiff_t>(types_.scalars(part).size())};
        values_[w[2]] = std::move(p);
        return;
    }
    const Layout layout = layout_of(p);
    const bool is_global = p.memory == Access::Memory::global;
    for (const std::uint32_t id : indices) {
        if (types_.at(type).form == Type::Form::structure) {
            p.displacement += types_.offset(type, number(id), layout);
            type = types_.part(type, number(id));
            continue;
        }
        const std::uint32_t stride = types_.at(type).form == Type::Form::vector
                                         ? types_.size(types_.at(type).element, layout)
                                         : types_.stride(type, layout);
        type = types_.at(type).element;
        if (is_constant(id)) {
            p.displacement += number(id) * stride;
            continue;
        }
        const bool wide = is_wide(scalar_of(value(id).type));
        const Slot sum = new_slot(is_global ? Scalar::address : Scalar::i32);
        if (is_global) emit(wide ? advance_by_long : advance, sum, {p.slots.at(0), slot(id)}, stride);
        else if (p.has_index) emit(move_offset, sum, {slot(id), p.slots.at(0)}, stride);
        else emit(first_offset, sum, {slot(id)}, stride);
        p.slots = {sum};
        p.has_index = true;
    }
    values_[w[2]] = std::move(p);
}

void Decoder::emit_access(const Value& p, std::uint32_t pointer_id, bool stores,
                          const std::vector<Slot>& slots, std::uint32_t alignment)
{
    const std::uint32_t type = types_.at(p.type).element;
    const std::vector<Field> fields = types_.fields(type, layout_of(p));
    const auto is_wide_field = [](const Field& f) { return is_wide(f.scalar); };
    // registers at a constant place
    if (p.memory == Access::Memory::lane && !p.has_index && std::ranges::none_of(fields, is_wide_field)) {
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (p.displacement + fields[i].offset >= p.end) fail("an index outside of an array");
            const Slot word = p.begin + (p.displacement + fields[i].offset) * program_.lanes;
            emit_copy(Scalar::i32, stores ? word : slots[i], stores ? slots[i] : word);
        }
        return;
    }
    // A structure is accessed in parts of at most 16 bytes, as compilers do.
    for (std::size_t first = 0; first < fields.size();) {
        Access a{.memory = p.memory,
                 .stores = stores,
                 .alignment = alignment,
                 .displacement = p.displacement,
                 .begin = p.begin,
                 .end = p.end,
                 .id = pointer_id};
        a.has_index = p.has_index || p.memory == Access::Memory::global;
        a.displacement += fields[first].offset;
        std::size_t last = first;
        for (; last < fields.size(); ++last) {
            const std::uint32_t offset = fields[last].offset - fields[first].offset;
            const std::uint32_t end = offset + bytes_of(fields[last].scalar);
            if (last > first && (end > 16 || offset != a.bytes)) break;
            a.parts.push_back({offset, fields[last].scalar, slots[last]});
            a.bytes = end;
        }
        if (p.memory == Access::Memory::lane) { // words hold each scalar
            a.bytes = 0;
            for (const auto& part : a.parts) a.bytes = part.offset + register_bytes(part.scalar);
        }
        first = last;
        const Slot address = a.has_index ? p.slots.at(0) : 0;
        program_.accesses.push_back(std::move(a));
        emit(access_function(program_.accesses.back()), 0, {address},
             static_cast<std::uint32_t>(program_.accesses.size() - 1));
    }
}

namespace {

// The alignment that the memory operands from a word on promise; 1 if none.
std::uint32_t alignment_in(Words w, std::size_t from)
{
    const bool aligned =
        w.size() > from + 1 && (w[from] & static_cast<std::uint32_t>(spv::MemoryAccessMask::Aligned)) != 0;
    return aligned ? w[from + 1] : 1;
}

} // namespace

void Decoder::load(Words w)
{
    const Value p = value(w[3]);
    if (p.is_variable) {
        define(w, p.slots);
        return;
    }
    const std::vector<Slot> slots = new_slots(w[1]);
    if (!slots.empty()) // else an image
        emit_access(p, w[3], false, slots, alignment_in(w, 4));
    define(w, slots);
}

void Decoder::store(Words w)
{
    const Value p = value(w[1]);
    Value v = value(w[2]);
    if (types_.at(v.type).form == Type::Form::pointer) v.slots = {address_of(v)};
    emit_access(p, w[1], true, v.slots, alignment_in(w, 3));
}

void Decoder::name_image(Words w) { define(w, {}); }

void Decoder::fetch_texel(Words w)
{
    emit([](const Lanes& lanes, const Step&) { lanes.fail(lanes.list[0], "reads a texel of an image"); }, 0,
         {});
    define(w, new_slots(w[1]));
}

void Decoder::variable(Words w)
{
    declare_variable(w);
    if (w.size() > 4) emit_access(value(w[2]), w[2], true, value(w[4]).slots, 1);
}

void Decoder::barrier(Words w)
{
    if (number(w[1]) != static_cast<std::uint32_t>(spv::Scope::Workgroup))
        fail("a barrier of another scope than a workgroup");
    constexpr auto shared = static_cast<std::uint32_t>(spv::MemorySemanticsMask::WorkgroupMemory);
    constexpr auto order = static_cast<std::uint32_t>(spv::MemorySemanticsMask::AcquireRelease);
    if (const std::uint64_t semantics = number(w[3]); (semantics & shared) == 0 || (semantics & order) == 0)
        fail("a barrier that does not order accesses to shared memory");
    emit(wait_for_all, 0, {});
}

} // namespace reprise::simulator
