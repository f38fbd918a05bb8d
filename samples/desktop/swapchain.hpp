// The images of the window, with what is needed to draw to them.
#pragma once
#include <vector>

#include "gpu.hpp"

namespace desktop {

class Swapchain {
public:
    // Throws std::runtime_error where images can't be copied to the surface.  The render pass keeps what is in an image
    // and leaves it in COLOR_ATTACHMENT_OPTIMAL.
    Swapchain(const Gpu&, VkSurfaceKHR, VkExtent2D extent, VkSwapchainKHR old = VK_NULL_HANDLE);

    struct Target {
        VkImage image = {};
        ImageView view{};
        Framebuffer framebuffer{};
        Semaphore rendered{}; // signalled once the image may be presented
    };
    VkSwapchainKHR handle() const { return handle_; }
    VkExtent2D extent() const { return extent_; }
    VkRenderPass render_pass() const { return render_pass_; }
    const Target& target(std::uint32_t index) const { return targets_[index]; }
    std::uint32_t images() const { return static_cast<std::uint32_t>(targets_.size()); }
    bool is_bgra() const { return format_.format == VK_FORMAT_B8G8R8A8_UNORM; } // else RGBA

private:
    void make_render_pass(const Gpu&);
    void make_targets(const Gpu&);

    VkSurfaceFormatKHR format_{};
    VkExtent2D extent_{};
    SwapchainHandle handle_;
    RenderPass render_pass_;
    std::vector<Target> targets_;
};

} // namespace desktop
