#include "swapchain.hpp"

#include <algorithm>

namespace desktop {

namespace {

VkSurfaceFormatKHR format_of(const Gpu& gpu, VkSurfaceKHR surface)
{
    std::uint32_t count = 0;
    check(vkGetPhysicalDeviceSurfaceFormatsKHR(gpu.physical(), surface, &count, nullptr),
          "vkGetSurfaceFormats");
    std::vector<VkSurfaceFormatKHR> formats(count);
    check(vkGetPhysicalDeviceSurfaceFormatsKHR(gpu.physical(), surface, &count, formats.data()),
          "vkGetSurfaceFormats");
    for (const VkFormat wanted : {VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_R8G8B8A8_UNORM})
        for (const VkSurfaceFormatKHR& format : formats)
            if (format.format == wanted) return format;
    throw std::runtime_error("The window has no format of 8 bits for each colour.");
}

} // namespace

Swapchain::Swapchain(const Gpu& gpu, VkSurfaceKHR surface, VkExtent2D extent, VkSwapchainKHR old)
    : format_(format_of(gpu, surface))
{
    VkSurfaceCapabilitiesKHR can{};
    check(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(gpu.physical(), surface, &can),
          "vkGetSurfaceCapabilities");
    constexpr VkImageUsageFlags copies = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    if ((can.supportedUsageFlags & copies) != copies)
        throw std::runtime_error("The driver can't copy pictures to the window.");
    extent_ = can.currentExtent;
    if (extent_.width == ~0U)
        extent_ = {std::clamp(extent.width, can.minImageExtent.width, can.maxImageExtent.width),
                   std::clamp(extent.height, can.minImageExtent.height, can.maxImageExtent.height)};

    VkSwapchainCreateInfoKHR info{.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
    info.surface = surface;
    info.minImageCount = std::max(3U, can.minImageCount);
    if (can.maxImageCount > 0) info.minImageCount = std::min(info.minImageCount, can.maxImageCount);
    info.imageFormat = format_.format;
    info.imageColorSpace = format_.colorSpace;
    info.imageExtent = extent_;
    info.imageArrayLayers = 1;
    info.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | copies;
    info.preTransform = can.currentTransform;
    info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
    info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
    info.clipped = VK_TRUE;
    info.oldSwapchain = old;
    handle_ = created<SwapchainHandle>("vkCreateSwapchainKHR", vkCreateSwapchainKHR, gpu.device(), info);
    make_render_pass(gpu);
    make_targets(gpu);
}

void Swapchain::make_render_pass(const Gpu& gpu)
{
    VkAttachmentDescription attachment{};
    attachment.format = format_.format;
    attachment.samples = VK_SAMPLE_COUNT_1_BIT;
    attachment.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
    attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    attachment.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
    attachment.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    attachment.initialLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    attachment.finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    const VkAttachmentReference colour{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass{};
    subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &colour;
    VkRenderPassCreateInfo info{.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
    info.attachmentCount = 1;
    info.pAttachments = &attachment;
    info.subpassCount = 1;
    info.pSubpasses = &subpass;
    render_pass_ = created<RenderPass>("vkCreateRenderPass", vkCreateRenderPass, gpu.device(), info);
}

void Swapchain::make_targets(const Gpu& gpu)
{
    std::uint32_t count = 0;
    check(vkGetSwapchainImagesKHR(gpu.device(), handle_, &count, nullptr), "vkGetSwapchainImagesKHR");
    std::vector<VkImage> images(count);
    check(vkGetSwapchainImagesKHR(gpu.device(), handle_, &count, images.data()), "vkGetSwapchainImagesKHR");
    for (const VkImage image : images) {
        Target target{.image = image};
        VkImageViewCreateInfo view{.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
        view.image = image;
        view.viewType = VK_IMAGE_VIEW_TYPE_2D;
        view.format = format_.format;
        view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        target.view = created<ImageView>("vkCreateImageView", vkCreateImageView, gpu.device(), view);
        VkFramebufferCreateInfo frame{.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
        frame.renderPass = render_pass_;
        frame.attachmentCount = 1;
        frame.pAttachments = target.view.address();
        frame.width = extent_.width;
        frame.height = extent_.height;
        frame.layers = 1;
        target.framebuffer =
            created<Framebuffer>("vkCreateFramebuffer", vkCreateFramebuffer, gpu.device(), frame);
        const VkSemaphoreCreateInfo semaphore{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
        target.rendered = created<Semaphore>("vkCreateSemaphore", vkCreateSemaphore, gpu.device(), semaphore);
        targets_.push_back(std::move(target));
    }
}

} // namespace desktop
