// The tensors that a layer stores until it releases them.
#pragma once
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::checkpointing {

class Kept {
public:
    explicit Kept(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {}

    std::optional<std::vector<Tensor>> tensors() const // nullopt: released
    {
        const std::lock_guard lock(mutex_);
        return tensors_;
    }
    void release()
    {
        std::optional<std::vector<Tensor>> released; // destroyed after the lock is released
        const std::lock_guard lock(mutex_);
        released.swap(tensors_);
    }

private:
    mutable std::mutex mutex_; // several threads may run backward passes
    std::optional<std::vector<Tensor>> tensors_;
};

} // namespace reprise::checkpointing
