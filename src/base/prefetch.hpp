// Asks for memory ahead of its use.
#pragma once

namespace reprise {

inline void prefetch(const void* p)
{
#ifdef __GNUC__
    __builtin_prefetch(p);
#else
    static_cast<void>(p);
#endif
}

inline void prefetch_to_write(const void* p)
{
#ifdef __GNUC__
    __builtin_prefetch(p, 1);
#else
    static_cast<void>(p);
#endif
}

} // namespace reprise
