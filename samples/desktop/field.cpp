// Where things are in the window, and what is drawn over the picture.
#include <algorithm>
#include <cmath>

#include <imgui.h>

#include "app.hpp"

namespace desktop {

namespace {

constexpr float panel_width = 370, margin = 16;
constexpr ImU32 white = IM_COL32(255, 255, 255, 255), dark = IM_COL32(15, 18, 26, 255);
constexpr ImU32 blue = IM_COL32(70, 140, 255, 255), orange = IM_COL32(255, 165, 50, 255);

} // namespace

App::Place App::place() const
{
    const auto width = static_cast<float>(frames_.extent().width);
    const auto height = static_cast<float>(frames_.extent().height);
    Place p;
    p.panel = {width - panel_width, 0, panel_width, height};
    const float room_x = std::max(1.0F, width - panel_width - 2 * margin);
    const float room_y = std::max(1.0F, height - 2 * margin);
    const auto columns = static_cast<float>(learner_->task().columns());
    const auto rows = static_cast<float>(learner_->task().rows());
    const float scale = std::min(room_x / columns, room_y / rows);
    p.picture = {margin + (room_x - scale * columns) / 2, margin + (room_y - scale * rows) / 2,
                 scale * columns, scale * rows};
    const float small = 0.2F;
    p.target = {p.picture.x + p.picture.width * (1 - small) - margin / 2, p.picture.y + margin / 2,
                p.picture.width * small, p.picture.height * small};
    return p;
}

void App::draw_points(const Rect& r)
{
    ImDrawList* const list = ImGui::GetBackgroundDrawList();
    for (const Points::Point& p : points_->points()) {
        const ImVec2 at(r.x + r.width * (p.x + 1) / 2, r.y + r.height * (p.y + 1) / 2);
        list->AddCircleFilled(at, 5, dark, 12);
        list->AddCircleFilled(at, 3.6F, p.label ? orange : blue, 12);
    }
}

// The left button adds points of class 0, the right one of class 1; a drag adds some along its way.
void App::add_points(const Rect& r)
{
    constexpr float distance = 0.03F;
    const ImGuiIO& io = ImGui::GetIO();
    const int button = io.MouseDown[1] ? 1 : 0;
    const Points::Point here{2 * (io.MousePos.x - r.x) / r.width - 1,
                             2 * (io.MousePos.y - r.y) / r.height - 1, button};
    const bool inside = std::max(std::abs(here.x), std::abs(here.y)) <= 1;
    if (io.WantCaptureMouse || !io.MouseDown[button] || !inside) return last_point_.reset();
    if (last_point_ && std::hypot(here.x - last_point_->x, here.y - last_point_->y) < distance) return;
    last_point_ = here;
    points_->add(here);
    learner_->load_examples();
}

void App::draw_target(const Rect& r)
{
    ImDrawList* const list = ImGui::GetBackgroundDrawList();
    list->AddRect({r.x - 1, r.y - 1}, {r.x + r.width + 1, r.y + r.height + 1}, white, 0, 0, 2);
    list->AddText({r.x + 4, r.y + r.height + 4}, white, "target");
}

} // namespace desktop
