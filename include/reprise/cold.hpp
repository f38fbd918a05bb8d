// REPRISE_COLD marks functions that seldom run, so that compilers place the others closer together.
#pragma once

#if defined(__GNUC__)
#define REPRISE_COLD [[gnu::cold, gnu::noinline]]
#else
#define REPRISE_COLD
#endif
