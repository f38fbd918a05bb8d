#pragma once
#include <vcruntime.h>

typedef void (*terminate_handler)();
typedef void (*unexpected_handler)();
extern "C" {
[[noreturn]] void terminate() noexcept;
terminate_handler set_terminate(terminate_handler) noexcept;
terminate_handler _get_terminate() noexcept;
}
