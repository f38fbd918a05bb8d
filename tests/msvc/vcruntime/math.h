#pragma once
#include_next <math.h>
#include <vcruntime.h>

// Microsoft's C library has templates for these macros.
#undef fpclassify
#undef signbit
#undef isfinite
#undef isinf
#undef isnan
#undef isnormal
#undef isgreater
#undef isgreaterequal
#undef isless
#undef islessequal
#undef islessgreater
#undef isunordered
extern "C++" {
template <class T> int fpclassify(T) noexcept;
template <class T> bool signbit(T) noexcept;
template <class T> bool isfinite(T) noexcept;
template <class T> bool isinf(T) noexcept;
template <class T> bool isnan(T) noexcept;
template <class T> bool isnormal(T) noexcept;
template <class T, class U> bool isgreater(T, U) noexcept;
template <class T, class U> bool isgreaterequal(T, U) noexcept;
template <class T, class U> bool isless(T, U) noexcept;
template <class T, class U> bool islessequal(T, U) noexcept;
template <class T, class U> bool islessgreater(T, U) noexcept;
template <class T, class U> bool isunordered(T, U) noexcept;
long abs(long) noexcept;
long long abs(long long) noexcept;
}
