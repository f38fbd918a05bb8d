// Instructions that compute values.
#include "decoder.hpp"

#include <spirv/unified1/GLSL.std.450.h>

namespace reprise::simulator {

// Applies one function to each component; false if the instruction is not of this kind.
bool Decoder::apply_operation(Words w)
{
    const Operation* operation = find_operation(static_cast<spv::Op>(device::opcode_of(w)));
    if (!operation) return false;
    std::vector<const Value*> in;
    for (int i = 0; i < operation->operands; ++i) in.push_back(&value(w[3 + static_cast<std::size_t>(i)]));
    const Scalar type = scalar_of(in[0]->type);
    const Step::Function f = operation->of[static_cast<std::size_t>(type)];
    if (!f) fail(std::string(operation->name) + " of a type that it has no function for");
    const bool is_shift = operation->opcode == spv::Op::OpShiftLeftLogical ||
                          operation->opcode == spv::Op::OpShiftRightLogical ||
                          operation->opcode == spv::Op::OpShiftRightArithmetic;
    const std::vector<Slot> out = new_slots(w[1]);
    for (std::size_t i = 0; i < out.size(); ++i) {
        Step s{.run = f, .out = out[i], .id = w[2]};
        for (std::size_t k = 0; k < in.size(); ++k) s.in[k] = in[k]->slots.at(i);
        if (is_shift && is_wide(scalar_of(in[1]->type))) { // shifts take a number of 32 bits
            const Slot by = new_slot(Scalar::i32);
            emit(low_word, by, {s.in[1]});
            s.in[1] = by;
        }
        emit(s);
    }
    define(w, out);
    return true;
}

void Decoder::convert(Words w)
{
    const Value& from = value(w[3]);
    const std::vector<Slot> out = new_slots(w[1]);
    const Scalar source = scalar_of(from.type), target = scalar_of(w[1]);
    const auto op = static_cast<spv::Op>(device::opcode_of(w));
    const Step::Function f =
        source == target ? (is_wide(source) ? copy_8 : copy_4) : find_conversion(op, source, target);
    if (!f)
        fail("no conversion by the instruction with number " + std::to_string(device::opcode_of(w)) +
             " of these types");
    for (std::size_t i = 0; i < out.size(); ++i) emit(f, out[i], {from.slots.at(i)});
    define(w, out);
}

// Also conversions between integers and addresses.
void Decoder::bitcast(Words w)
{
    Value from = value(w[3]);
    if (types_.at(from.type).form == Type::Form::pointer) from.slots = {address_of(from)};
    const std::vector<Scalar> source = types_.scalars(from.type), target = types_.scalars(w[1]);
    if (source.size() == target.size() && is_wide(source[0]) == is_wide(target[0])) {
        define(w, from.slots); // registers have no types
        return;
    }
    std::vector<Slot> out = new_slots(w[1]);
    if (source.size() == 2 * target.size() && is_wide(target[0]) && !is_wide(source[0]))
        for (std::size_t i = 0; i < out.size(); ++i)
            emit(join_words, out[i], {from.slots[2 * i], from.slots[2 * i + 1]});
    else if (target.size() == 2 * source.size() && is_wide(source[0]) && !is_wide(target[0]))
        for (std::size_t i = 0; i < out.size(); ++i)
            emit(i % 2 == 0 ? low_word : high_word, out[i], {from.slots[i / 2]});
    else fail("OpBitcast between these types");
    define(w, std::move(out));
}

void Decoder::select(Words w)
{
    const Value& condition = value(w[3]);
    Value a = value(w[4]), b = value(w[5]);
    if (types_.at(w[1]).form == Type::Form::pointer) {
        a.slots = {address_of(a)};
        b.slots = {address_of(b)};
    }
    const std::vector<Slot> out = new_slots(w[1]);
    const std::vector<Scalar> scalars = types_.scalars(w[1]);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const Slot chosen = condition.slots[condition.slots.size() == 1 ? 0 : i];
        emit(is_wide(scalars[i]) ? select_8 : select_4, out[i], {chosen, a.slots[i], b.slots[i]});
    }
    define(w, out);
}

void Decoder::all_or_any(Words w)
{
    const Value& in = value(w[3]);
    const bool all = static_cast<spv::Op>(device::opcode_of(w)) == spv::Op::OpAll;
    Slot sum = in.slots[0];
    for (std::size_t i = 1; i < in.slots.size(); ++i) {
        const Slot next = new_slot(Scalar::boolean);
        emit(all ? logical_and : logical_or, next, {sum, in.slots[i]});
        sum = next;
    }
    define(w, {sum});
}

void Decoder::scale_vector(Words w)
{
    const Value &vector = value(w[3]), &factor = value(w[4]);
    const auto type = static_cast<std::size_t>(scalar_of(w[1]));
    const std::vector<Slot> out = new_slots(w[1]);
    for (std::size_t i = 0; i < out.size(); ++i)
        emit(find_operation(spv::Op::OpFMul)->of[type], out[i], {vector.slots[i], factor.slots[0]});
    define(w, out);
}

void Decoder::double_result(Words w)
{
    const Pair* pair = find_pair(static_cast<spv::Op>(device::opcode_of(w)));
    const Value &a = value(w[3]), &b = value(w[4]);
    if (scalar_of(a.type) != Scalar::i32) fail("extended arithmetic on integers that don't have 32 bits");
    const std::vector<Slot> out = new_slots(w[1]);
    const std::size_t half = out.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
        emit(pair->low, out[i], {a.slots[i], b.slots[i]});
        emit(pair->high, out[half + i], {a.slots[i], b.slots[i]});
    }
    define(w, out);
}

void Decoder::extended_instruction(Words w)
{
    if (w[3] != glsl_) fail("an instruction of an unknown set");
    const Value& first = value(w[5]);
    if (w[4] == GLSLstd450PackDouble2x32 || w[4] == GLSLstd450UnpackDouble2x32) {
        const std::vector<std::uint32_t> words{4U << 16 | static_cast<std::uint32_t>(spv::Op::OpBitcast),
                                               w[1], w[2], w[5]};
        bitcast(words);
        return;
    }
    if (w[4] == GLSLstd450UnpackHalf2x16) {
        const std::vector<Slot> out = new_slots(w[1]);
        emit(unpack_low_half, out[0], {first.slots[0]});
        emit(unpack_high_half, out[1], {first.slots[0]});
        define(w, out);
        return;
    }
    const GlslOperation* operation = find_glsl_operation(w[4]);
    if (!operation)
        fail("the instruction of GLSL.std.450 with number " + std::to_string(w[4]) + " is unknown");
    const Step::Function f = operation->of[static_cast<std::size_t>(scalar_of(first.type))];
    if (!f) fail(std::string(operation->name) + " of a type that it has no function for");
    const std::vector<Slot> out = new_slots(w[1]);
    for (std::size_t i = 0; i < out.size(); ++i) {
        Step s{.run = f, .out = out[i], .id = w[2]};
        for (int k = 0; k < operation->operands; ++k)
            s.in[k] = value(w[5 + static_cast<std::size_t>(k)]).slots.at(i);
        emit(s);
    }
    define(w, out);
}

// OpGroupNonUniformShuffle
void Decoder::shuffle(Words w)
{
    const Value& from = value(w[4]);
    const std::vector<Scalar> scalars = types_.scalars(w[1]);
    const std::vector<Slot> out = new_slots(w[1]);
    for (std::size_t i = 0; i < out.size(); ++i)
        emit(is_wide(scalars[i]) ? subgroup_shuffle_8 : subgroup_shuffle_4, out[i],
             {from.slots[i], slot(w[5])}, subgroup_size_);
    define(w, out);
}

} // namespace reprise::simulator
