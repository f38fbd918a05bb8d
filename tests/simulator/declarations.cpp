// The part of a module before its functions.
#include "decoder.hpp"

#include <reprise/error.hpp>

namespace reprise::simulator {

void Decoder::read_decoration(Words w)
{
    const bool of_member = device::opcode_of(w) == device::OpMemberDecorate;
    const auto decoration = static_cast<spv::Decoration>(w[of_member ? 3 : 2]);
    const auto argument = [&] { return w[of_member ? 4 : 3]; };
    if (decoration == spv::Decoration::Offset && of_member) types_.set_offset(w[1], w[2], argument());
    if (decoration == spv::Decoration::ArrayStride) types_.set_stride(w[1], argument());
    if (decoration == spv::Decoration::SpecId) spec_ids_[w[1]] = argument();
    if (decoration == spv::Decoration::BuiltIn && !of_member) {
        builtins_[w[1]] = argument();
        if (argument() == static_cast<std::uint32_t>(spv::BuiltIn::WorkgroupSize)) size_id_ = w[1];
    }
}

// Finds the size of a workgroup, which the size of registers depends on.
void Decoder::find_size(Words module)
{
    std::map<std::uint32_t, std::uint32_t> numbers;
    device::for_each_instruction(module, [&](Words w) {
        const auto op = static_cast<spv::Op>(device::opcode_of(w));
        if (op == spv::Op::OpDecorate || op == spv::Op::OpMemberDecorate) read_decoration(w);
        if (op == spv::Op::OpExecutionMode &&
            static_cast<spv::ExecutionMode>(w[2]) == spv::ExecutionMode::LocalSize)
            for (std::size_t i = 0; i < 3; ++i) program_.size[i] = w[3 + i];
        if (op == spv::Op::OpConstant) numbers[w[2]] = w[3];
        if (op == spv::Op::OpSpecConstant) {
            const auto id = spec_ids_.find(w[2]);
            const bool given = id != spec_ids_.end() && id->second < constants_.size();
            numbers[w[2]] = given ? constants_[id->second] : w[3];
        }
        if ((op == spv::Op::OpConstantComposite || op == spv::Op::OpSpecConstantComposite) &&
            w[2] == size_id_)
            for (std::size_t i = 0; i < 3; ++i) program_.size[i] = numbers[w[3 + i]];
    });
    program_.lanes = program_.size[0] * program_.size[1] * program_.size[2];
    if (program_.lanes == 0 || program_.lanes > 1024)
        fail("workgroups of " + std::to_string(program_.lanes) + " invocations");
}

void Decoder::declare_type(Words w)
{
    const auto op = static_cast<spv::Op>(device::opcode_of(w));
    Type& type = types_[w[1]];
    const auto set_scalar = [&](Scalar s) {
        type.form = Type::Form::scalar;
        type.scalar = s;
    };
    if (op == spv::Op::OpTypeVoid) type.form = Type::Form::nothing;
    if (op == spv::Op::OpTypeBool) set_scalar(Scalar::boolean);
    if (op == spv::Op::OpTypeInt) {
        if (w[2] != 16 && w[2] != 32 && w[2] != 64) fail("integers of " + std::to_string(w[2]) + " bits");
        set_scalar(w[2] == 16 ? Scalar::i16 : w[2] == 32 ? Scalar::i32 : Scalar::i64);
        type.is_signed = w[3] != 0;
    }
    if (op == spv::Op::OpTypeFloat)
        set_scalar(w[2] == 16 ? Scalar::f16 : w[2] == 32 ? Scalar::f32 : Scalar::f64);
    if (type.form == Type::Form::scalar && bytes_of(type.scalar) == 2) program_.unit = 2;
    if (op == spv::Op::OpTypeVector || op == spv::Op::OpTypeArray) {
        type.form = op == spv::Op::OpTypeVector ? Type::Form::vector : Type::Form::array;
        type.element = w[2];
        type.count = op == spv::Op::OpTypeVector ? w[3] : number(w[3]);
    }
    if (op == spv::Op::OpTypeRuntimeArray) {
        type.form = Type::Form::list;
        type.element = w[2];
    }
    if (op == spv::Op::OpTypeStruct) {
        type.form = Type::Form::structure;
        type.members.assign(w.begin() + 2, w.end());
    }
    if (op == spv::Op::OpTypePointer) {
        type.form = Type::Form::pointer;
        type.storage = static_cast<spv::StorageClass>(w[2]);
        type.element = w[3];
    }
}

void Decoder::declare_constant(Words w)
{
    const Scalar scalar = scalar_of(w[1]);
    std::uint64_t bits = w[3];
    if (is_wide(scalar)) bits |= std::uint64_t{w[4]} << 32;
    if (const auto id = spec_ids_.find(w[2]); id != spec_ids_.end() && id->second < constants_.size())
        bits = constants_[id->second];
    const Slot slot = new_slot(scalar);
    set_bits(slot, scalar, bits);
    define(w, {slot});
    constant_ids_.insert(w[2]);
}

void Decoder::declare_truth(Words w)
{
    const auto op = static_cast<spv::Op>(device::opcode_of(w));
    std::uint32_t truth = op == spv::Op::OpConstantTrue || op == spv::Op::OpSpecConstantTrue ? 1 : 0;
    if (const auto id = spec_ids_.find(w[2]); id != spec_ids_.end() && id->second < constants_.size())
        truth = constants_[id->second] != 0 ? 1 : 0;
    // The quotients and roots of the simulated GPU need it (gpu_divide).
    if (const auto id = spec_ids_.find(w[2]);
        id != spec_ids_.end() && id->second == device::refines_division_constant)
        truth = 1;
    const Slot slot = new_slot(Scalar::boolean);
    set<std::uint32_t>(slot, truth);
    define(w, {slot});
    constant_ids_.insert(w[2]);
}

void Decoder::declare_composite_constant(Words w)
{
    construct(w);
    constant_ids_.insert(w[2]);
}

void Decoder::declare_null(Words w)
{
    define(w, new_slots(w[1])); // new registers are 0
    constant_ids_.insert(w[2]);
}

// OpSpecConstantOp: an instruction on constants, which runs now.
void Decoder::declare_operation(Words w)
{
    std::vector<std::uint32_t> instruction{w[3], w[1], w[2]};
    instruction.insert(instruction.end(), w.begin() + 4, w.end());
    instruction[0] |= static_cast<std::uint32_t>(instruction.size()) << 16;
    const Words inner(instruction);
    if (!apply_operation(inner)) {
        const Handler h = handler(static_cast<spv::Op>(w[3]));
        if (!h) fail("OpSpecConstantOp of the instruction with number " + std::to_string(w[3]));
        (this->*h)(inner);
    }
    constant_ids_.insert(w[2]);
}

void Decoder::declare_variable(Words w)
{
    const auto storage = static_cast<spv::StorageClass>(w[3]);
    const std::uint32_t type = types_.at(w[1]).element;
    Value& v = define(w, {});
    if (storage == spv::StorageClass::Workgroup) {
        if (w.size() > 4) fail("shared memory with an initial value");
        v.memory = Access::Memory::shared;
        v.begin = (program_.shared_bytes + 15) / 16 * 16;
        v.end = program_.shared_bytes = v.begin + types_.size(type, Layout::packed);
    } else if (storage == spv::StorageClass::Private || storage == spv::StorageClass::Function) {
        // Words of each lane, in registers.
        v.memory = Access::Memory::lane;
        const std::uint32_t words = types_.size(type, Layout::words) / 4;
        v.begin = static_cast<Slot>(8 * program_.registers.size());
        v.end = 4 * words;
        program_.lane_memory.emplace_back(v.begin, std::size_t{v.end} * program_.lanes);
        program_.registers.resize(program_.registers.size() + (std::size_t{words} * program_.lanes + 1) / 2);
    } else if (storage == spv::StorageClass::Input) {
        v.is_variable = true;
        v.slots = new_slots(type);
        program_.inputs.push_back({builtins_.count(w[2]) ? builtins_.at(w[2]) : ~0U, v.slots});
    } else if (storage == spv::StorageClass::PushConstant) {
        v.is_variable = true;
        for (const Field& f : types_.fields(type, Layout::decorated)) {
            v.slots.push_back(new_slot(f.scalar));
            program_.push_constants.push_back({f.offset, f.scalar, v.slots.back()});
        }
    } else { // buffers with bindings and images may be declared, and not used: their address is that of no operand
        v.slots = {new_slot(Scalar::address)};
    }
}

} // namespace reprise::simulator
