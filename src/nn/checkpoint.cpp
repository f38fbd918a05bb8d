#include <reprise/nn/checkpoint.hpp>

namespace reprise::nn {

Module& checkpoint_module(Module& module, const std::string& layer_id, CheckpointOptions options)
{
    if (layer_id.empty())
        detail::fail(ErrorKind::argument, "checkpoint_module", "The layer's id is empty: give it a name.");
    options.layer = layer_id;
    module.set_checkpoint(std::move(options));
    return module;
}

Tensor checkpoint_sequential(const Sequential& modules, std::size_t segments, Tensor x,
                             const CheckpointOptions& options)
{
    std::vector<std::function<Tensor(Tensor)>> functions;
    for (std::size_t i = 0; i < modules.size(); ++i)
        functions.push_back([&module = modules.at(i)](Tensor in) { return module(std::move(in)); });
    return reprise::checkpoint_sequential(functions, segments, std::move(x), options);
}

} // namespace reprise::nn
