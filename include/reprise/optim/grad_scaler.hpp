// Scaling of losses for training in f16, whose smallest positive number is 6e-8: GradScaler, as torch.amp has it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <reprise/optim/optimizer.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// Options of a GradScaler, with PyTorch's names and defaults.
struct GradScalerOptions {
    double init_scale = 65536;   // the first scale: f32, positive and finite
    double growth_factor = 2;    // the factor of the scale after growth_interval steps in a row, above 1
    double backoff_factor = 0.5; // the factor of the scale after a skipped step, above 0 and below 1
    std::int64_t growth_interval = 2000; // 1 to 2^24
    bool enabled = true;                 // false: scale() returns the loss, and step() is the optimizer's
};

// Multiplies losses by a scale, so that gradients of f16 do not become 0, divides the gradients by it before a step,
// and skips steps whose gradients are not finite.  The scale falls after such a step and grows after a row of others:
//
//   GradScaler scaler;
//   scaler.scale(loss).backward();
//   scaler.unscale_(optimizer);          // only where gradients are clipped or read
//   clip_grad_norm_(net.parameters(), 1);
//   scaler.step(optimizer);
//   scaler.update();
//
// Everything happens on the device: whether gradients are finite is found in the pass that unscales them, and
// Optimizer::step_unless() skips the update there, so that a recorded step waits for nothing.  The scale is f32 on the
// device of the first loss.  Programs that contain the calls share the scale with eager code; the calls of one step
// belong to the same program.  Several optimizers may share a scaler; each has its own skip, and update() follows all
// that were stepped, which must exist until then.  One thread at a time.
class GradScaler {
public:
    using Options = GradScalerOptions; // see there
    // Throws Error(argument) for options out of range.
    explicit GradScaler(const Options& options = {});
    GradScaler(const GradScaler&) = delete;
    GradScaler& operator=(const GradScaler&) = delete;

    // Returns loss times the scale, f32 where the loss is f16 or bf16.  Throws Error(dtype) for a loss of integers.
    Tensor scale(const Tensor& loss);
    // The same for several losses.
    std::vector<Tensor> scale(const std::vector<Tensor>& losses);
    // Divides the gradients of an optimizer's parameters by the scale.  step() does so where it was not called.  Throws
    // Error(state) where scale() was never called, and where unscale_() or step() was already called for this optimizer
    // since update(); Error(dtype) for gradients of f16, which would become 0: keep the parameters in f32 or bf16.
    void unscale_(optim::Optimizer&);
    // A step of the optimizer unless a gradient is infinite or NaN.  Throws Error(state) where it was called for
    // this optimizer since update() or no parameter has a gradient; else as Optimizer::step_unless().
    void step(optim::Optimizer&);
    // Multiplies the scale by backoff_factor if a step was skipped since the last update(), and by growth_factor after
    // growth_interval others in a row, unless it would become infinite; it stays at 2^-126 or more.  Throws
    // Error(state) where neither unscale_() nor step() was called.
    void update();
    // Sets the scale, a positive finite number, else Error(argument).  The row of steps goes on, as in PyTorch.
    void update(double new_scale);

    double get_scale() const;                                              // the present scale; waits for it
    double get_growth_factor() const noexcept { return numbers_->growth; } // see GradScalerOptions
    void set_growth_factor(double); // Error(argument) where it is out of range
    double get_backoff_factor() const noexcept { return numbers_->backoff; } // see GradScalerOptions
    void set_backoff_factor(double); // Error(argument) where it is out of range
    std::int64_t get_growth_interval() const noexcept { return numbers_->interval; } // see GradScalerOptions
    void set_growth_interval(std::int64_t);               // Error(argument) where it is out of range
    bool is_enabled() const noexcept { return enabled_; } // see GradScalerOptions

    // Returns "scale" (f32), "growth_factor" and "backoff_factor" (i32 [2], the low and the high half of a double's
    // bits), "growth_interval" and "_growth_tracker" (i32), each of one element; nothing where it is not enabled.
    optim::StateDict state_dict() const;
    // Loads a result of state_dict(), which programs use from their next call on.  Throws Error(argument), after which
    // nothing has changed, where an entry is missing or wrong.  Does nothing where it is not enabled.
    void load_state_dict(const optim::StateDict&);

private:
    struct Numbers { // shared with programs
        double growth, backoff;
        std::int64_t interval;
    };
    enum class Stage : std::uint8_t { unscaled, stepped };
    struct OfOptimizer { // since the last update()
        Stage stage = Stage::unscaled;
        Tensor nonfinite;
        std::uint64_t recording = 0; // the recording in which it was called; 0: none
    };
    void check(const Numbers&) const;
    void make_state(const Device&);
    void require_scale(const char* what) const;
    void drop_other_recordings();
    Tensor nonfinite_of_all() const;

    bool enabled_;
    std::shared_ptr<Numbers> numbers_;
    double init_scale_;
    std::int32_t init_tracker_ = 0;
    Variable scale_, tracker_; // f32 and i32 of one element; undefined before the first loss
    std::map<const optim::Optimizer*, OfOptimizer> optimizers_;
};

} // namespace reprise
