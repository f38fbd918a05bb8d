// What the library uses of the process that it is linked into.
#pragma once

namespace reprise {

// For set_process_options().
struct ProcessOptions {
    // Whether the library reads environment variables, which docs/install.md lists.  If not, the default device is the
    // best one, and compiled kernels are kept in a file only if set_cache_directory() names a folder.
    bool environment = true;
    // Whether pipelines are compiled on a thread for each core.  These threads end before the call that compiles
    // returns, such as record().  If not, that call compiles one pipeline after the other.  On software Vulkan drivers,
    // also whether large products and convolutions are computed by threads of the library (native code), which are
    // several times as fast as the driver's and round differently.
    bool threads = true;
};

// Sets what the library uses from now on.  Call it before any other function of the library: devices read their
// variables when they are opened, and the setting for index checks is read once.
//
// Beside these, a data::DataLoader with workers starts threads, a train::Interrupt handles signals while it exists, and
// one function is registered with std::atexit(), which closes devices.  Drivers, the Vulkan loader, NVRTC and cuBLASLt
// have variables, threads and files of their own.
void set_process_options(const ProcessOptions&);

} // namespace reprise
