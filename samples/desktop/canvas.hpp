// A picture on the GPU that is filled from the memory of tensors and drawn to the window.
#pragma once
#include <cstdint>
#include <vector>

#include <reprise/tensor.hpp>

#include "frames.hpp"

namespace desktop {

struct Rect { // pixels of the window
    float x = 0, y = 0, width = 0, height = 0;
};

class Canvas {
public:
    // Pixels of four floats: red, green, blue and alpha, from 0 to 1.
    Canvas(const Gpu&, std::int64_t width, std::int64_t height);

    // Copies bands of rows, [rows, width, 4] in f32, from top to bottom.  Those on the window's device are copied from
    // the tensors' memory on the GPU; they must be ready.  Those of other devices go through the host's memory.
    void fill(Frames&, const std::vector<reprise::Tensor>& bands, bool on_this_device);
    void fill(Frames&, const std::vector<float>& rgba);
    // Draws the picture over a part of the window; before Frames::begin_pass().  Draws nothing before fill().
    void draw(Frames&, const Rect&);

private:
    struct Band {
        VkBuffer buffer;
        VkDeviceSize offset;
        std::uint32_t rows;
    };
    void copy(VkCommandBuffer, const std::vector<Band>&);

    const Gpu& gpu_;
    std::uint32_t width_, height_;
    VkFilter filter_ = VK_FILTER_NEAREST;
    Memory memory_; // destroyed after the image
    Image image_;
    bool is_filled_ = false;
};

} // namespace desktop
