// What differs between the versions of Dear ImGui, from 1.86 on: names of keys, and the setup of its Vulkan backend.
#pragma once
#include <imgui.h>

#include "glfw.hpp"

#include <backends/imgui_impl_vulkan.h>

#include <cstdint>

namespace desktop {

#if IMGUI_VERSION_NUM >= 18700 // keys have names; before, they are the window library's numbers
constexpr auto key_space = ImGuiKey_Space, key_s = ImGuiKey_S, key_c = ImGuiKey_C, key_r = ImGuiKey_R;
#else
constexpr int key_space = GLFW_KEY_SPACE, key_s = GLFW_KEY_S, key_c = GLFW_KEY_C, key_r = GLFW_KEY_R;
#endif

// The number of descriptors for the textures of fonts, of which version 1.92 makes a new one when it needs more glyphs.
#ifdef IMGUI_IMPL_VULKAN_MINIMUM_IMAGE_SAMPLER_POOL_SIZE
constexpr std::uint32_t font_descriptors = IMGUI_IMPL_VULKAN_MINIMUM_IMAGE_SAMPLER_POOL_SIZE;
#else
constexpr std::uint32_t font_descriptors = 1;
#endif

// Starts the Vulkan backend for a render pass of one sample per pixel.
inline void start_backend(ImGui_ImplVulkan_InitInfo info, VkRenderPass pass)
{
#if IMGUI_VERSION_NUM >= 19240
    info.PipelineInfoMain.RenderPass = pass;
    info.PipelineInfoMain.MSAASamples = VK_SAMPLE_COUNT_1_BIT;
    ImGui_ImplVulkan_Init(&info);
#elif IMGUI_VERSION_NUM >= 19030
    info.RenderPass = pass;
    info.MSAASamples = VK_SAMPLE_COUNT_1_BIT;
    ImGui_ImplVulkan_Init(&info);
#else
    info.MSAASamples = VK_SAMPLE_COUNT_1_BIT;
    ImGui_ImplVulkan_Init(&info, pass);
#endif
}

} // namespace desktop
