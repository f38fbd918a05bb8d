// The frames of the window: each is drawn in a command buffer, submitted and presented; two may be in flight.
#pragma once
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "swapchain.hpp"
#include "window.hpp"

namespace desktop {

class Frames {
public:
    Frames(const Gpu&, const Window&, VkSurfaceKHR);
    ~Frames(); // waits until all of them are done
    Frames(const Frames&) = delete;
    Frames& operator=(const Frames&) = delete;

    // Begins a frame: waits until the one before the last is done.  False where the window has no area now.
    bool begin();
    // Between begin() and end(): the command buffer, the image that it draws to, in TRANSFER_DST_OPTIMAL until
    // begin_pass(), and its size.
    VkCommandBuffer commands() const { return slot().commands; }
    VkImage image() const { return swapchain_->target(image_).image; }
    VkExtent2D extent() const { return swapchain_->extent(); }
    void clear(); // fills the image with the background; before it is drawn to
    // Begins the render pass, after all copies.
    void begin_pass();
    // Submits the frame and presents it.
    void end();
    // Keeps something until the device has drawn this frame.
    void keep(std::shared_ptr<const void> object) { slot().kept.push_back(std::move(object)); }
    // Writes this frame to a PNG; waits for it in end().
    void save_png(std::filesystem::path path) { png_ = std::move(path); }

    // Mark, on the device, the work that others submit in this frame.
    void mark_begin();
    void mark_end();
    // Milliseconds from one mark to the other in the last frame that is done; empty where the device has no clock.
    std::optional<double> marked_milliseconds() const { return marked_; }

    VkRenderPass render_pass() const { return swapchain_->render_pass(); }
    std::uint32_t images() const { return swapchain_->images(); }

private:
    struct Slot {
        CommandPool pool;
        std::array<VkCommandBuffer, 2> marks{};
        VkCommandBuffer commands = nullptr;
        Fence done;
        Semaphore acquired;
        bool is_marked = false;
        std::vector<std::shared_ptr<const void>> kept;
    };
    Slot& slot() { return slots_[slot_]; }
    const Slot& slot() const { return slots_[slot_]; }
    void make_slot(Slot&);
    bool acquire();
    void finish(Slot&, std::uint32_t index);
    void mark(VkCommandBuffer, std::uint32_t query);
    HostBuffer read_image();

    const Gpu& gpu_;
    const Window& window_;
    VkSurfaceKHR surface_;
    std::optional<Swapchain> swapchain_;
    QueryPool times_; // two for each slot
    std::array<Slot, 2> slots_{};
    std::uint32_t slot_ = 0, image_ = 0;
    bool is_outdated_ = false; // the swapchain does not have the window's size
    std::optional<double> marked_;
    std::optional<std::filesystem::path> png_;
};

} // namespace desktop
