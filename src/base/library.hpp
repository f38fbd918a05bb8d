// A shared library that is loaded at run time and never unloaded.
#pragma once
#include <string>
#include <vector>

namespace reprise::detail {

class Library {
public:
    // Loads the first of the names that the system finds.
    explicit Library(const std::vector<std::string>& names);

    explicit operator bool() const noexcept { return handle_ != nullptr; }
    const std::string& error() const noexcept { return error_; } // the system's message if none was found

    // Returns null if the library has no such function.
    template <class Function> Function* find(const char* name) const
    {
        return reinterpret_cast<Function*>(address_of(name));
    }

private:
    void* address_of(const char* name) const;

    void* handle_ = nullptr;
    std::string error_;
};

} // namespace reprise::detail
