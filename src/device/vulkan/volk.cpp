// The loader's functions (volk), compiled in: the Vulkan library itself is opened at run time.
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wcast-function-type"
#endif
#include <volk.c>
