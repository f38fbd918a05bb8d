// Running on an application's own Vulkan device, and sharing buffers and semaphores with it.  Vulkan's handles
// are passed as void pointers, so this header needs no Vulkan headers.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/tensor.hpp>

namespace reprise::vulkan {

// The features that a VkDevice must enable for the library, with optional ones that the physical device
// supports.  Instance and device must be of Vulkan 1.2 or later.
class RequiredFeatures {
public:
    // Takes a VkInstance and a VkPhysicalDevice.  Error(unsupported), which names the features that the device lacks.
    RequiredFeatures(void* instance, void* physical_device);
    // A VkPhysicalDeviceFeatures2 with its chain, for VkDeviceCreateInfo::pNext; valid while this object
    // exists.
    const void* chain() const;
    // Only for the library itself.
    const std::shared_ptr<void>& implementation() const { return implementation_; }

private:
    std::shared_ptr<void> implementation_;
};

// The application's Vulkan objects, for make_device().
struct Handles {
    void* instance = nullptr;        // a VkInstance; all four objects must outlive the Device made on them
    void* physical_device = nullptr; // the VkPhysicalDevice
    void* device = nullptr;          // the VkDevice
    void* queue = nullptr;           // a VkQueue of a family with VK_QUEUE_COMPUTE_BIT
    std::uint32_t queue_family = 0;  // the queue's family index
    // The features that the VkDevice was created with.  Null: only the required ones, with which most of the
    // library's kernels cannot run, as they access the device's memory through an array of 16 storage
    // buffers.
    const RequiredFeatures* enabled = nullptr;
    // Called before each submission of the library, for an application that uses the queue, too.  May be null.
    std::function<void()> lock_queue{};
    std::function<void()> unlock_queue{}; // called after each submission of the library; may be null
    // Puts a barrier between all launches, which makes calls slower.  For runs with synchronization validation, which
    // knows the buffers that a launch binds, but not the parts of them that its kernel accesses: without barriers it
    // reports launches that write different parts of one buffer side by side.
    bool barrier_per_launch = false;
};

// Creates a Device for an application's VkDevice.  Error(unsupported) where the device lacks a feature,
// Error(argument) for null handles.
Device make_device(const Handles&);

// Where a tensor's elements are.
struct TensorBuffer {
    void* buffer = nullptr;    // a VkBuffer for storage, copies and texel views; it has other tensors, too
    std::uint64_t offset = 0;  // bytes from the start of the buffer to the first element; a multiple of 16
    std::uint64_t bytes = 0;   // of the elements, row-major
    void* semaphore = nullptr; // a timeline VkSemaphore that only the library signals
    std::uint64_t value = 0;   // the semaphore has reached it once the elements are written
};
// Returns the buffer range of a tensor on a Vulkan device, without a copy.  Computes the tensor if it is pending,
// and hands the driver all work that is queued up to it, for which it waits until earlier slices are done
// (Device::set_slice); it does not wait for a result that Tensor::is_ready().  The application may read the range
// after waiting for the semaphore; on the device's queue a memory barrier is enough.  The range belongs to the
// tensor: keep the tensor until the reads are done, and pass wait_for() a semaphore of theirs before a program
// updates the tensor in place.  Error(argument) for a view that is not row-major from the start of its memory: take a
// clone().  Error(unsupported) for a tensor on another type of device.
TensorBuffer buffer_of(const Tensor&);

// Returns a tensor of these sizes, row-major, in a buffer of the application, from `offset` in bytes, a multiple of
// 16.  The VkBuffer was created on the device with usage STORAGE_BUFFER, SHADER_DEVICE_ADDRESS, TRANSFER_SRC and
// TRANSFER_DST, of memory allocated with VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT; it must outlive the tensor, its
// views and all work that uses them.  `buffer_bytes` is its size.  Kernels store 16 bytes at a time: the tensor takes
// its bytes rounded up to a multiple of 16.  It must not overlap what a call that reads or writes it writes through
// another tensor.  Kernels access it by its address, which is slower on drivers for CPUs.  Work that is submitted
// later sees what the application wrote before; wait_for() orders other queues.  Error(argument) if the range does
// not fit, Error(unsupported) except on Vulkan devices.
Tensor from_buffer(const Device&, void* buffer, std::uint64_t buffer_bytes, std::uint64_t offset,
                   const std::vector<std::int64_t>& sizes, DType dtype = f32);

// Makes all work that is submitted to the device from now on wait until the application's timeline VkSemaphore
// reaches the value.  If the application submits the signal to the device's own queue, it does so before this call.
// Signal it before the device is destroyed.  Error(unsupported) except on Vulkan devices.
void wait_for(const Device&, void* semaphore, std::uint64_t value);
// Sets the application's timeline VkSemaphore to the value once all work that has been submitted to the device is
// done.  With Device::set_slice() it is queued behind that work.  Error(unsupported) except on Vulkan devices.
void signal(const Device&, void* semaphore, std::uint64_t value);

} // namespace reprise::vulkan
