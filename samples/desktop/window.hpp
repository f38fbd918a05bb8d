// The window and its surface.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "glfw.hpp"

namespace desktop {

// GLFW as a whole.  Throws std::runtime_error where there is no display, or no Vulkan for it.
class Glfw {
public:
    Glfw();
    ~Glfw() { glfwTerminate(); }
    Glfw(const Glfw&) = delete;
    Glfw& operator=(const Glfw&) = delete;
    std::vector<const char*> instance_extensions() const;
};

class Window {
public:
    Window(int width, int height, const char* title);
    ~Window() { glfwDestroyWindow(handle_); }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    GLFWwindow* handle() const { return handle_; }
    bool closed() const { return glfwWindowShouldClose(handle_) != 0; }
    void close() { glfwSetWindowShouldClose(handle_, GLFW_TRUE); }
    VkExtent2D extent() const;                           // in pixels; 0 by 0 while it is minimised
    std::optional<std::filesystem::path> take_dropped(); // the file that was dropped last, once

private:
    GLFWwindow* handle_;
    std::optional<std::filesystem::path> dropped_;
};

// The surface of a window.
class Surface {
public:
    Surface(VkInstance instance, const Window&);
    ~Surface() { vkDestroySurfaceKHR(instance_, handle_, nullptr); }
    Surface(const Surface&) = delete;
    Surface& operator=(const Surface&) = delete;
    VkSurfaceKHR handle() const { return handle_; }

private:
    VkInstance instance_;
    VkSurfaceKHR handle_ = {};
};

} // namespace desktop
