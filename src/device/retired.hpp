#pragma once
#include "device/device.hpp"
#include <algorithm>
#include <mutex>

namespace reprise::device {

// Base of objects that the device may still be using: a queue destroys them once a ticket is done.
class Retired {
public:
    virtual ~Retired() = default;

private:
    friend class RetiredList;
    Ticket ticket_ = 0;
    std::unique_ptr<Retired> next_;
};

// The retired objects of a queue, first in, first out.  It never allocates, as destructors retire objects, and destroys
// objects without its lock, as their destructors return memory to pools.  Thread-safe.
class RetiredList {
public:
    RetiredList() = default;
    ~RetiredList()
    {
        collect([](Ticket) { return true; });
    }
    RetiredList(const RetiredList&) = delete;
    RetiredList& operator=(const RetiredList&) = delete;

    void push(Ticket ticket, std::unique_ptr<Retired> object) noexcept
    {
        const std::lock_guard lock(mutex_);
        object->ticket_ = ticket;
        Retired* const last = object.get();
        (last_ ? last_->next_ : first_) = std::move(object);
        last_ = last;
        ++size_;
    }
    // Destroys the objects at the front whose tickets are `done`.
    template <class Done> void collect(const Done& done) noexcept
    {
        for (;;) {
            std::unique_ptr<Retired> finished; // destroyed after the lock is released
            const std::lock_guard lock(mutex_);
            if (!first_ || !done(first_->ticket_)) return;
            finished = std::move(first_);
            first_ = std::move(finished->next_);
            if (!first_) last_ = nullptr;
            --size_;
        }
    }
    std::size_t size() const
    {
        const std::lock_guard lock(mutex_);
        return size_;
    }
    // Returns the ticket after which at most `max_count` objects are left; 0 if there are no more now.
    Ticket ticket_of_surplus(std::size_t max_count) const
    {
        const std::lock_guard lock(mutex_);
        Ticket ticket = 0;
        const Retired* object = first_.get();
        for (std::size_t left = size_; left > max_count; --left, object = object->next_.get())
            ticket = std::max(ticket, object->ticket_);
        return ticket;
    }

private:
    mutable std::mutex mutex_;
    std::unique_ptr<Retired> first_;
    Retired* last_ = nullptr; // null: the list is empty
    std::size_t size_ = 0;
};

} // namespace reprise::device
