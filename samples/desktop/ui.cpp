#include "ui.hpp"

#include <algorithm>
#include <filesystem>

#include <backends/imgui_impl_glfw.h>

#include "imgui_versions.hpp"

namespace desktop {

namespace {

// Larger than Dear ImGui's own font, which takes its place where this one is missing.
constexpr const char* font = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";

void set_style()
{
    ImGui::StyleColorsDark();
    ImGuiStyle& style = ImGui::GetStyle();
    style.WindowRounding = style.FrameRounding = style.GrabRounding = 4;
    style.WindowBorderSize = 0;
    style.ItemSpacing = {8, 6};
    style.Colors[ImGuiCol_WindowBg] = {0.13F, 0.14F, 0.17F, 1};
    style.Colors[ImGuiCol_PlotLines] = {0.98F, 0.73F, 0.36F, 1};
}

} // namespace

Ui::Ui(const Gpu& gpu, const Window& window, const Frames& frames) : gpu_(gpu)
{
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, font_descriptors};
    VkDescriptorPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    pool.flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT;
    pool.maxSets = font_descriptors;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    pool_ = created<DescriptorPool>("vkCreateDescriptorPool", vkCreateDescriptorPool, gpu.device(), pool);

    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr; // no file with the places of windows
    if (std::filesystem::exists(font)) ImGui::GetIO().Fonts->AddFontFromFileTTF(font, 15);
    set_style();
    ImGui_ImplGlfw_InitForVulkan(window.handle(), true);
    ImGui_ImplVulkan_InitInfo info{};
    info.Instance = gpu.instance();
    info.PhysicalDevice = gpu.physical();
    info.Device = gpu.device();
    info.QueueFamily = gpu.family();
    info.Queue = gpu.queue();
    info.DescriptorPool = pool_;
    info.MinImageCount = 2;
    info.ImageCount = std::max(2U, frames.images());
    info.CheckVkResultFn = [](VkResult result) { check(result, "A Vulkan function of Dear ImGui"); };
    start_backend(info, frames.render_pass());
#if IMGUI_VERSION_NUM < 19000 // later versions upload them by themselves
    upload_fonts();
#endif
}

Ui::~Ui()
{
    gpu_.wait_idle();
    ImGui_ImplVulkan_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
}

#if IMGUI_VERSION_NUM < 19000
void Ui::upload_fonts()
{
    VkCommandPoolCreateInfo pool_info{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool_info.queueFamilyIndex = gpu_.family();
    const auto pool =
        created<CommandPool>("vkCreateCommandPool", vkCreateCommandPool, gpu_.device(), pool_info);
    VkCommandBufferAllocateInfo allocate{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    allocate.commandPool = pool;
    allocate.commandBufferCount = 1;
    VkCommandBuffer commands = nullptr;
    check(vkAllocateCommandBuffers(gpu_.device(), &allocate, &commands), "vkAllocateCommandBuffers");
    const VkCommandBufferBeginInfo begin{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    ImGui_ImplVulkan_CreateFontsTexture(commands);
    check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    VkSubmitInfo submit{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    gpu_.submit(submit, VK_NULL_HANDLE);
    gpu_.wait_idle();
    ImGui_ImplVulkan_DestroyFontUploadObjects();
}
#endif

void Ui::begin()
{
    {
        const auto lock = gpu_.lock_queue(); // some versions upload fonts here
        ImGui_ImplVulkan_NewFrame();
    }
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
}

void Ui::draw(VkCommandBuffer commands)
{
    ImGui::Render();
    const auto lock = gpu_.lock_queue(); // and others here
    ImGui_ImplVulkan_RenderDrawData(ImGui::GetDrawData(), commands);
}

} // namespace desktop
