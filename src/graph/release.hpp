// Destroys chains of objects of any length without recursion.
#pragma once
#include <utility>
#include <vector>

namespace reprise::graph {

// Called by the destructor of an object that may be the last owner of others of its type.  `collect` moves these
// references into the list that it gets.  The outermost such destructor on this thread's stack releases them one after
// the other, so that none recurses.
template <class Pointer, class Collect> void release_in_turn(const Collect& collect)
{
    using List = std::vector<Pointer>;
    thread_local List* releasing = nullptr;
    if (releasing) return collect(*releasing);
    List list;
    collect(list);
    if (list.empty()) return;
    releasing = &list;
    while (!list.empty()) {
        const Pointer last = std::move(list.back());
        list.pop_back();
    }
    releasing = nullptr;
}

} // namespace reprise::graph
