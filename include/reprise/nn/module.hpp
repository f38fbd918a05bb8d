// Module, the base class of layers and networks: a tree of parameters and buffers, with hooks on its calls.
#pragma once
#include <concepts>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/autograd/anomaly.hpp>
#include <reprise/autograd/checkpoint.hpp>
#include <reprise/find_tensors.hpp>
#include <reprise/hooks.hpp>
#include <reprise/mode.hpp>
#include <reprise/model_file.hpp>
#include <reprise/optim/parameters.hpp>
#include <reprise/ordered_dict.hpp>
#include <reprise/tensor.hpp>

// Declares public members of a layer class M: m->weight is m.weight and *m is m, as in code for libtorch,
// where modules are pointers; M(...).ptr() moves a layer to a shared pointer, for containers.  It is a template so
// that a file compiles make_shared() only for the layers on which it calls ptr().
#define REPRISE_LAYER(M)                                                                                     \
    M* operator->() noexcept { return this; }                                                                \
    const M* operator->() const noexcept { return this; }                                                    \
    M& operator*() noexcept { return *this; }                                                                \
    const M& operator*() const noexcept { return *this; }                                                    \
    template <std::same_as<M> Self = M> std::shared_ptr<Self> ptr()&&                                        \
    {                                                                                                        \
        return std::make_shared<Self>(std::move(*this));                                                     \
    }

namespace reprise::nn {

class Module;
using StateDict = std::map<std::string, Tensor>; // values of parameters and buffers by name: "block.0.weight"

// Options of load_state_dict().
struct LoadOptions {
    bool strict = true; // missing and unexpected names are an Error(argument)
    // Uses only values with names that begin with this, such as "encoder.", and removes it from their names.
    std::string prefix{};
    // Returns the module's name for a value of this name, which is without the prefix; nullopt leaves the value
    // out.  Without a function the names are the same.
    std::function<std::optional<std::string>(const std::string&)> rename{};
    // Casts values of another dtype, floating to floating, and integer or bool to integer or bool.  Dequantises
    // matrices of a file in q8_0, q4_0 and q4_k where the module has a floating weight.
    bool cast = false;
};
// Names that did not match in load_state_dict(), sorted.
struct LoadResult {
    std::vector<std::string> missing_keys{}, // names of the module that have no value
        unexpected_keys{},                   // names of values, as renamed, that the module does not have
        dropped_keys{}; // full names of values that do not begin with the prefix, or that rename left out
};

} // namespace reprise::nn

namespace reprise::detail {

using Tensors = std::vector<Tensor>;
template <class... Lists> using ModuleHook = std::function<Tensors(nn::Module&, const Lists&...)>;

inline Tensor first_of(const Tensors& list) { return list.empty() ? Tensor() : list[0]; }
template <class, class T> using Instead = T;

template <class Call> Tensors given_by(const Call& call)
{
    if constexpr (std::is_void_v<decltype(call())>) {
        call();
        return {};
    } else if constexpr (std::is_convertible_v<decltype(call()), Tensor>) {
        return {call()};
    } else {
        return call();
    }
}

// Turns a hook that takes single tensors or lists of them, and returns nothing, a tensor or a list, into one
// that takes and returns lists.
template <class... Lists, class F> ModuleHook<Lists...> hook_of_lists(F hook)
{
    return [hook = std::move(hook)](nn::Module& module, const Lists&... lists) mutable {
        if constexpr (std::is_invocable_v<F&, nn::Module&, const Instead<Lists, Tensor>&...>)
            return given_by([&] { return hook(module, first_of(lists)...); });
        else return given_by([&] { return hook(module, lists...); });
    };
}

} // namespace reprise::detail

namespace reprise::nn {

// The pointer to a module that containers, children() and modules() return.  It shares ownership of a module
// that is held by a shared pointer, but not of a member.  It is valid as long as the module is neither moved
// nor destroyed.  It can be called as the module itself: for (auto& layer : net) x = layer(x);
class ModulePointer : public std::shared_ptr<Module> {
public:
    ModulePointer() = default; // null
    // Takes a shared pointer, which may point to a module without owning it.
    ModulePointer(std::shared_ptr<Module> module) : std::shared_ptr<Module>(std::move(module)) {}
    // Points to a module without owning it.
    explicit ModulePointer(Module* module) : std::shared_ptr<Module>(std::shared_ptr<Module>(), module) {}
    operator Module*() const noexcept { return get(); } // the module's address

    Tensor operator()(Tensor x) const; // calls the module, with its hooks
    Tensor forward(Tensor x) const;    // the module's forward(x), without hooks
    const std::shared_ptr<Module>& ptr() const noexcept { return *this; } // as a shared pointer
    // Returns the module as its own type M, or null where it is of another type.
    template <class M> M* as() const noexcept;
};

// The base class of layers and networks: a tree of modules with their parameters and buffers, as
// torch.nn.Module.
//
// A call m(x) runs forward(x) and the module's hooks, as a checkpoint if set_checkpoint() was called.
// Modules with several arguments or results derive from ModuleOf (below).
//
// A module can be moved: returned from functions, stored in a std::vector, passed by value.  Children that
// are members are held by address; when they are moved or destroyed, the modules that they are registered in
// are updated.  A module that was moved from is empty until another one is assigned.  Modules can't be
// copied: copies would share parameters, or would have members that are not the registered ones.
class Module {
public:
    // The source location of a call, which errors of anomaly mode name.  It can't be constructed from {}, so
    // that {} may be an argument of a module's own operator().
    struct Place {
        explicit Place(std::source_location l) : location(l) {} // from a location
        std::source_location location;                          // file and line of the call
    };

    Module() = default; // in training mode, without parameters, buffers and children
    // An empty module, as in Linear fc{nullptr}: calls throw Error(state) until another module is assigned.
    template <std::same_as<std::nullptr_t> Null> explicit Module(Null) : empty_(true) {}
    virtual ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;
    // Takes over parameters, buffers, children, hooks and modes of the other module, which is empty
    // afterwards, and replaces it in the modules that it is registered in as a member.
    Module(Module&&) noexcept;
    // Takes over the same from the other module.  Modules in which this one is registered retain it under its
    // names.  If memory runs out it throws, and nothing has changed.
    Module& operator=(Module&&); // NOLINT(performance-noexcept-move-constructor)

    // Returns the module itself, for code that was written for libtorch's modules, which are pointers:
    // net[0]->train().
    Module* operator->() noexcept { return this; }
    const Module* operator->() const noexcept { return this; } // the same
    Module& operator*() noexcept { return *this; }             // the same: for (auto& layer : *list)
    const Module& operator*() const noexcept { return *this; } // the same

    // Calls the module: forward(x) with its hooks.  Throws Error(state) for an empty module.
    Tensor operator()(Tensor x, Place where = Place(std::source_location::current()));
    // Computes the result for x, without hooks, as described for each class.  Modules override it; without an
    // override it throws Error(state).
    virtual Tensor forward(Tensor x);

    // Registers hook(module, input), which runs before each forward().  The handle can remove it.
    //
    // For all three kinds: hooks run in the order of registration.  They take const Tensor&, the first tensor
    // of inputs or outputs, or const std::vector<Tensor>&, all defined tensors of the call's arguments or
    // results in order, also those inside of structures.  They return nothing, or a tensor or list that
    // replaces the inputs, the outputs or the gradients of the inputs; an undefined tensor, or one that a
    // shorter list lacks, replaces nothing.  A list that is too long throws Error(argument).  While a program
    // is recorded, hooks run once then, and not when it is called.
    template <class F> HookHandle register_forward_pre_hook(F hook)
    {
        return add_pre_hook(detail::hook_of_lists<detail::Tensors>(std::move(hook)));
    }
    // Registers hook(module, input, output), which runs after each forward().
    template <class F> HookHandle register_forward_hook(F hook)
    {
        return add_hook(hooks_, detail::hook_of_lists<detail::Tensors, detail::Tensors>(std::move(hook)));
    }
    // Registers hook(module, grad_input, grad_output), which runs in backward passes once all gradients of
    // the inputs are computed.  Gradients are undefined for tensors that require none, and zeros for outputs
    // that are not used.  It does not run after the module is destroyed.
    template <class F> HookHandle register_full_backward_hook(F hook)
    {
        return add_hook(backward_hooks_,
                        detail::hook_of_lists<detail::Tensors, detail::Tensors>(std::move(hook)));
    }

    // Returns all parameters in the order of registration, a module's own before its children's; each once,
    // even if it has two names.  Without recurse it returns only the module's own.
    Parameters parameters(bool recurse = true) const;
    std::vector<Variable> buffers(bool recurse = true) const;          // all buffers, in the same way
    OrderedDict<Variable> named_parameters(bool recurse = true) const; // with names: "block.0.weight"
    OrderedDict<Variable> named_buffers(bool recurse = true) const;    // all buffers with their names
    std::size_t num_parameters() const; // number of elements of all parameters together

    // Returns the modules that are registered in this one, in order, each once.
    std::vector<ModulePointer> children() const;
    OrderedDict<ModulePointer> named_children() const; // children with their names
    // Returns this module, unless include_self is false, and all modules below it, in depth-first order, each once.
    std::vector<ModulePointer> modules(bool include_self = true);
    OrderedDict<ModulePointer> named_modules(); // all of them with names: "" for this one, "block.0"
    // Calls f for each module of modules(), children before the modules that contain them; returns this one.
    Module& apply(const std::function<void(Module&)>& f);
    // Returns the module as its own type M, or null where it is of another type.
    template <class M> M* as() noexcept { return dynamic_cast<M*>(this); }
    template <class M> const M* as() const noexcept { return dynamic_cast<const M*>(this); } // the same

    // Returns the present values of all parameters and buffers by name, with `prefix` before each name.
    // Later training does not change them.
    StateDict state_dict(const std::string& prefix = {}) const;
    // Assigns values, from any device, to the parameters and buffers of the same names.  Throws one Error
    // that lists all names (argument), shapes (shape) and dtypes (dtype) that do not fit, before anything has
    // changed, and Error(state) while a program is recorded.  Not strict: names that are missing or
    // unexpected are no error but returned.
    LoadResult load_state_dict(const StateDict&, bool strict = true);
    LoadResult load_state_dict(const StateDict&, const LoadOptions&); // the same with more options
    // The same from a file, tensor by tensor to the devices of the parameters, so that neither the host nor the
    // device holds a second copy of the model.  A matrix in q8_0, q4_0 or q4_k fits a weight that is quantised in
    // this format (nn::quantize), and a floating weight if options.cast is set; other tensors in blocks do not fit
    // (dtype).  Where the device fails on the way, as for lack of memory, or a block has a scale that is NaN
    // or infinite, parameters before that one have their new values.
    LoadResult load_state_dict(const ModelFile&, const LoadOptions& = {});

    // Casts floating parameters and buffers to a floating dtype, in place: their handles stay valid.
    // Gradients of those that change are discarded.  Call it before optimizers and programs are created; a
    // program that uses a changed one refuses its calls.  Throws Error(dtype) for other dtypes and
    // Error(state) while a program is recorded.
    Module& to(DType);
    Module& to(const Device&);        // moves all parameters and buffers to a device, in the same way
    Module& to(const Device&, DType); // moves and casts
    // Moves to the device of this name, as Device() takes it: "cuda:0".
    template <class Text>
    requires std::convertible_to<const Text&, std::string> Module& to(const Text& device)
    {
        return to(Device(std::string(device)));
    }
    Module& half() { return to(f16); }                // casts to f16
    Module& cpu() { return to(Device("reference")); } // moves to the device that computes on the host

    // Sets training mode (or evaluation mode) for this module and all below it; Dropout and BatchNorm depend
    // on it.  A program whose function read the mode throws Error(state) when it is called in the other mode:
    // record the function in each mode, and switch before a call.
    void train(bool on = true);
    void eval() { train(false); }                        // sets evaluation mode
    bool is_training() const { return training_.get(); } // true at first
    // Makes grad() of all parameters undefined, or zeros where it is defined and set_to_none is false.
    void zero_grad(bool set_to_none = true);
    // Sets whether gradients are computed for the parameters, all of them; returns this module.
    Module& requires_grad_(bool on = true);

    // Turns this module's calls into checkpoints from now on; nullopt turns that off.  Parameters and their
    // names do not change.
    void set_checkpoint(std::optional<CheckpointOptions>);

    virtual std::string name() const; // the class's name for printing, without namespaces: "Linear"
    // Returns the options for printing: "in_features=3, out_features=2, bias=True".
    virtual std::string extra_repr() const { return {}; }

protected:
    // Registers a parameter and returns it: a Variable itself, or a new Variable of another tensor's value.
    // For an undefined tensor it only reserves the name.  Throws Error(argument) for a name that is
    // registered already, is empty or has a dot.
    template <std::derived_from<Tensor> T = Tensor>
    Variable register_parameter(const std::string& name, const T& value, bool requires_grad = true)
    {
        return add_variable("register_parameter", &Module::parameters_, name,
                            variable_of(value, requires_grad));
    }
    // Registers a buffer in the same way: a tensor without gradient that state_dict() and to() include, as
    // running statistics.
    template <std::derived_from<Tensor> T = Tensor>
    Variable register_buffer(const std::string& name, const T& value)
    {
        return add_variable("register_buffer", &Module::buffers_, name, variable_of(value, false));
    }
    // Replaces a parameter by a buffer that stands for it, such as "weight.q4_0", the form q4_0 of weight, and returns
    // the buffer: that tensor itself.  The parameter's name remains reserved.  Throws Error(argument) for a name of no
    // parameter.
    Variable replace_parameter(const std::string& name, const std::string& form, const Tensor& buffer);
    // Registers a member as a child, by address, and returns it.  Throws Error(argument) for a name as above
    // and for a module that contains this one.
    template <std::derived_from<Module> M> M& register_module(const std::string& name, M& module)
    {
        add_child(name, module, nullptr);
        return module;
    }
    // Registers a member where it is initialised: Linear fc = register_module("fc", Linear(3, 2));
    template <class M>
    requires(std::derived_from<M, Module> && !std::is_const_v<M>) M
        register_module(const std::string& name, M&& module)
    {
        add_child(name, module, nullptr);
        return std::move(module);
    }
    // Registers a child that is shared with the caller.  Also throws Error(argument) for a null pointer.
    template <std::derived_from<Module> M>
    std::shared_ptr<M> register_module(const std::string& name, std::shared_ptr<M> module)
    {
        check_not_null(name, module.get());
        add_child(name, *module, module);
        return module;
    }
    // Removes the parameter, buffer or child of this name, whose name can then be registered again.  Throws
    // Error(argument) where there is none.
    void unregister(const std::string& name);
    using Children = std::vector<std::pair<std::string, std::shared_ptr<Module>>>; // names and modules
    // Replaces all children by these modules.  If one is refused, as by register_module, nothing has changed.
    void replace_modules(const Children&);

    // Runs forward(arguments...) as a call of this module, with hooks and checkpoint, and returns its result:
    // for modules with their own operator().  Throws Error(state) for an empty module.
    template <class F, class... Arguments> auto called(Place where, const F& forward, Arguments&... arguments)
    {
        using Result = std::decay_t<std::invoke_result_t<const F&, Arguments&...>>;
        const detail::Place place(where.location);
        if (is_plain()) return Result(forward(arguments...));
        std::vector<Tensor*> in;
        (detail::find_tensors(arguments, in), ...);
        std::optional<Result> result;
        run_call(in, [&] {
            result.emplace(forward(arguments...));
            std::vector<Tensor*> out;
            detail::find_tensors(*result, out);
            return out;
        });
        return Result(std::move(*result));
    }

private:
    struct Child {
        std::string name;
        Module* module;
        std::shared_ptr<Module> owned; // null for members
    };
    struct BackwardCall;
    using Named = std::vector<std::pair<std::string, Variable>>;
    using Places = std::vector<Tensor*>;
    template <class... Lists> using Hooks = detail::HookList<detail::Tensors(Module&, const Lists&...)>;
    using PreHooks = Hooks<detail::Tensors>;
    using InOutHooks = Hooks<detail::Tensors, detail::Tensors>;

    HookHandle add_pre_hook(detail::ModuleHook<detail::Tensors>);
    static HookHandle add_hook(std::shared_ptr<InOutHooks>&,
                               detail::ModuleHook<detail::Tensors, detail::Tensors>);
    bool is_plain() const; // no hooks and no checkpoint; Error(state) for an empty module
    void run_call(const Places& in, const std::function<Places()>& forward);
    Places run_watched(const Places& in, const std::function<Places()>& forward);

    static Variable variable_of(const Variable& v, bool) { return v; }
    static Variable variable_of(const Tensor& t, bool requires_grad)
    {
        return t.defined() ? Variable(t, requires_grad) : Variable();
    }
    Variable add_variable(const char* op, Named Module::*list, const std::string& name, Variable);
    void add_child(const std::string& name, Module&, std::shared_ptr<Module> owned);
    void check_name(const char* op, const std::string& name) const;
    static void check_not_null(const std::string& name, const Module*);
    bool contains(const Module*) const;
    void take(Module& other) noexcept;
    void take_place(const Module& other, Module& parent) noexcept;
    void leave_children() noexcept;

    void collect(const std::string& prefix, Named Module::*list, bool recurse, Named& to) const;
    void collect_modules(const std::string& name, ModulePointer self, OrderedDict<ModulePointer>& to);
    static ModulePointer pointer(const Child&);
    Named state() const;
    void convert(const std::optional<Device>&, std::optional<DType>);
    void print(std::ostream&, const std::string& indent) const;
    friend std::ostream& operator<<(std::ostream&, const Module&);
    friend class Summarizer; // sets training_ of one module

    Named parameters_, buffers_;
    std::vector<Child> children_;
    std::vector<Module*> parents_;        // modules that refer to this one by address, one entry per name
    std::shared_ptr<PreHooks> pre_hooks_; // null: none
    std::shared_ptr<InOutHooks> hooks_, backward_hooks_;
    std::shared_ptr<Module*> self_; // for backward passes: the present address, null after destruction
    std::optional<CheckpointOptions> checkpoint_;
    Mode training_{"the training mode of a module"};
    bool empty_ = false;
};

template <class M> M* ModulePointer::as() const noexcept { return dynamic_cast<M*>(get()); }

// Prints the tree of modules as PyTorch does, without a line break at its end.
std::ostream& operator<<(std::ostream&, const Module&);

// The base class of modules that take other arguments than one tensor, or return another result.  Arguments
// and results may be tensors, structures of them (lists, pairs, tuples, dictionaries, structs), sizes and
// numbers:
//
//     struct Attend : nn::ModuleOf<std::pair<Tensor, Tensor>(Tensor, Tensor)> {
//         std::pair<Tensor, Tensor> forward(Tensor query, Tensor key) override;
//     };
//     auto [output, weights] = attend(query, key);
template <class Signature> class ModuleOf;
// ModuleOf for the result R and these arguments.
template <class R, class... Arguments> class ModuleOf<R(Arguments...)> : public Module {
public:
    using Module::forward;
    using Module::Module;
    ModuleOf* operator->() noexcept { return this; }             // the module itself, as Module's
    const ModuleOf* operator->() const noexcept { return this; } // the same
    ModuleOf& operator*() noexcept { return *this; }             // the same
    const ModuleOf& operator*() const noexcept { return *this; } // the same
    virtual R forward(Arguments...) = 0;                         // computes the result, without hooks
    // Calls the module: forward(arguments...) with its hooks.  Throws Error(state) for an empty module.
    R operator()(std::decay_t<Arguments>... arguments, Place where = Place(std::source_location::current()))
    {
        return called(
            where, [this](std::decay_t<Arguments>&... given) { return forward(given...); }, arguments...);
    }
};

// Creates a shared pointer to a module: nn::make<nn::Linear>(3, 2).  Options may be in braces:
// nn::make<nn::Conv2d>(1, 8, {.kernel_size = 3}).
template <class M, class... Arguments> std::shared_ptr<M> make(Arguments&&... arguments)
{
    return std::make_shared<M>(std::forward<Arguments>(arguments)...);
}
// The same with options in braces alone.
template <class M> std::shared_ptr<M> make(const typename M::Options& options)
{
    return std::make_shared<M>(options);
}
// The same with one argument before the options.
template <class M, class A> std::shared_ptr<M> make(A&& a, const typename M::Options& options)
{
    return std::make_shared<M>(std::forward<A>(a), options);
}
// The same with two arguments before the options.
template <class M, class A, class B> std::shared_ptr<M> make(A&& a, B&& b, const typename M::Options& options)
{
    return std::make_shared<M>(std::forward<A>(a), std::forward<B>(b), options);
}
// The same with three arguments before the options.
template <class M, class A, class B, class C>
std::shared_ptr<M> make(A&& a, B&& b, C&& c, const typename M::Options& options)
{
    return std::make_shared<M>(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), options);
}

} // namespace reprise::nn
