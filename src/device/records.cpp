#include "device/records.hpp"
#include <cstring>
#include <reprise/error.hpp>

namespace reprise::device {

namespace {

struct OperandRecord { // abi.glsl: Operand
    Address address;
    std::uint32_t texel; // index in the slab's texel view; 0 outside of the slab
    std::uint32_t units; // of 16 bytes
};
static_assert(sizeof(OperandRecord) == 16);

} // namespace

Records::Records(std::span<const LaunchDeclaration> launches, std::uint64_t head) : head_(head)
{
    entries_.reserve(launches.size());
    for (const LaunchDeclaration& launch : launches) {
        const auto operands = static_cast<std::uint32_t>(launch.operands.size());
        const bool doubles = launch.kernel.doubles;
        entries_.push_back({bytes_, operands, launch.floats, launch.ints, doubles});
        const std::uint64_t record = 16 * std::uint64_t{operands} +
                                     (doubles ? 8 : 4) * std::uint64_t{launch.floats} +
                                     4 * std::uint64_t{launch.ints};
        bytes_ += head_ + (record + 15) / 16 * 16;
    }
}

void Records::check(std::uint32_t launch, const LaunchArguments& a) const
{
    if (launch >= entries_.size() || a.operands.size() != entries_[launch].operands ||
        a.floats.size() != entries_[launch].floats || a.ints.size() != entries_[launch].ints) {
        fail_counts(launch, a);
    }
}

void Records::write(std::byte* block, std::uint32_t launch, const LaunchArguments& a, Address slab,
                    std::uint64_t slab_bytes) const
{
    check(launch, a);
    std::byte* to = block + offset(launch);
    for (const Operand& operand : a.operands) {
        const std::uint64_t within = operand.address - slab; // wraps below the slab
        const OperandRecord record{operand.address,
                                   within < slab_bytes ? static_cast<std::uint32_t>(within / 16) : 0,
                                   static_cast<std::uint32_t>((operand.bytes + 15) / 16)};
        std::memcpy(to, &record, sizeof record);
        to += sizeof record;
    }
    if (entries_[launch].doubles && !a.floats.empty()) {
        std::memcpy(to, a.floats.data(), a.floats.size_bytes());
        to += a.floats.size_bytes();
    } else
        for (const double value : a.floats) {
            const auto rounded = static_cast<float>(value);
            std::memcpy(to, &rounded, 4);
            to += 4;
        }
    if (!a.ints.empty()) {
        std::memcpy(to, a.ints.data(), a.ints.size_bytes());
    }
}

void Records::fail_counts(std::uint32_t launch, const LaunchArguments& a) const
{
    if (launch >= entries_.size()) {
        reprise::detail::fail(ErrorKind::internal, "set", "The recording has (", entries_.size(),
                              ") launches and no number (", launch, ").");
    }
    const Entry& e = entries_[launch];
    reprise::detail::fail(ErrorKind::internal, "set", "Launch (", launch, ") declares (", e.operands, ", ",
                          e.floats, ", ", e.ints, ") operands, floats and ints and was given (",
                          a.operands.size(), ", ", a.floats.size(), ", ", a.ints.size(), ").");
}

} // namespace reprise::device
