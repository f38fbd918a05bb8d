// Dear ImGui in the window.
#pragma once
#include "frames.hpp"

namespace desktop {

class Ui {
public:
    Ui(const Gpu&, const Window&, const Frames&);
    ~Ui();
    Ui(const Ui&) = delete;
    Ui& operator=(const Ui&) = delete;

    void begin();               // begins a frame of widgets
    void draw(VkCommandBuffer); // ends it and draws it, within a render pass

private:
    void upload_fonts(); // by versions of Dear ImGui that leave it to the application

    const Gpu& gpu_;
    DescriptorPool pool_;
};

} // namespace desktop
