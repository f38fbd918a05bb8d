// What Microsoft's standard library expects of the headers of its compiler's runtime, declared for scripts/check_msvc.
// The C library's headers are those of mingw-w64.  Nothing here can be linked.
#pragma once
#include <vadefs.h>

#include <crtdefs.h>
#include <sal.h>

#define _HAS_EXCEPTIONS 1
#define _HAS_NODISCARD 1
#define _HAS_CXX17 1
#define _HAS_CXX20 1
#define _NODISCARD [[nodiscard]]
#define _MSVC_CONSTEXPR
#define _INLINE_VAR inline
#define _VCRTIMP
#define _ACRTIMP
#define _MRTIMP
#define _CRT_SATELLITE_1
#define _CRT_SATELLITE_2
#define _CRT_SATELLITE_CODECVT_IDS
#define _CRT_SATELLITE_CODECVT_IDS_NOIMPORT
#define _CRT_GUARDOVERFLOW
#define _CRT_SECURE_INVALID_PARAMETER(text) ((void)0)
#define _CRT_BEGIN_C_HEADER extern "C" {
#define _CRT_END_C_HEADER }
#define _CRT_WIDE_(text) L##text
#define _CRT_WIDE(text) _CRT_WIDE_(text)
#define _CRT_STRINGIZE_(text) #text
#define _CRT_STRINGIZE(text) _CRT_STRINGIZE_(text)
#define _CRT_CONCATENATE_(a, b) a##b
#define _CRT_CONCATENATE(a, b) _CRT_CONCATENATE_(a, b)
#define _CRT_UNPARENTHESIZE_(...) __VA_ARGS__
#define _CRT_UNPARENTHESIZE(...) _CRT_UNPARENTHESIZE_ __VA_ARGS__
#define _VCRUNTIME_DISABLED_WARNINGS 4514
#define _VCRUNTIME_EXTRA_DISABLED_WARNINGS
#define _Deref_post_opt_valid_
#define __CRTDECL __cdecl
#define __CLR_OR_THIS_CALL
#define __CLRCALL_OR_CDECL __cdecl
#define __CLRCALL_PURE_OR_CDECL __cdecl

// mingw-w64 places attributes where Microsoft's dialect refuses them, so these are removed.  It defines __attribute__
// as nothing, but Clang's intrinsics need it.
#undef __attribute__
#undef __MINGW_ATTRIB_DEPRECATED
#undef __MINGW_ATTRIB_NONNULL
#undef __MINGW_ATTRIB_NORETURN
#undef __MINGW_GNU_PRINTF
#undef __MINGW_GNU_SCANF
#undef __MINGW_MS_PRINTF
#undef __MINGW_MS_SCANF
#undef __MINGW_NOTHROW
#define __MINGW_ATTRIB_DEPRECATED
#define __MINGW_ATTRIB_NONNULL(argument)
#define __MINGW_ATTRIB_NORETURN
#define __MINGW_GNU_PRINTF(format, first)
#define __MINGW_GNU_SCANF(format, first)
#define __MINGW_MS_PRINTF(format, first)
#define __MINGW_MS_SCANF(format, first)
#define __MINGW_NOTHROW
