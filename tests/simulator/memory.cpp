#include "memory.hpp"

#include <algorithm>
#include <cstring>

#include "group.hpp"

namespace reprise::simulator {

namespace {

void access_global(const Lanes& lanes, const Step& s) { lanes.group->access_global(lanes, s); }
void access_shared(const Lanes& lanes, const Step& s) { lanes.group->access_shared(lanes, s); }
void access_lane(const Lanes& lanes, const Step& s) { lanes.group->access_lane(lanes, s); }

std::string text_of(const Access& a)
{
    return std::string(a.stores ? "writes " : "reads ") + std::to_string(a.bytes) + " bytes (%" +
           std::to_string(a.id) + ")";
}

// T is what memory holds, Register what a register holds.
template <class T, class Register>
void move_part(const Lanes& lanes, std::byte* const* places, const Access& a, const Access::Part& part)
{
    Register* registers = lanes.at<Register>(part.slot);
    std::uint32_t i = 0;
    if (a.stores)
        lanes.each([&](std::uint32_t lane) {
            const T v = static_cast<T>(registers[lane]);
            std::memcpy(places[i++] + part.offset, &v, sizeof v);
        });
    else
        lanes.each([&](std::uint32_t lane) {
            T v;
            std::memcpy(&v, places[i++] + part.offset, sizeof v);
            registers[lane] = v;
        });
}

} // namespace

void displace(const Lanes& lanes, const Step& s)
{
    const auto* in = lanes.at<const std::uint64_t>(s.in[0]);
    auto* out = lanes.at<std::uint64_t>(s.out);
    lanes.each([&](std::uint32_t lane) { out[lane] = in[lane] + s.extra; });
}
void advance(const Lanes& lanes, const Step& s)
{
    const auto* in = lanes.at<const std::uint64_t>(s.in[0]);
    const auto* index = lanes.at<const std::int32_t>(s.in[1]);
    auto* out = lanes.at<std::uint64_t>(s.out);
    lanes.each([&](std::uint32_t lane) {
        out[lane] = in[lane] + static_cast<std::uint64_t>(std::int64_t{index[lane]} * std::int64_t{s.extra});
    });
}
void advance_by_long(const Lanes& lanes, const Step& s)
{
    const auto *in = lanes.at<const std::uint64_t>(s.in[0]), *index = lanes.at<const std::uint64_t>(s.in[1]);
    auto* out = lanes.at<std::uint64_t>(s.out);
    lanes.each([&](std::uint32_t lane) { out[lane] = in[lane] + index[lane] * s.extra; });
}
void first_offset(const Lanes& lanes, const Step& s)
{
    const auto* index = lanes.at<const std::uint32_t>(s.in[0]);
    auto* out = lanes.at<std::uint32_t>(s.out);
    lanes.each([&](std::uint32_t lane) { out[lane] = index[lane] * s.extra; });
}
void move_offset(const Lanes& lanes, const Step& s)
{
    const auto *index = lanes.at<const std::uint32_t>(s.in[0]), *in = lanes.at<const std::uint32_t>(s.in[1]);
    auto* out = lanes.at<std::uint32_t>(s.out);
    lanes.each([&](std::uint32_t lane) { out[lane] = in[lane] + index[lane] * s.extra; });
}

Step::Function access_function(const Access& a)
{
    if (a.memory == Access::Memory::global) return access_global;
    return a.memory == Access::Memory::shared ? access_shared : access_lane;
}

void wait_for_all(const Lanes& lanes, const Step&) { lanes.group->pass_barrier(lanes); }

// ---- The parts of a group that access memory ----

// Checks an access, and returns its place in memory.
std::byte* Group::resolve(const Access& a, std::uint64_t address, std::uint32_t lane)
{
    Region* region = launch_.region(address);
    if (!region) fail(lane, text_of(a) + " at an address that no operand has");
    const std::uint64_t offset = untagged(address) - region->begin;
    const auto place = [&] {
        return text_of(a) + " at byte " + std::to_string(static_cast<std::int64_t>(offset - region->before)) +
               " of " + launch_.describe(*region);
    };
    if (offset > region->bytes || a.bytes > region->bytes - offset || (a.stores && offset < region->before))
        fail(lane, place());
    if (a.stores && !region->writes) fail(lane, place() + ", which its launch does not declare");
    if (address % a.alignment != 0)
        fail(lane, place() + ", which is not aligned to " + std::to_string(a.alignment));
    if (region->races) {
        const std::uint64_t first = (offset + region->races_offset) / program_.unit;
        const std::uint64_t last = (offset + region->races_offset + a.bytes - 1) / program_.unit + 1;
        GlobalRaces::Word* words = region->races->data();
        const std::uint32_t number = (x_ + y_ * launch_.width()) * program_.lanes + lane + 1;
        // A lane may read again what it wrote.
        if (!a.stores && !region->reads && !GlobalRaces::wrote(words + first, words + last, number))
            fail(lane, place() + ", which its launch does not declare");
        const auto conflict = a.stores ? GlobalRaces::write(words + first, words + last, number)
                                       : GlobalRaces::read(words + first, words + last, number);
        if (conflict) {
            std::string other = "several lanes";
            if (conflict->lane != GlobalRaces::several)
                other = "lane " + std::to_string((conflict->lane - 1) % program_.lanes) + " of workgroup " +
                        std::to_string((conflict->lane - 1) / program_.lanes);
            fail(lane, place() + ", which " + other + (conflict->written ? " writes" : " reads") +
                           " in the same launch");
        }
    }
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(region->begin + offset));
}

void Group::move_parts(const Access& a, const Lanes& lanes)
{
    for (const Access::Part& part : a.parts) {
        if (is_wide(part.scalar)) move_part<std::uint64_t, std::uint64_t>(lanes, places_.data(), a, part);
        else if (bytes_of(part.scalar) == 2)
            move_part<std::uint16_t, std::uint32_t>(lanes, places_.data(), a, part);
        else move_part<std::uint32_t, std::uint32_t>(lanes, places_.data(), a, part);
    }
}

void Group::access_global(const Lanes& lanes, const Step& s)
{
    const Access& a = access(s);
    const auto* in = lanes.at<const std::uint64_t>(s.in[0]);
    places_.clear();
    addresses_.clear();
    lanes.each([&](std::uint32_t lane) {
        const std::uint64_t address = in[lane] + a.displacement;
        if (!addresses_.empty() && address == addresses_.back() && !a.stores &&
            !launch_.region(address)->races)
            places_.push_back(places_.back());
        else places_.push_back(resolve(a, address, lane));
        addresses_.push_back(address);
    });
    if (launch_.counts()) {
        const std::uint64_t operand = addresses_.front() >> operand_shift;
        if (operand != launch_.record_number())
            launch_.counts()->count_global(s.extra, a, operand, lanes, addresses_);
    }
    move_parts(a, lanes);
}

void Group::access_shared(const Lanes& lanes, const Step& s)
{
    const Access& a = access(s);
    const std::uint32_t* in = a.has_index ? lanes.at<const std::uint32_t>(s.in[0]) : nullptr;
    places_.clear();
    addresses_.clear();
    lanes.each([&](std::uint32_t lane) {
        const std::uint32_t within = a.displacement + (in ? in[lane] : 0);
        const auto where = [&] {
            return text_of(a) + " at byte " + std::to_string(within) + " of shared memory";
        };
        if (within > a.end - a.begin || a.bytes > a.end - a.begin - within)
            fail(lane, where() + ", whose variable has " + std::to_string(a.end - a.begin));
        const std::uint32_t offset = a.begin + within;
        if (!a.stores && !shared_races_.is_written(offset, a.bytes))
            fail(lane, where() + ", which no lane has written");
        const auto conflict =
            a.stores ? shared_races_.write(lane, offset, a.bytes) : shared_races_.read(lane, offset, a.bytes);
        if (conflict)
            fail(lane,
                 where() + ", which " +
                     (conflict->lane == 0xFFFF ? "several lanes" : "lane " + std::to_string(conflict->lane)) +
                     (conflict->written ? " writes" : " reads") + " without a barrier between");
        places_.push_back(shared_.data() + offset);
        addresses_.push_back(offset);
    });
    if (launch_.counts()) launch_.counts()->count_shared(s.extra, a, lanes, addresses_);
    move_parts(a, lanes);
}

// The words of a lane's variable are registers.
void Group::access_lane(const Lanes& lanes, const Step& s)
{
    const Access& a = access(s);
    const std::uint32_t* in = a.has_index ? lanes.at<const std::uint32_t>(s.in[0]) : nullptr;
    auto* const words = lanes.at<std::uint32_t>(a.begin);
    lanes.each([&](std::uint32_t lane) {
        const std::uint32_t first = a.displacement + (in ? in[lane] : 0);
        if (first > a.end || a.bytes > a.end - first)
            fail(lane, text_of(a) + " at byte " + std::to_string(first) + " of a variable that has " +
                           std::to_string(a.end));
        for (const Access::Part& part : a.parts) {
            std::uint32_t* word = words + std::size_t{(first + part.offset) / 4} * lanes.size + lane;
            auto* value = lanes.registers + part.slot + std::size_t{lane} * register_bytes(part.scalar);
            for (std::uint32_t i = 0; i < register_bytes(part.scalar) / 4;
                 ++i, word += lanes.size, value += 4)
                if (a.stores) std::memcpy(word, value, 4);
                else std::memcpy(value, word, 4);
        }
    });
}

} // namespace reprise::simulator
