#include "panel.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>

#include "imgui_versions.hpp"

namespace desktop {

namespace {

constexpr std::array widths{16, 32, 64, 128, 256};
constexpr double mib = 1 << 20;

void row(const char* name)
{
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(name);
    ImGui::SameLine(120);
    ImGui::SetNextItemWidth(-1);
}

void choose_task(Controls& c)
{
    row("Task");
    int task = static_cast<int>(c.task);
    ImGui::RadioButton("Points", &task, 0);
    ImGui::SameLine();
    ImGui::RadioButton("Picture", &task, 1);
    c.task = static_cast<TaskKind>(task);
}

void choose_device(Controls& c, const Figures& f)
{
    row("Device");
    if (!ImGui::BeginCombo("##device", f.devices[c.device].c_str())) return;
    for (std::size_t i = 0; i < f.devices.size(); ++i)
        if (ImGui::Selectable(f.devices[i].c_str(), i == c.device)) c.device = i;
    ImGui::EndCombo();
}

void choose_network(Controls& c)
{
    row("Width");
    if (ImGui::BeginCombo("##width", std::to_string(c.width).c_str())) {
        for (const int width : widths)
            if (ImGui::Selectable(std::to_string(width).c_str(), width == c.width)) c.width = width;
        ImGui::EndCombo();
    }
    row("Precision");
    int precision = static_cast<int>(c.precision);
    ImGui::Combo("##precision", &precision, precision_names.data(), static_cast<int>(precision_names.size()));
    c.precision = static_cast<Precision>(precision);
}

void choose_numbers(Controls& c)
{
    constexpr ImGuiSliderFlags logarithmic = ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp;
    row("Batch");
    ImGui::SliderInt("##batch", &c.batch, 1, 16'384, "%d", logarithmic);
    row("Learning rate");
    ImGui::SliderFloat("##rate", &c.learning_rate, 1e-5F, 0.1F, "%.5f", logarithmic);
    row("Slice");
    ImGui::SliderFloat("##slice", &c.slice, 1, 16, "%.1f ms", ImGuiSliderFlags_AlwaysClamp);
}

Buttons buttons(Controls& c)
{
    const float gap = ImGui::GetStyle().ItemSpacing.x, all = ImGui::GetContentRegionAvail().x;
    const ImVec2 quarter((all - 3 * gap) / 4, 0), half((all - gap) / 2, 0);
    const auto next = [](const char* name, ImVec2 size) {
        ImGui::SameLine();
        return ImGui::Button(name, size);
    };
    Buttons b;
    if (ImGui::Button(c.paused ? "Train" : "Pause", quarter)) c.paused = !c.paused;
    b.step = next("Step", quarter);
    b.cancel = next("Cancel", quarter);
    b.restart = next("Restart", quarter);
    b.save = ImGui::Button("Save", half);
    b.load = next("Load", half);
    if (c.task == TaskKind::points) {
        b.clear = ImGui::Button("Clear points", half);
        b.spirals = next("Two spirals", half);
    }
    if (ImGui::GetIO().WantCaptureKeyboard) return b;
    if (ImGui::IsKeyPressed(key_space, false)) c.paused = !c.paused;
    b.step = b.step || ImGui::IsKeyPressed(key_s);
    b.cancel = b.cancel || ImGui::IsKeyPressed(key_c, false);
    b.restart = b.restart || ImGui::IsKeyPressed(key_r, false);
    return b;
}

void plot_loss(const Learner& learner)
{
    ImGui::Text("%s", learner.task().loss_name());
    if (learner.loss()) {
        ImGui::SameLine(0, 12);
        ImGui::TextColored({0.98F, 0.73F, 0.36F, 1}, "%.5f", *learner.loss());
    }
    const std::vector<float>& curve = learner.curve().log10();
    ImGui::SetNextItemWidth(-1);
    ImGui::PlotLines("##loss", curve.data(), static_cast<int>(curve.size()), 0, "log scale", FLT_MAX, FLT_MAX,
                     {0, 110});
}

void figure(const char* name, const char* format, double value)
{
    ImGui::TableNextColumn();
    ImGui::TextDisabled("%s", name);
    ImGui::TableNextColumn();
    ImGui::Text(format, value);
}

void show_figures(const Learner& learner, const Figures& f)
{
    if (!ImGui::BeginTable("figures", 2)) return;
    figure("Steps", "%.0f", static_cast<double>(learner.steps()));
    figure("Steps in a second", "%.0f", f.steps_per_second);
    figure("Frame", "%.1f ms", f.frame_milliseconds);
    if (f.trained_milliseconds) figure("Training in a frame", "%.1f ms", *f.trained_milliseconds);
    if (f.within) figure("Within 1.5 slices", "%.1f %%", 100 * *f.within);
    figure("Parameters", "%.0f", static_cast<double>(learner.parameters()));
    figure("Memory of the device", "%.2f MiB", static_cast<double>(f.live_bytes) / mib);
    figure("Memory of a step", "%.2f MiB", static_cast<double>(f.peak_bytes) / mib);
    figure("Recordings", "%.0f", static_cast<double>(f.recordings));
    figure("Pipelines", "%.0f", static_cast<double>(f.pipelines));
    ImGui::EndTable();
}

// The ops of a step that take most of its time.
void show_times(Controls& c, const Figures& f)
{
    constexpr std::size_t most = 7;
    ImGui::SetNextItemOpen(c.shows_times);
    c.shows_times = ImGui::CollapsingHeader("Times of a step");
    if (!c.shows_times) return;
    if (f.times.empty())
        return ImGui::TextDisabled("No times: none was measured, or the device has no clock.");
    if (!ImGui::BeginTable("times", 2)) return;
    ImGui::TableSetupColumn("time", ImGuiTableColumnFlags_WidthFixed, 70);
    for (std::size_t i = 0; i < std::min(most, f.times.size()); ++i) {
        ImGui::TableNextColumn();
        ImGui::Text("%.3f ms", f.times[i].total / 1000);
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(f.times[i].label.c_str());
    }
    ImGui::EndTable();
}

} // namespace

Buttons draw_panel(const Rect& r, Controls& controls, const Learner& learner, const Figures& figures)
{
    ImGui::SetNextWindowPos({r.x, r.y});
    ImGui::SetNextWindowSize({r.width, r.height});
    ImGui::Begin("Training", nullptr,
                 ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoCollapse |
                     ImGuiWindowFlags_NoTitleBar);
    choose_task(controls);
    choose_device(controls, figures);
    choose_network(controls);
    choose_numbers(controls);
    const Buttons pressed = buttons(controls);
    if (!figures.message.empty()) ImGui::TextWrapped("%s", figures.message.c_str());
    ImGui::Separator();
    plot_loss(learner);
    show_figures(learner, figures);
    show_times(controls, figures);
    ImGui::End();
    return pressed;
}

} // namespace desktop
