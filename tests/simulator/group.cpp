#include "group.hpp"

#include <algorithm>

#include <reprise/error.hpp>
#include <spirv/unified1/spirv.hpp11>

namespace reprise::simulator {

namespace {

constexpr std::uint64_t most_blocks = std::uint64_t{1}
                                      << 28; // that a workgroup runs before it counts as endless

} // namespace

Group::Group(Launch& launch)
    : launch_(launch), program_(launch.program()), at_(program_.lanes), list_(program_.lanes),
      part_(program_.lanes), shared_(program_.shared_bytes),
      shared_races_(program_.shared_bytes, program_.unit)
{
    lanes_.registers = reinterpret_cast<std::byte*>(program_.registers.data());
    lanes_.size = program_.lanes;
    lanes_.list = list_.data();
    lanes_.group = this;
    set_inputs(true);
    set_push_constants();
}

// Sets the built-in variables: all of them, or only those that differ between workgroups.
void Group::set_inputs(bool all)
{
    using spv::BuiltIn;
    const auto& size = program_.size;
    const std::uint32_t subgroup = launch_.options().subgroup_size;
    const std::uint32_t group[3] = {x_, y_, 0}, groups[3] = {launch_.width(), launch_.height(), 1};
    for (const Input& input : program_.inputs) {
        const auto builtin = static_cast<BuiltIn>(input.builtin);
        if (!all && builtin != BuiltIn::WorkgroupId && builtin != BuiltIn::GlobalInvocationId) continue;
        for (std::uint32_t c = 0; c < input.slots.size(); ++c)
            for (std::uint32_t lane = 0; lane < program_.lanes; ++lane) {
                const std::uint32_t place[3] = {lane % size[0], lane / size[0] % size[1],
                                                lane / size[0] / size[1]};
                const std::pair<BuiltIn, std::uint32_t> values[] = {
                    {BuiltIn::WorkgroupId, group[c]},
                    {BuiltIn::GlobalInvocationId, group[c] * size[c] + place[c]},
                    {BuiltIn::NumWorkgroups, groups[c]},
                    {BuiltIn::WorkgroupSize, size[c]},
                    {BuiltIn::LocalInvocationId, place[c]},
                    {BuiltIn::LocalInvocationIndex, lane},
                    {BuiltIn::SubgroupSize, subgroup},
                    {BuiltIn::SubgroupId, lane / subgroup},
                    {BuiltIn::NumSubgroups, (program_.lanes + subgroup - 1) / subgroup},
                    {BuiltIn::SubgroupLocalInvocationId, lane % subgroup}};
                const auto found =
                    std::ranges::find(values, builtin, &std::pair<BuiltIn, std::uint32_t>::first);
                if (found == std::end(values))
                    fail(lane, "reads the built-in variable with number " + std::to_string(input.builtin));
                lanes_.at<std::uint32_t>(input.slots[c])[lane] = found->second;
            }
    }
}

void Group::set_push_constants()
{
    const std::uint64_t record = launch_.record_address();
    for (const PushConstant& p : program_.push_constants) {
        const std::uint64_t bits = p.offset < 8 ? record >> 8 * p.offset : 0;
        for (std::uint32_t lane = 0; lane < program_.lanes; ++lane)
            if (is_wide(p.scalar)) lanes_.at<std::uint64_t>(p.slot)[lane] = bits;
            else lanes_.at<std::uint32_t>(p.slot)[lane] = static_cast<std::uint32_t>(bits);
    }
}

// Continues with the earliest block that a lane is in, for all lanes that are there.
void Group::select_lanes()
{
    current_ = *std::ranges::min_element(at_);
    next_other_ = done;
    lanes_.count = 0;
    if (current_ == done) return;
    for (std::uint32_t lane = 0; lane < at_.size(); ++lane)
        if (at_[lane] == current_) list_[lanes_.count++] = static_cast<std::uint16_t>(lane);
        else next_other_ = std::min(next_other_, at_[lane]);
}

void Group::go(const Block& block, const Lanes& lanes, std::uint32_t edge)
{
    if (lanes.count == 0) return;
    for (const Step& s : block.edges[edge].copies) s.run(lanes, s);
}

// Each active lane takes the edge that its condition, or its number, chooses.
void Group::split(const Block& block)
{
    const std::uint32_t* condition = lanes_.at<std::uint32_t>(block.condition);
    const auto edge_of = [&](std::uint32_t lane) -> std::uint32_t {
        if (block.end == Block::End::branch) return condition[lane] != 0 ? 0 : 1;
        const auto found = std::ranges::find(block.values, condition[lane]);
        return found == block.values.end() ? 0 : static_cast<std::uint32_t>(found - block.values.begin()) + 1;
    };
    Lanes part = lanes_;
    part.list = part_.data();
    std::uint32_t taken = 0;
    for (std::uint32_t edge = 0; edge < block.edges.size() && taken < lanes_.count; ++edge) {
        part.count = 0;
        lanes_.each([&](std::uint32_t lane) {
            if (edge_of(lane) == edge) part_[part.count++] = static_cast<std::uint16_t>(lane);
        });
        go(block, part, edge);
        for (std::uint32_t i = 0; i < part.count; ++i) at_[part_[i]] = block.edges[edge].target;
        taken += part.count;
        if (part.count != lanes_.count) continue;
        // All take the same edge.
        const std::uint32_t target = block.edges[edge].target;
        if (target < next_other_) {
            current_ = target;
            return;
        }
    }
    select_lanes();
}

void Group::end_block(const Block& block)
{
    if (block.end == Block::End::branch || block.end == Block::End::choice) return split(block);
    if (block.end == Block::End::unreachable) fail(list_[0], "reaches code that is marked as unreachable");
    std::uint32_t target = done;
    if (block.end == Block::End::jump) {
        go(block, lanes_, 0);
        target = block.edges[0].target;
        if (target < next_other_) {
            current_ = target;
            return;
        }
    }
    lanes_.each([&](std::uint32_t lane) { at_[lane] = target; });
    select_lanes();
}

void Group::run(std::uint32_t x, std::uint32_t y)
{
    x_ = x;
    y_ = y;
    set_inputs(false);
    shared_races_.begin_group();
    for (const auto& [first, bytes] : program_.lane_memory) // NaN, or a large index
        std::fill_n(lanes_.registers + first, bytes, std::byte{0xFF});
    std::ranges::fill(at_, 0);
    select_lanes();
    for (std::uint64_t blocks = 0; current_ != done; ++blocks) {
        if (blocks > most_blocks) fail(list_[0], "is in a loop that does not end");
        const Block& block = program_.blocks[current_];
        if (launch_.counts()) launch_.counts()->count_steps(block.steps.size(), lanes_);
        for (const Step& s : block.steps) s.run(lanes_, s);
        end_block(block);
    }
}

void Group::pass_barrier(const Lanes& lanes)
{
    if (lanes.count != lanes.size)
        fail(lanes.list[0], "waits at a barrier that only " + std::to_string(lanes.count) + " of " +
                                std::to_string(lanes.size) + " lanes reach");
    shared_races_.pass_barrier();
}

void Group::fail(std::uint32_t lane, const std::string& what) const
{
    reprise::detail::fail(ErrorKind::internal, "simulator", program_.name, ", workgroup (",
                          x_ + y_ * launch_.width(), "), lane (", lane, "): ", what, ".");
}

void Lanes::fail(std::uint32_t lane, const std::string& what) const
{
    if (group) group->fail(lane, what);
    reprise::detail::fail(ErrorKind::internal, "simulator", "A constant ", what, ".");
}

} // namespace reprise::simulator
