// Replaces src/device/cuda/ in a build without the CUDA toolkit.
#ifndef REPRISE_HAS_CUDA
#include "device/cuda/cuda_device.hpp"
#include "device/cuda_compiler.hpp"
#include <reprise/error.hpp>

namespace reprise::device::cuda {

std::vector<Listed> find_devices()
{
    return {{.capabilities = {.id = "cuda", .name = "NVIDIA CUDA"},
             .refused = "this build has no CUDA, as no toolkit was found when it was made"}};
}

std::string product_library() { return ""; }

std::shared_ptr<Device> open_device(std::size_t number, const DeviceOptions&)
{
    reprise::detail::fail(ErrorKind::device, "open", "The device (cuda:", number,
                          ") was not found: this build has no CUDA.");
}

const std::string& compiler_missing()
{
    static const std::string reason = "this build has no CUDA";
    return reason;
}

std::string compiler_version() { return "none"; }

std::vector<std::uint32_t> compile(const std::string& name, const std::string&,
                                   std::span<const std::pair<std::string, std::string>>, std::uint32_t)
{
    reprise::detail::fail(ErrorKind::unsupported, name.c_str(),
                          "The kernel can't be compiled: ", compiler_missing(), ".");
}

} // namespace reprise::device::cuda
#endif
