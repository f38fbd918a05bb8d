// GLFW with its functions for Vulkan, and without OpenGL's header, which need not be installed.
#pragma once
#define GLFW_INCLUDE_NONE
#define GLFW_INCLUDE_VULKAN
#include <GLFW/glfw3.h>
