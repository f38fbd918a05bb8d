#include "run.hpp"

#include <memory>

namespace reprise::test {

Floats run(simulator::Simulator& device, const Run& r)
{
    const std::uint64_t in = 4 * r.x.size(), out = 4 * r.results;
    // Both operands are in one allocation, with memory around each.
    const std::unique_ptr<device::Memory> memory = device.allocate(in + out + 768);
    const device::Operand x{memory->address + 256, in}, y{memory->address + 512 + in / 256 * 256, out};
    device.upload(x.address, std::as_bytes(std::span(r.x)));
    const device::LaunchDeclaration launch{
        .kernel = {.name = r.name,
                   .constants = r.constants,
                   .code = std::make_shared<const std::vector<std::uint32_t>>(r.code)},
        .operands = {device::Access::read, r.access_of_result},
        .ints = static_cast<std::uint32_t>(r.ints.size())};
    const std::unique_ptr<device::Recording> recording = device.record(std::span(&launch, 1), {});
    recording->begin();
    const device::Operand operands[] = {x, y};
    recording->set(0, {.operands = operands, .ints = r.ints, .groups = r.groups});
    recording->submit();
    Floats result(r.results);
    device.download(y.address, std::as_writable_bytes(std::span(result)));
    return result;
}

} // namespace reprise::test
