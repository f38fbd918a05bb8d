#include "device/cuda/driver.hpp"
#include "base/library.hpp"

namespace reprise::device::cuda {

namespace {

#ifdef _WIN32
constexpr const char* library_name = "nvcuda.dll";
#else
constexpr const char* library_name = "libcuda.so.1";
#endif

constexpr int oldest = CUDA_VERSION / 1000 * 1000; // major version that the embedded kernels need

#define RP_TEXT_OF(name) #name
#define RP_TEXT(name) RP_TEXT_OF(name) // the versioned name, such as cuMemAlloc_v2, that cuda.h defines

} // namespace

std::variant<Driver, std::string> load_driver(const std::string& name)
{
    const reprise::detail::Library library({name});
    if (!library) return "NVIDIA's driver was not found: " + library.error();
    Driver d;
    std::string missing;
#define RP_CUDA_FUNCTION(name)                                                                               \
    d.name = library.find<std::remove_pointer_t<decltype(d.name)>>(RP_TEXT(name));                           \
    if (!d.name && missing.empty()) missing = RP_TEXT(name);
#include "device/cuda/driver_functions.def"
#undef RP_CUDA_FUNCTION
    if (d.cuDriverGetVersion && d.cuDriverGetVersion(&d.version) == CUDA_SUCCESS && d.version < oldest) {
        return "NVIDIA's driver serves CUDA " + version_text(d.version) +
               ", and this build needs one for CUDA " + version_text(oldest) + " or later: update the driver";
    }
    if (!missing.empty()) return "NVIDIA's driver has no " + missing + ": update the driver";
    const CUresult started = d.cuInit(0);
    if (started == CUDA_ERROR_NO_DEVICE) return "NVIDIA's driver finds no device";
    if (started != CUDA_SUCCESS) {
        const char* said = nullptr;
        d.cuGetErrorName(started, &said);
        return std::string("NVIDIA's driver does not start (") + (said ? said : "unknown error") + ")";
    }
    return d;
}

const std::variant<Driver, std::string>& driver()
{
    static const std::variant<Driver, std::string> loaded = load_driver(library_name);
    return loaded;
}

std::string version_text(int version)
{
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

} // namespace reprise::device::cuda
