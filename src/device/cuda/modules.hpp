// Kernels by name: of the embedded modules, which are loaded when one of their kernels is first used, of kernels that
// were compiled at run time, and of registered kernels.  Thread-safe.
#pragma once
#include "device/cuda/context.hpp"
#include "device/device.hpp"
#include <map>
#include <mutex>
#include <span>

namespace reprise::device::cuda {

// A kernel and its launch shape (cuda/common/kernel.cuh: LaunchShape).
struct Function {
    CUfunction handle = nullptr;
    std::uint32_t threads = 1; // per block
    std::uint32_t blocks = 1;  // per group
};

class Modules {
public:
    explicit Modules(Context& context) : context_(context) {}
    ~Modules();
    Modules(const Modules&) = delete;
    Modules& operator=(const Modules&) = delete;

    // Throws Error(unsupported) if there is no kernel of a name.
    std::vector<Function> get(std::span<const LaunchDeclaration>);
    void add(const std::string& name, std::vector<std::uint32_t> image);

    std::uint64_t loaded() const; // modules
    std::uint64_t functions() const;

private:
    struct Entry {
        std::vector<std::uint32_t> image; // registered
        Function function;
    };
    Function get(const Kernel&);
    CUmodule load(const void* image);
    Function find(CUmodule, const std::string& name);

    Context& context_;
    mutable std::mutex mutex_;
    std::map<std::string, Entry> entries_;
    std::map<std::uint32_t, CUmodule> embedded_; // by number
    std::vector<CUmodule> modules_;              // all loaded ones
};

} // namespace reprise::device::cuda
