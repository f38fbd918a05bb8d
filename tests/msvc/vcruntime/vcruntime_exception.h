#pragma once
#include <eh.h>

namespace std {
class exception {
public:
    exception() noexcept = default;
    explicit exception(const char*) noexcept;
    exception(const char*, int) noexcept;
    exception(const exception&) noexcept;
    exception& operator=(const exception&) noexcept;
    virtual ~exception() noexcept;
    virtual const char* what() const;
};
class bad_exception : public exception {};
class bad_alloc : public exception {
public:
    bad_alloc() noexcept = default;

protected:
    explicit bad_alloc(const char*) noexcept;
};
class bad_array_new_length : public bad_alloc {};
} // namespace std
