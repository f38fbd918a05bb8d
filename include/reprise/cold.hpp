// REPRISE_COLD: of functions that seldom run, so that what does run lies closer together.
#pragma once

#if defined(__GNUC__)
#define REPRISE_COLD [[gnu::cold, gnu::noinline]]
#else
#define REPRISE_COLD
#endif
