// The blocks of a function, their order, and the table of instructions.
#include "decoder.hpp"

#include <algorithm>

namespace reprise::simulator {

struct Handlers {
    spv::Op opcode;
    Decoder::Handler handler;
    static const std::map<spv::Op, Decoder::Handler>& table();
};

const std::map<spv::Op, Decoder::Handler>& Handlers::table()
{
    using D = Decoder;
    using spv::Op;
    static const std::map<Op, D::Handler> handlers{{Op::OpConvertFToU, &D::convert},
                                                   {Op::OpConvertFToS, &D::convert},
                                                   {Op::OpConvertSToF, &D::convert},
                                                   {Op::OpConvertUToF, &D::convert},
                                                   {Op::OpUConvert, &D::convert},
                                                   {Op::OpSConvert, &D::convert},
                                                   {Op::OpFConvert, &D::convert},
                                                   {Op::OpBitcast, &D::bitcast},
                                                   {Op::OpConvertPtrToU, &D::bitcast},
                                                   {Op::OpConvertUToPtr, &D::bitcast},
                                                   {Op::OpSelect, &D::select},
                                                   {Op::OpAll, &D::all_or_any},
                                                   {Op::OpAny, &D::all_or_any},
                                                   {Op::OpVectorTimesScalar, &D::scale_vector},
                                                   {Op::OpUMulExtended, &D::double_result},
                                                   {Op::OpSMulExtended, &D::double_result},
                                                   {Op::OpIAddCarry, &D::double_result},
                                                   {Op::OpISubBorrow, &D::double_result},
                                                   {Op::OpExtInst, &D::extended_instruction},
                                                   {Op::OpGroupNonUniformShuffle, &D::shuffle},
                                                   {Op::OpCompositeExtract, &D::extract},
                                                   {Op::OpCompositeConstruct, &D::construct},
                                                   {Op::OpCompositeInsert, &D::insert},
                                                   {Op::OpVectorShuffle, &D::shuffle_vector},
                                                   {Op::OpVectorExtractDynamic, &D::extract_dynamic},
                                                   {Op::OpCopyObject, &D::copy_object},
                                                   {Op::OpCopyLogical, &D::copy_object},
                                                   {Op::OpUndef, &D::undefined},
                                                   {Op::OpLoad, &D::load},
                                                   {Op::OpStore, &D::store},
                                                   {Op::OpAccessChain, &D::access_chain},
                                                   {Op::OpInBoundsAccessChain, &D::access_chain},
                                                   {Op::OpVariable, &D::variable},
                                                   {Op::OpControlBarrier, &D::barrier},
                                                   {Op::OpImage, &D::name_image},
                                                   {Op::OpSampledImage, &D::name_image},
                                                   {Op::OpImageFetch, &D::fetch_texel},
                                                   {Op::OpMemoryBarrier, &D::ignore},
                                                   {Op::OpLine, &D::ignore},
                                                   {Op::OpNoLine, &D::ignore}};
    return handlers;
}

Decoder::Handler Decoder::handler(spv::Op op)
{
    const auto found = Handlers::table().find(op);
    return found == Handlers::table().end() ? nullptr : found->second;
}

void Decoder::split_function(Words module)
{
    using spv::Op;
    int functions = 0;
    Part* part = nullptr;
    device::for_each_instruction(module, [&](Words w) {
        const auto op = static_cast<Op>(device::opcode_of(w));
        if (op == Op::OpFunction && ++functions > 1) fail("a module with several functions");
        if (op == Op::OpFunctionCall) fail("a call of a function");
        if (op == Op::OpLabel) {
            if (parts_.empty()) entry_ = w[1];
            part = &parts_[w[1]];
        } else if (op == Op::OpFunctionEnd) {
            part = nullptr;
        } else if (part) {
            if (op == Op::OpPhi) part->phis.push_back(w);
            else if (op == Op::OpSelectionMerge || op == Op::OpLoopMerge) part->merge = w;
            else if (op == Op::OpBranch || op == Op::OpBranchConditional || op == Op::OpSwitch ||
                     op == Op::OpReturn || op == Op::OpUnreachable)
                part->end = w;
            else part->body.push_back(w);
        }
    });
    if (parts_.empty()) fail("a module without a function");
}

std::vector<std::uint32_t> Decoder::successors(const Part& p) const
{
    using spv::Op;
    const auto op = static_cast<Op>(device::opcode_of(p.end));
    if (op == Op::OpBranch) return {p.end[1]};
    if (op == Op::OpBranchConditional) {
        if (is_constant(p.end[1])) return {p.end[number(p.end[1]) != 0 ? 2 : 3]};
        return {p.end[2], p.end[3]};
    }
    std::vector<std::uint32_t> found;
    if (op != Op::OpSwitch) return found;
    found.push_back(p.end[2]);
    for (std::size_t i = 3; i + 1 < p.end.size(); i += 2) found.push_back(p.end[i + 1]); // values of 32 bits
    return found;
}

// The blocks that can be reached with the values of constants: the others may have what a simulated GPU doesn't.
std::set<std::uint32_t> Decoder::reachable_blocks() const
{
    std::set<std::uint32_t> found{entry_};
    std::vector<std::uint32_t> left{entry_};
    while (!left.empty()) {
        const Part& p = parts_.at(left.back());
        left.pop_back();
        for (const std::uint32_t next : successors(p))
            if (found.insert(next).second) left.push_back(next);
    }
    return found;
}

// Lists the blocks in reverse post-order.  The walk visits the block after a construct first, then the one that
// continues a loop, so these come last in the order: if always the earliest block is run that lanes are in, all lanes
// of a construct meet in the block after it.
void Decoder::order_blocks()
{
    struct Visit {
        std::uint32_t label;
        std::vector<std::uint32_t> next;
        std::size_t at = 0;
    };
    std::set<std::uint32_t> left = reachable_blocks();
    std::vector<Visit> stack;
    const auto enter = [&](std::uint32_t label) {
        if (left.erase(label) == 0) return;
        const Part& p = parts_.at(label);
        if (p.end.empty()) fail("a block without an end");
        std::vector<std::uint32_t> next; // of an OpLoopMerge two blocks, of an OpSelectionMerge one
        if (!p.merge.empty()) next.assign(p.merge.begin() + 1, p.merge.end() - 1);
        for (const std::uint32_t s : successors(p)) next.push_back(s);
        stack.push_back({label, std::move(next)});
    };
    enter(entry_);
    while (!stack.empty()) {
        Visit& top = stack.back();
        if (top.at < top.next.size()) {
            enter(top.next[top.at++]);
            continue;
        }
        order_.push_back(top.label);
        stack.pop_back();
    }
    std::reverse(order_.begin(), order_.end());
    for (std::uint32_t i = 0; i < order_.size(); ++i) parts_.at(order_[i]).number = i;
}

void Decoder::add_edge(Block& block, std::uint32_t from, std::uint32_t to)
{
    const Part& target = parts_.at(to);
    Edge edge{target.number, {}};
    std::set<Slot> written;
    std::vector<Step> late; // copies of values that an earlier copy would overwrite
    const auto add = [](std::vector<Step>& list, Scalar scalar, Slot out, Slot in) {
        list.push_back({.run = is_wide(scalar) ? copy_8 : copy_4, .out = out, .in = {in}});
    };
    for (const Words phi : target.phis) {
        const Value& result = value(phi[2]);
        const std::vector<Scalar> scalars = types_.scalars(result.type);
        for (std::size_t i = 3; i + 1 < phi.size(); i += 2) {
            if (phi[i + 1] != from) continue;
            Value in = value(phi[i]);
            if (types_.at(in.type).form == Type::Form::pointer) in.slots = {address_of(in)};
            for (std::size_t k = 0; k < scalars.size(); ++k) {
                if (in.slots[k] == result.slots[k]) continue;
                written.insert(result.slots[k]);
                add(edge.copies, scalars[k], result.slots[k], in.slots[k]);
            }
            break;
        }
    }
    const bool overlaps =
        std::ranges::any_of(edge.copies, [&](const Step& s) { return written.count(s.in[0]) != 0; });
    if (overlaps) { // all values are read before the first is written
        for (Step& s : edge.copies) {
            const Scalar scalar = s.run == &copy_8 ? Scalar::i64 : Scalar::i32;
            const Slot between = new_slot(scalar);
            add(late, scalar, s.out, between);
            s.out = between;
        }
        edge.copies.insert(edge.copies.end(), late.begin(), late.end());
    }
    block.edges.push_back(std::move(edge));
}

void Decoder::end_block(std::uint32_t label)
{
    using spv::Op;
    const Part& p = parts_.at(label);
    Block& block = program_.blocks[p.number];
    const auto op = static_cast<Op>(device::opcode_of(p.end));
    block_ = &block; // for the addresses of phis
    if (op == Op::OpReturn) block.end = Block::End::finish;
    if (op == Op::OpUnreachable) block.end = Block::End::unreachable;
    const std::vector<std::uint32_t> after = successors(p);
    if (op == Op::OpBranch || (op == Op::OpBranchConditional && after.size() == 1)) {
        block.end = Block::End::jump;
    } else if (op == Op::OpBranchConditional || op == Op::OpSwitch) {
        block.end = op == Op::OpSwitch ? Block::End::choice : Block::End::branch;
        block.condition = slot(p.end[1]);
    }
    if (op == Op::OpSwitch) {
        if (is_wide(scalar_of(value(p.end[1]).type))) fail("OpSwitch on 64 bits");
        for (std::size_t i = 3; i + 1 < p.end.size(); i += 2) block.values.push_back(p.end[i]);
    }
    for (const std::uint32_t next : after) add_edge(block, label, next);
}

Decoder::Decoder(const std::string& name, const std::vector<std::uint32_t>& constants,
                 std::uint32_t subgroup_size)
    : constants_(constants), subgroup_size_(subgroup_size)
{
    program_.name = name;
    for (std::size_t i = 0; i < constants.size(); ++i)
        program_.name += (i == 0 ? " <" : ", ") + std::to_string(constants[i]);
    if (!constants.empty()) program_.name += ">";
}

Program Decoder::decode(Words module)
{
    if (!device::is_spirv(module)) fail("no SPIR-V");
    find_size(module);
    split_function(module);
    bool in_function = false;
    device::for_each_instruction(module, [&](Words w) {
        const auto op = static_cast<spv::Op>(device::opcode_of(w));
        in_function |= op == spv::Op::OpFunction;
        if (in_function) return;
        if (device::imports_glsl(w)) glsl_ = w[1];
        if (op >= spv::Op::OpTypeVoid && op <= spv::Op::OpTypeFunction) declare_type(w);
        if (op == spv::Op::OpConstant || op == spv::Op::OpSpecConstant) declare_constant(w);
        if (op == spv::Op::OpConstantTrue || op == spv::Op::OpConstantFalse ||
            op == spv::Op::OpSpecConstantTrue || op == spv::Op::OpSpecConstantFalse)
            declare_truth(w);
        if (op == spv::Op::OpConstantComposite || op == spv::Op::OpSpecConstantComposite)
            declare_composite_constant(w);
        if (op == spv::Op::OpConstantNull) declare_null(w);
        if (op == spv::Op::OpSpecConstantOp) declare_operation(w);
        if (op == spv::Op::OpVariable) declare_variable(w);
        if (op == spv::Op::OpUndef) undefined(w);
    });
    order_blocks();
    program_.blocks.resize(order_.size());
    for (const std::uint32_t label : order_)
        for (const Words phi : parts_.at(label).phis) define(phi, new_slots(phi[1]));
    for (const std::uint32_t label : order_) {
        block_ = &program_.blocks[parts_.at(label).number];
        for (const Words w : parts_.at(label).body) {
            const auto op = static_cast<spv::Op>(device::opcode_of(w));
            if (apply_operation(w)) continue;
            const Handler h = handler(op);
            if (!h)
                fail("the simulator does not know SPIR-V's instruction with the number " +
                     std::to_string(device::opcode_of(w)));
            (this->*h)(w);
        }
    }
    for (const std::uint32_t label : order_) end_block(label);
    return std::move(program_);
}

Program decode(const std::string& name, const std::vector<std::uint32_t>& code,
               const std::vector<std::uint32_t>& constants, std::uint32_t subgroup_size)
{
    return Decoder(name, constants, subgroup_size).decode(code);
}

} // namespace reprise::simulator
