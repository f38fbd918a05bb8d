// A user's file, compiled with -Wall -Wextra -Werror and nothing of the project's own flags: options are named as far
// as they are wanted, and the library's headers warn of nothing.
#include <reprise/optim.hpp>

#include <reprise/nn.hpp> // behind the optimizers, unlike in the header of all

#include <reprise/checkpointing.hpp>
#include <reprise/reprise.hpp>

namespace rp = reprise;

// Each of the public structures with one of its members named, another than the first where there is one.
void options()
{
    using namespace rp;
    static_cast<void>(CreationOptions{.requires_grad = true});
    static_cast<void>(BackwardOptions{.create_graph = true});
    static_cast<void>(GradOptions{.allow_unused = true});
    static_cast<void>(RecordOptions{.fuse = false});
    static_cast<void>(SymbolOptions{.max = 7});
    static_cast<void>(Spec{.dtype = i32});
    static_cast<void>(GradCheckOptions{.step = 1e-5});
    static_cast<void>(CheckpointOptions{.layer = "block"});
    static_cast<void>(CheckpointConfig{.every = 2});
    static_cast<void>(KernelOutput{.dtype = i32});
    static_cast<void>(VarOptions{.keepdim = true});
    static_cast<void>(AttentionOptions{.is_causal = true});
    static_cast<void>(ClassLossOptions{.label_smoothing = 0.1});
    static_cast<void>(InterpolateOptions{.mode = Interpolation::bilinear});
    static_cast<void>(ConvOptions<2>{.padding = 1});
    static_cast<void>(UnfoldOpOptions{.stride = 2});
    static_cast<void>(MaxPoolOptions<2>{.ceil_mode = true});
    static_cast<void>(AvgPoolOptions<2>{.divisor_override = 3});
    static_cast<void>(LpPoolOptions<2>{.ceil_mode = true});
    static_cast<void>(SliceRange{.step = 2});
    static_cast<void>(vulkan::Handles{.queue_family = 1});
    static_cast<void>(train::Series{.faint = true});
    static_cast<void>(train::Panel{.y_max = 1});
    static_cast<void>(train::Figure{.title = "loss"});
    static_cast<void>(data::DataLoader::Options{.shuffle = true});
}

// No name of options is two things where a file uses the namespaces.
void names_in_all_namespaces()
{
    using namespace rp;
    using namespace rp::nn;
    using namespace rp::optim;
    static_cast<void>(Conv2d(Conv2dOptions(1, 8, 3).stride(2)));
    static_cast<void>(Conv2d(1, 8, ConvSettings<2>{.kernel_size = 3}));
    static_cast<void>(ConvTranspose2d(ConvTranspose2dOptions(1, 8, 3)));
    static_cast<void>(ConvOptions<2>{.padding = 1});
    static_cast<void>(ConvTransposeOptions<2>{.padding = 1});
    static_cast<void>(MaxPoolOptions<2>{.ceil_mode = true});
    static_cast<void>(AvgPoolOptions<2>{.ceil_mode = true});
    static_cast<void>(MaxUnpoolOptions<2>{.output_size = Shape{4, 4}});
    static_cast<void>(BatchNorm2d(BatchNormOptions(8).affine(false)));
    static_cast<void>(InstanceNorm2d(InstanceNormOptions(8)));
    static_cast<void>(Unfold(UnfoldOptions(2).stride(2)));
    static_cast<void>(ParameterList());
}

void modules()
{
    using namespace rp::nn;
    static_cast<void>(Conv2d(1, 8, {.padding = 1, .bias = false}));
    static_cast<void>(ConvTranspose2d(1, 8, 3, {.stride = 2}));
    static_cast<void>(make<Conv2d>(1, 8, {.kernel_size = 3}));
    static_cast<void>(MaxPool2d(2, {.padding = 1}));
    static_cast<void>(AvgPool2d(2, {.ceil_mode = true}));
    static_cast<void>(BatchNorm2d(8, {.momentum = std::nullopt}));
    static_cast<void>(InstanceNorm2d(8, {.affine = true}));
    static_cast<void>(GroupNorm(2, 8, {.affine = false}));
    static_cast<void>(LayerNorm(8, {.bias = false}));
    static_cast<void>(RMSNorm(8, {.elementwise_affine = false}));
    static_cast<void>(Embedding(8, 2, {.padding_idx = 0}));
    static_cast<void>(LSTM(8, 2, {.batch_first = true}));
    static_cast<void>(MultiheadAttention(8, 2, {.batch_first = true}));
    static_cast<void>(TransformerEncoderLayer(8, 2, {.norm_first = true}));
    static_cast<void>(RotaryEmbedding(8, {.interleaved = true}));
    static_cast<void>(CrossEntropyLoss({.ignore_index = 0}));
    static_cast<void>(MultiheadAttentionMasks{.is_causal = true});
    static_cast<void>(LSTMState{rp::ones({1}), {}});
    static_cast<void>(LoadOptions{.cast = true});
    Linear fc(2, 2);
    fc.load_state_dict(fc.state_dict(), {.prefix = {}});
    rp::GradStore gradients;
    static_cast<void>(gradients);
}

void optimizers(const std::vector<rp::Variable>& parameters)
{
    using namespace rp::optim;
    SGD sgd(parameters, {.momentum = 0.9});
    static_cast<void>(Adam(parameters, {.weight_decay = 0.1}));
    static_cast<void>(AdamW(parameters, {.betas = {0.9, 0.95}}));
    static_cast<void>(RMSprop(parameters, {.alpha = 0.9}));
    static_cast<void>(Adagrad(parameters, {.lr_decay = 0.1}));
    static_cast<void>(Lion(parameters, {.weight_decay = 0.1}));
    static_cast<void>(LBFGS(parameters, {.line_search_fn = "strong_wolfe"}));
    OneCycleLR cycle(sgd, {.max_lr = {0.1}, .total_steps = 10});
    static_cast<void>(OneCycleOptions{.total_steps = 10});
    ReduceLROnPlateau plateau(sgd, {.patience = 2});
    static_cast<void>(clip_grad_norm_(parameters, 1, {.error_if_nonfinite = true}));
}
