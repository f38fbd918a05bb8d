#include "frames.hpp"

#include "barriers.hpp"
#include "picture.hpp"

namespace desktop {

namespace {

constexpr Use copy_wait{VK_PIPELINE_STAGE_TRANSFER_BIT, 0};
constexpr Use copy_write{VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT};
constexpr Use copy_read{VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT};
constexpr Use drawing{VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                      VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT};
constexpr Use presenting{VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0};
constexpr VkImageLayout attachment = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
constexpr VkClearColorValue background{{0.09F, 0.10F, 0.12F, 1}};

void begin_commands(VkCommandBuffer commands)
{
    VkCommandBufferBeginInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    check(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
}

} // namespace

Frames::Frames(const Gpu& gpu, const Window& window, VkSurfaceKHR surface)
    : gpu_(gpu), window_(window), surface_(surface)
{
    swapchain_.emplace(gpu, surface, window.extent());
    if (gpu.timestamp_period() > 0) {
        VkQueryPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
        info.queryType = VK_QUERY_TYPE_TIMESTAMP;
        info.queryCount = 2 * static_cast<std::uint32_t>(slots_.size());
        times_ = created<QueryPool>("vkCreateQueryPool", vkCreateQueryPool, gpu.device(), info);
    }
    for (Slot& s : slots_) make_slot(s);
}

Frames::~Frames() { gpu_.wait_idle(); }

void Frames::make_slot(Slot& s)
{
    VkCommandPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool.queueFamilyIndex = gpu_.family();
    s.pool = created<CommandPool>("vkCreateCommandPool", vkCreateCommandPool, gpu_.device(), pool);
    VkCommandBufferAllocateInfo buffers{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    buffers.commandPool = s.pool;
    buffers.commandBufferCount = 3;
    std::array<VkCommandBuffer, 3> all{};
    check(vkAllocateCommandBuffers(gpu_.device(), &buffers, all.data()), "vkAllocateCommandBuffers");
    s.marks = {all[0], all[1]};
    s.commands = all[2];
    VkFenceCreateInfo fence{.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    fence.flags = VK_FENCE_CREATE_SIGNALED_BIT;
    s.done = created<Fence>("vkCreateFence", vkCreateFence, gpu_.device(), fence);
    const VkSemaphoreCreateInfo semaphore{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    s.acquired = created<Semaphore>("vkCreateSemaphore", vkCreateSemaphore, gpu_.device(), semaphore);
}

// What a frame has kept is released once it is done.
void Frames::finish(Slot& s, std::uint32_t index)
{
    check(vkWaitForFences(gpu_.device(), 1, s.done.address(), VK_TRUE, UINT64_MAX), "vkWaitForFences");
    s.kept.clear();
    if (!s.is_marked) return;
    std::array<std::uint64_t, 2> t{};
    check(vkGetQueryPoolResults(gpu_.device(), times_, 2 * index, 2, sizeof t, t.data(), sizeof t[0],
                                VK_QUERY_RESULT_64_BIT),
          "vkGetQueryPoolResults");
    marked_ = static_cast<double>(t[1] - t[0]) * gpu_.timestamp_period() / 1e6;
    s.is_marked = false;
}

bool Frames::begin()
{
    const VkExtent2D wanted = window_.extent();
    if (wanted.width == 0 || wanted.height == 0) return false;
    slot_ = (slot_ + 1) % static_cast<std::uint32_t>(slots_.size());
    finish(slot(), slot_);
    check(vkResetCommandPool(gpu_.device(), slot().pool, 0), "vkResetCommandPool");
    return acquire();
}

bool Frames::acquire()
{
    const VkExtent2D wanted = window_.extent();
    if (is_outdated_ || wanted.width != extent().width || wanted.height != extent().height) {
        gpu_.wait_idle();
        Swapchain next(gpu_, surface_, wanted, swapchain_->handle());
        swapchain_ = std::move(next);
        is_outdated_ = false;
    }
    const VkResult result = vkAcquireNextImageKHR(gpu_.device(), swapchain_->handle(), UINT64_MAX,
                                                  slot().acquired, VK_NULL_HANDLE, &image_);
    is_outdated_ = result == VK_ERROR_OUT_OF_DATE_KHR || result == VK_SUBOPTIMAL_KHR;
    if (result == VK_ERROR_OUT_OF_DATE_KHR) return false;
    check(result, "vkAcquireNextImageKHR");
    begin_commands(commands());
    return true;
}

void Frames::clear()
{
    barrier(commands(), image(), copy_wait, VK_IMAGE_LAYOUT_UNDEFINED, copy_write,
            VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdClearColorImage(commands(), image(), VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &background, 1, &all);
}

// In a submission of its own, as the frame's one waits for the window.
void Frames::mark(VkCommandBuffer mark, std::uint32_t query)
{
    if (!times_) return;
    begin_commands(mark);
    vkCmdResetQueryPool(mark, times_, query, 1);
    // The time is written once all has ended that was submitted before, and nothing later has begun.
    constexpr Use all{VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                      VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    barrier(mark, all, all);
    vkCmdWriteTimestamp(mark, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, times_, query);
    barrier(mark, all, all);
    check(vkEndCommandBuffer(mark), "vkEndCommandBuffer");
    VkSubmitInfo info{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.commandBufferCount = 1;
    info.pCommandBuffers = &mark;
    gpu_.submit(info, VK_NULL_HANDLE);
}

void Frames::mark_begin() { mark(slot().marks[0], 2 * slot_); }

void Frames::mark_end()
{
    mark(slot().marks[1], 2 * slot_ + 1);
    slot().is_marked = times_ != VK_NULL_HANDLE;
}

void Frames::begin_pass()
{
    barrier(commands(), image(), copy_write, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, drawing, attachment);
    VkRenderPassBeginInfo info{.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    info.renderPass = render_pass();
    info.framebuffer = swapchain_->target(image_).framebuffer;
    info.renderArea.extent = extent();
    vkCmdBeginRenderPass(commands(), &info, VK_SUBPASS_CONTENTS_INLINE);
}

// Copies the image to the host's memory, and leaves it ready to be presented.
HostBuffer Frames::read_image()
{
    HostBuffer pixels = gpu_.host_buffer(VkDeviceSize{4} * extent().width * extent().height,
                                         VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    barrier(commands(), image(), drawing, attachment, copy_read, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    VkBufferImageCopy copy{};
    copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    copy.imageExtent = {extent().width, extent().height, 1};
    vkCmdCopyImageToBuffer(commands(), image(), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, pixels.buffer, 1,
                           &copy);
    barrier(commands(), copy_write, {VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT});
    barrier(commands(), image(), copy_wait, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, presenting,
            VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
    return pixels;
}

void Frames::end()
{
    vkCmdEndRenderPass(commands());
    std::optional<HostBuffer> pixels;
    if (png_) pixels = read_image();
    else barrier(commands(), image(), drawing, attachment, presenting, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
    check(vkEndCommandBuffer(commands()), "vkEndCommandBuffer");
    check(vkResetFences(gpu_.device(), 1, slot().done.address()), "vkResetFences");

    const VkPipelineStageFlags wait = VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkSubmitInfo info{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.waitSemaphoreCount = 1;
    info.pWaitSemaphores = slot().acquired.address();
    info.pWaitDstStageMask = &wait;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &slot().commands;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = swapchain_->target(image_).rendered.address();
    gpu_.submit(info, slot().done);
    // The frame waits for the training before it on the queue.  On a CPU that waits for threads of the host, and what
    // is presented must depend on nothing that the host has yet to signal (VUID 03268 of vkQueuePresentKHR).
    const auto wait_until_drawn = [this] {
        check(vkWaitForFences(gpu_.device(), 1, slot().done.address(), VK_TRUE, UINT64_MAX),
              "vkWaitForFences");
    };
    if (gpu_.is_cpu()) wait_until_drawn();

    const VkSwapchainKHR swapchain = swapchain_->handle();
    VkPresentInfoKHR present{.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
    present.waitSemaphoreCount = 1;
    present.pWaitSemaphores = info.pSignalSemaphores;
    present.swapchainCount = 1;
    present.pSwapchains = &swapchain;
    present.pImageIndices = &image_;
    const VkResult result = gpu_.present(present);
    is_outdated_ = is_outdated_ || result == VK_ERROR_OUT_OF_DATE_KHR || result == VK_SUBOPTIMAL_KHR;
    if (result != VK_ERROR_OUT_OF_DATE_KHR) check(result, "vkQueuePresentKHR");
    if (!pixels) return;
    wait_until_drawn();
    write_png(*png_, pixels->data, extent(), swapchain_->is_bgra());
    png_.reset();
}

} // namespace desktop
