// Kernels by name: of the modules inside the library, loaded when one of theirs is first needed, of kernels that were
// made at run time, and of those that were registered.  Thread-safe.
#pragma once
#include "device/cuda/context.hpp"
#include "device/device.hpp"
#include <map>
#include <mutex>
#include <span>

namespace reprise::device::cuda {

// What launches of a kernel look like (cuda/common/kernel.cuh: LaunchShape).
struct Function {
    CUfunction handle = nullptr;
    std::uint32_t threads = 1; // of a block
    std::uint32_t blocks = 1;  // of a group
};

class Modules {
public:
    explicit Modules(Context& context) : context_(context) {}
    ~Modules();
    Modules(const Modules&) = delete;
    Modules& operator=(const Modules&) = delete;

    // Throws Error(unsupported) for a name that nothing has.
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
    std::vector<CUmodule> modules_;              // all
};

} // namespace reprise::device::cuda
