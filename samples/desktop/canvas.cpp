#include "canvas.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <reprise/vulkan.hpp>

#include "barriers.hpp"

namespace rp = reprise;

namespace desktop {

namespace {

constexpr VkFormat format = VK_FORMAT_R32G32B32A32_SFLOAT;
constexpr Use copy_wait{VK_PIPELINE_STAGE_TRANSFER_BIT, 0};
constexpr Use copy_write{VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT};
constexpr Use copy_read{VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT};

} // namespace

Canvas::Canvas(const Gpu& gpu, std::int64_t width, std::int64_t height)
    : gpu_(gpu), width_(static_cast<std::uint32_t>(width)), height_(static_cast<std::uint32_t>(height))
{
    VkFormatProperties properties{};
    vkGetPhysicalDeviceFormatProperties(gpu.physical(), format, &properties);
    if (properties.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT)
        filter_ = VK_FILTER_LINEAR;
    VkImageCreateInfo info{.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = {width_, height_, 1};
    info.mipLevels = 1;
    info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.tiling = VK_IMAGE_TILING_OPTIMAL;
    info.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    info.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    image_ = created<Image>("vkCreateImage", vkCreateImage, gpu.device(), info);
    VkMemoryRequirements needed{};
    vkGetImageMemoryRequirements(gpu.device(), image_, &needed);
    memory_ = gpu.allocate(needed, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    check(vkBindImageMemory(gpu.device(), image_, memory_, 0), "vkBindImageMemory");
}

void Canvas::fill(Frames& frames, const std::vector<rp::Tensor>& bands, bool on_this_device)
{
    if (!on_this_device) {
        std::vector<float> rgba;
        for (const rp::Tensor& band : bands) {
            const std::vector<float> part = band.to_vector<float>();
            rgba.insert(rgba.end(), part.begin(), part.end());
        }
        return fill(frames, rgba);
    }
    std::vector<Band> from;
    for (const rp::Tensor& band : bands) {
        const rp::vulkan::TensorBuffer at = rp::vulkan::buffer_of(band);
        from.push_back(
            {static_cast<VkBuffer>(at.buffer), at.offset, static_cast<std::uint32_t>(band.size(0).value())});
    }
    // The library gives the memory to other tensors once these are gone.
    frames.keep(std::make_shared<const std::vector<rp::Tensor>>(bands));
    copy(frames.commands(), from);
}

void Canvas::fill(Frames& frames, const std::vector<float>& rgba)
{
    const auto pixels = std::make_shared<HostBuffer>(
        gpu_.host_buffer(rgba.size() * sizeof(float), VK_BUFFER_USAGE_TRANSFER_SRC_BIT));
    std::memcpy(pixels->data, rgba.data(), rgba.size() * sizeof(float));
    frames.keep(pixels);
    copy(frames.commands(), {{pixels->buffer, 0, height_}});
}

void Canvas::copy(VkCommandBuffer commands, const std::vector<Band>& bands)
{
    // The library's work is earlier in the same queue, so a barrier makes the tensors visible.
    barrier(commands, {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT}, copy_read);
    barrier(commands, image_, copy_wait, VK_IMAGE_LAYOUT_UNDEFINED, copy_write,
            VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    std::uint32_t row = 0;
    for (const Band& band : bands) {
        VkBufferImageCopy region{};
        region.bufferOffset = band.offset;
        region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        region.imageOffset.y = static_cast<std::int32_t>(row);
        region.imageExtent = {width_, band.rows, 1};
        vkCmdCopyBufferToImage(commands, band.buffer, image_, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1,
                               &region);
        row += band.rows;
    }
    barrier(commands, image_, copy_write, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, copy_read,
            VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    is_filled_ = true;
}

void Canvas::draw(Frames& frames, const Rect& r)
{
    if (!is_filled_) return;
    const auto pixel = [](float at, std::uint32_t size) {
        return std::clamp(static_cast<std::int32_t>(std::lround(at)), 0, static_cast<std::int32_t>(size));
    };
    const VkExtent2D extent = frames.extent();
    const std::int32_t left = pixel(r.x, extent.width), right = pixel(r.x + r.width, extent.width);
    const std::int32_t top = pixel(r.y, extent.height), bottom = pixel(r.y + r.height, extent.height);
    if (left >= right || top >= bottom) return;
    VkImageBlit blit{};
    blit.srcSubresource = blit.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    blit.srcOffsets[1] = {static_cast<std::int32_t>(width_), static_cast<std::int32_t>(height_), 1};
    blit.dstOffsets[0] = {left, top, 0};
    blit.dstOffsets[1] = {right, bottom, 1};
    barrier(frames.commands(), copy_write, copy_write); // pictures may lie on one another
    vkCmdBlitImage(frames.commands(), image_, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, frames.image(),
                   VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &blit, filter_);
}

} // namespace desktop
