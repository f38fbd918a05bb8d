// GLFW with its functions for Vulkan.
#pragma once
#define GLFW_INCLUDE_VULKAN // without it, GLFW's header asks for OpenGL's
#include <GLFW/glfw3.h>
