#include "window.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <reprise/path_text.hpp>

#include "vk.hpp"

namespace desktop {

namespace {

std::string reason()
{
    const char* text = nullptr;
    glfwGetError(&text);
    return text ? " (" + std::string(text) + ")" : "";
}

} // namespace

Glfw::Glfw()
{
    if (!glfwInit())
        throw std::runtime_error("This program needs a display to open a window" + reason() + ".");
    if (glfwVulkanSupported()) return;
    const std::string why = reason();
    glfwTerminate();
    throw std::runtime_error("This program needs a Vulkan driver that can draw to windows" + why + ".");
}

std::vector<const char*> Glfw::instance_extensions() const
{
    std::uint32_t count = 0;
    const char** names = glfwGetRequiredInstanceExtensions(&count);
    if (!names) throw std::runtime_error("Vulkan can't draw to windows here" + reason() + ".");
    return {names, names + count};
}

Window::Window(int width, int height, const char* title)
{
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    handle_ = glfwCreateWindow(width, height, title, nullptr, nullptr);
    if (!handle_) throw std::runtime_error("The window can't be opened" + reason() + ".");
    glfwSetWindowUserPointer(handle_, this);
    glfwSetDropCallback(handle_, [](GLFWwindow* window, int count, const char** paths) {
        if (count > 0)
            static_cast<Window*>(glfwGetWindowUserPointer(window))->dropped_ =
                reprise::path_of_text(paths[count - 1]);
    });
}

VkExtent2D Window::extent() const
{
    int width = 0, height = 0;
    glfwGetFramebufferSize(handle_, &width, &height);
    return {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
}

std::optional<std::filesystem::path> Window::take_dropped() { return std::exchange(dropped_, std::nullopt); }

Surface::Surface(VkInstance instance, const Window& window) : instance_(instance)
{
    check(glfwCreateWindowSurface(instance, window.handle(), nullptr, &handle_), "glfwCreateWindowSurface");
}

} // namespace desktop
