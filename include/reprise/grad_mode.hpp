// Whether ops are recorded for gradients, by thread.
#pragma once

namespace reprise {

// Whether ops on this thread are recorded for gradients, which is the default.
bool grad_enabled();
// While this object exists, ops on this thread are recorded for gradients or not.
class AutoGradMode {
public:
    explicit AutoGradMode(bool enabled); // turns gradients on or off
    ~AutoGradMode();                     // restores the previous state
    AutoGradMode(const AutoGradMode&) = delete;
    AutoGradMode& operator=(const AutoGradMode&) = delete;

private:
    bool before_;
};
// While this object exists, ops on this thread are not recorded for gradients.
class no_grad : public AutoGradMode {
public:
    no_grad() : AutoGradMode(false) {} // turns gradients off
};
// While this object exists, ops on this thread are recorded for gradients, also within a no_grad.
class enable_grad : public AutoGradMode {
public:
    enable_grad() : AutoGradMode(true) {} // turns gradients on
};
using NoGradGuard = no_grad; // libtorch's name
// Whether ops on this thread are recorded for gradients, by libtorch's names.
struct GradMode {
    static bool is_enabled();         // grad_enabled()
    static void set_enabled(bool on); // turns gradients on or off until it is called again
};
// While this object exists, ops on this thread are not recorded for gradients: no_grad, by libtorch's name.
class InferenceMode : public AutoGradMode {
public:
    explicit InferenceMode(bool enabled = true) : AutoGradMode(!enabled) {} // false: they are recorded
};

} // namespace reprise
