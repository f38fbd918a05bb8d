#include "base/library.hpp"

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace reprise::detail {

#ifdef _WIN32

Library::Library(const std::vector<std::string>& names)
{
    for (const std::string& name : names) {
        if ((handle_ = LoadLibraryA(name.c_str()))) return;
        error_ = name + " was not found (error " + std::to_string(GetLastError()) + ")";
    }
}

void* Library::address_of(const char* name) const
{
    return handle_ ? reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name)) : nullptr;
}

#else

Library::Library(const std::vector<std::string>& names)
{
    for (const std::string& name : names) {
        if ((handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))) return;
        const char* said = dlerror();
        error_ = said ? said : name + " was not found";
    }
}

void* Library::address_of(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

#endif

} // namespace reprise::detail
