#include <reprise/autograd/anomaly.hpp>
#include <reprise/error.hpp>
#include <reprise/nn/containers.hpp>

#include <string>
#include <utility>

namespace reprise::nn {

Tensor Sequential::forward(Tensor x)
{
    for (const auto& module : modules_) x = (*module)(std::move(x), Place(detail::present_place()));
    return x;
}

void Sequential::push_back(std::shared_ptr<Module> module)
{
    register_module(std::to_string(modules_.size()), module);
    modules_.push_back(std::move(module));
}

Module& Sequential::at(std::size_t index) const
{
    if (index >= modules_.size())
        detail::fail(ErrorKind::argument, "Sequential", "There is no module (", index, "): it has ",
                     modules_.size(), ".");
    return *modules_[index];
}

} // namespace reprise::nn
