// What the library uses of the process that it is linked into, beside what a call names.
#pragma once

namespace reprise {

// For set_process_options().
struct ProcessOptions {
    // Whether the library reads environment variables, which docs/install.md lists.  If not, the default device is the
    // best one, and compiled kernels are kept in a file only if set_cache_directory() names a folder.
    bool environment = true;
    // Whether pipelines are compiled on a thread for each core.  These threads end before the call that compiles
    // returns, such as record().  If not, that call compiles one pipeline after the other.
    bool threads = true;
};

// Sets what the library uses from now on.  Call it before all else of the library: a device that is open, or a check
// of indices that has begun, keeps what the environment said.  The library has no signal handlers, and no other threads
// than these and those of a data::DataLoader with workers.  Drivers and the loader of Vulkan have variables,
// threads and files of their own.
void set_process_options(const ProcessOptions&);

} // namespace reprise
