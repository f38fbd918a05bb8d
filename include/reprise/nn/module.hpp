// What modules are: trees of parameters and buffers.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::nn {

using StateDict = std::map<std::string, Tensor>;

// A tree of modules with their parameters and buffers.  Children that are members are held by address, so a
// module can't be copied or moved.
class Module {
public:
    Module() = default;
    virtual ~Module() = default;
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    Tensor operator()(Tensor x) { return forward(std::move(x)); }
    virtual Tensor forward(Tensor x); // Error(state) where it is not overridden

    // In order of registration, a module's own before its children's; one that has two names comes once.
    std::vector<Variable> parameters() const;
    std::vector<std::pair<std::string, Variable>> named_parameters() const; // "block.0.weight"
    std::vector<std::pair<std::string, Variable>> named_buffers() const;

    // The values that parameters and buffers have now; later training does not change them.
    StateDict state_dict() const;
    // Takes values over, from any device.  One Error tells all names and shapes that do not fit; nothing has
    // changed then.  Not strict: names that are missing or unexpected are passed over.
    void load_state_dict(const StateDict&, bool strict = true);

    // A program keeps the mode that it was recorded in.
    void train(bool on = true);
    void eval() { train(false); }
    bool is_training() const noexcept { return training_; }
    void zero_grad();

protected:
    Variable register_parameter(const std::string& name, Variable);
    Variable register_buffer(const std::string& name, Variable);
    void register_module(const std::string& name, Module&); // must live as long as this
    void register_module(const std::string& name, std::shared_ptr<Module>);

private:
    struct Child {
        std::string name;
        Module* module;
        std::shared_ptr<Module> owned; // null for members
    };
    using Named = std::vector<std::pair<std::string, Variable>>;
    void check_name(const char* op, const std::string& name) const;
    bool contains(const Module*) const;
    void collect(const std::string& prefix, Named Module::*list, Named& to) const;
    Named state() const;

    Named parameters_, buffers_;
    std::vector<Child> children_;
    bool training_ = true;
};

template <class M, class... Arguments> std::shared_ptr<M> make(Arguments&&... arguments)
{
    return std::make_shared<M>(std::forward<Arguments>(arguments)...);
}

} // namespace reprise::nn
