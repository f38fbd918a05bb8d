// What a layer keeps, until it is released.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::checkpointing {

class Kept {
public:
    explicit Kept(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {}

    std::optional<std::vector<Tensor>> tensors() const // none: released
    {
        const std::lock_guard lock(mutex_);
        return tensors_;
    }
    void release()
    {
        std::optional<std::vector<Tensor>> gone; // without the lock
        const std::lock_guard lock(mutex_);
        gone.swap(tensors_);
    }

private:
    mutable std::mutex mutex_; // backward passes of several threads may come by
    std::optional<std::vector<Tensor>> tensors_;
};

} // namespace reprise::checkpointing
