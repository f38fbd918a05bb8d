// Modules of modules.
#pragma once
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

// One after the other: nn::Sequential net(nn::make<nn::Linear>(784, 128), nn::make<nn::ReLU>(), ...).
// The children are named "0", "1", ...
class Sequential : public Module {
public:
    template <class... Modules> explicit Sequential(std::shared_ptr<Modules>... children)
    {
        (push_back(std::move(children)), ...);
    }
    Tensor forward(Tensor x) override;
    void push_back(std::shared_ptr<Module>);
    std::size_t size() const noexcept { return modules_.size(); }
    Module& at(std::size_t index) const;

private:
    std::vector<std::shared_ptr<Module>> modules_;
};

} // namespace reprise::nn
