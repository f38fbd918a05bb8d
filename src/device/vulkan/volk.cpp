// Compiles volk, the loader of Vulkan's functions: the Vulkan library itself is opened at run time.
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wcast-function-type"
#endif
#include <volk.c>
