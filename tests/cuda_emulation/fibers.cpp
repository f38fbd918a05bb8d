#include "fibers.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include <sys/mman.h>
#ifndef __x86_64__
#include <ucontext.h>
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#include "cuda_emulation/kernel.hpp"

namespace cuda_emulation {

namespace {

constexpr std::size_t stack_bytes = 256 << 10, page_bytes = 4096;
constexpr unsigned lanes = 32;

#ifdef __x86_64__
// Saves what a call preserves on the stack, whose top goes to *from, and goes on where `to` was saved.  A system's
// swapcontext() asks the kernel for the signal mask each time.
extern "C" void cuda_emulation_switch(void** from, void* to);
asm(".pushsection .text\n.globl cuda_emulation_switch\n.hidden cuda_emulation_switch\n.type "
    "cuda_emulation_switch, @function\ncuda_emulation_switch:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n"
    ".size cuda_emulation_switch, .-cuda_emulation_switch\n.popsection");

struct Place {
    void* top = nullptr;
    void prepare(char* stack, void (*entry)())
    {
        // entry() finds it as after a call: 8 bytes past 16.
        auto** words = reinterpret_cast<void**>(stack + stack_bytes) - 1;
        *words = nullptr;
        *--words = reinterpret_cast<void*>(entry);
        top = words - 6;
    }
    static void move(Place& from, Place& to) { cuda_emulation_switch(&from.top, to.top); }
};
#else
struct Place {
    ucontext_t context{};
    void prepare(char* stack, void (*entry)())
    {
        getcontext(&context);
        context.uc_stack = {stack, 0, stack_bytes};
        makecontext(&context, entry, 0);
    }
    static void move(Place& from, Place& to) { swapcontext(&from.context, &to.context); }
};
#endif

class Stack {
public:
    Stack()
        : at_(static_cast<char*>(mmap(nullptr, page_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)))
    {
        if (at_ == MAP_FAILED || mprotect(at_, page_bytes, PROT_NONE) != 0) std::abort();
    }
    ~Stack()
    {
        forget_marks(stack_bytes);
        munmap(at_, page_bytes + stack_bytes);
    }
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
    char* begin() const { return at_ + page_bytes; }
    // Of the address sanitizer, in the stack's last bytes: functions that never return leave theirs.
    void forget_marks([[maybe_unused]] std::size_t bytes) const
    {
#ifdef __SANITIZE_ADDRESS__
        ASAN_UNPOISON_MEMORY_REGION(begin() + stack_bytes - bytes, bytes);
#endif
    }

private:
    char* at_;
};

struct Fiber {
    Stack stack;
    Place place;
    const std::uint64_t* awaited = nullptr; // goes on when it is no longer `seen`
    std::uint64_t seen = 0;
    bool ended = true; // or given up
};

struct Warp {
    std::array<std::array<std::uint64_t, lanes>, 2> given{}; // by turns: who is ahead writes the other one
    std::uint64_t exchanges = 0;
    unsigned arrived = 0;
};

// One for a thread of the host, which runs what it waits for.
struct Block {
    std::vector<std::unique_ptr<Fiber>> fibers;
    std::vector<Warp> warps;
    unsigned threads = 0, arrived = 0, current = 0;
    std::uint64_t barriers = 0;
    const std::function<void()>* body = nullptr;
    Place scheduler;
    const void* scheduler_stack = nullptr; // of the address sanitizer
    std::size_t scheduler_bytes = 0;
};
// A plain pointer, which a thread that ends may still set, as objects of the library wait for work then: that block is
// never deleted.
thread_local Block* block = nullptr;
struct BlockOwner {
    ~BlockOwner()
    {
        delete block;
        block = nullptr;
    }
    void make() { block = new Block; }
};
thread_local BlockOwner block_owner;

// The address sanitizer is told which stack is in use.
void enter(Fiber& f)
{
#ifdef __SANITIZE_ADDRESS__
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, f.stack.begin(), stack_bytes);
    Place::move(block->scheduler, f.place);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#else
    Place::move(block->scheduler, f.place);
#endif
}

void begun()
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(nullptr, &block->scheduler_stack, &block->scheduler_bytes);
#endif
}

void leave(Fiber& f)
{
#ifdef __SANITIZE_ADDRESS__
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(f.ended ? nullptr : &fake, block->scheduler_stack, block->scheduler_bytes);
    Place::move(f.place, block->scheduler);
    __sanitizer_finish_switch_fiber(fake, &block->scheduler_stack, &block->scheduler_bytes);
#else
    Place::move(f.place, block->scheduler);
#endif
}

void fiber_main()
{
    begun();
    (*block->body)();
    Fiber& f = *block->fibers[block->current];
    f.ended = true;
    leave(f);
    std::abort(); // nobody goes on here
}

// Until `count` is another than it is now.
void wait_for(const std::uint64_t& count)
{
    Fiber& f = *block->fibers[block->current];
    f.awaited = &count;
    f.seen = count;
    leave(f);
}

} // namespace

void sync_block()
{
    if (!block || !block->body)
        std::abort(); // threads of a kernel without shared memory run one after the other
    if (++block->arrived < block->threads) return wait_for(block->barriers);
    block->arrived = 0;
    ++block->barriers;
}

const std::uint64_t* exchange(std::uint64_t mine)
{
    Warp& w = block->warps[block->current / lanes];
    auto& given = w.given[w.exchanges % 2];
    given[block->current % lanes] = mine;
    if (++w.arrived < lanes) {
        wait_for(w.exchanges);
    } else {
        w.arrived = 0;
        ++w.exchanges;
    }
    return given.data();
}

std::uint64_t block_number = 0;

bool run_block(unsigned threads, bool backwards, const std::function<void()>& thread)
{
    if (!block) block_owner.make();
    ++block_number;
    while (block->fibers.size() < threads) block->fibers.push_back(std::make_unique<Fiber>());
    block->warps.assign(threads / lanes, Warp());
    block->threads = threads;
    block->arrived = 0;
    block->body = &thread;
    for (unsigned i = 0; i < threads; ++i) {
        Fiber& f = *block->fibers[i];
        f.stack.forget_marks(f.ended ? page_bytes : stack_bytes); // one that was given up was anywhere
        f.awaited = nullptr;
        f.ended = false;
        f.place.prepare(f.stack.begin(), fiber_main);
    }
    unsigned left = threads;
    while (left > 0) {
        bool moved = false;
        for (unsigned i = 0; i < threads; ++i) {
            block->current = backwards ? threads - 1 - i : i;
            Fiber& f = *block->fibers[block->current];
            if (f.ended || (f.awaited && *f.awaited == f.seen)) continue;
            f.awaited = nullptr;
            threadIdx.x = block->current;
            enter(f);
            if (f.ended) --left;
            moved = true;
        }
        if (!moved) break;
    }
    block->body = nullptr;
    return left == 0;
}

} // namespace cuda_emulation
