// What modules are: trees of parameters and buffers, and calls with hooks around them.
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
#include <reprise/autograd/hooks.hpp>
#include <reprise/mode.hpp>
#include <reprise/nn/call.hpp>
#include <reprise/ordered_dict.hpp>
#include <reprise/tensor.hpp>

namespace reprise::nn {

class Module;
using StateDict = std::map<std::string, Tensor>;

struct LoadOptions {
    bool strict = true;   // names that are missing or unexpected are an Error
    std::string prefix{}; // only names that begin so are looked at, without it: "encoder."
    bool cast = false;    // values of another dtype are cast, floating to floating and integers to integers
};
// Names, sorted: what the module has and the values lack, and the other way round.
struct LoadResult {
    std::vector<std::string> missing_keys{}, unexpected_keys{};
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

// A hook that takes single tensors, or lists of them, and gives nothing, a tensor or a list, as one of lists.
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

// A tree of modules with their parameters and buffers.
//
// A call m(x) is forward(x) with the module's hooks around it, in the caller's place for anomaly mode, as a checkpoint
// where set_checkpoint() says so.  Modules of several arguments or results derive from ModuleOf (below).
//
// A module can be moved: returned from functions, kept in a std::vector, passed by value.  Children that are members are
// held by address, and tell the modules that they are registered in when they are moved or destroyed.  What was moved
// from is empty, until another module is assigned.  There are no copies: two modules would share parameters, or would
// have members that are not the registered ones.
class Module {
public:
    // In the caller's source.  Never made of {}, which may be an argument of a module's own operator().
    struct Place {
        explicit Place(std::source_location l) : location(l) {}
        std::source_location location;
    };

    Module() = default;
    // Linear fc{nullptr}: to be assigned before it is called, as one that was moved from.
    template <std::same_as<std::nullptr_t> Null> explicit Module(Null) : empty_(true) {}
    virtual ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;
    Module(Module&&) noexcept;
    // Takes over what the other is made of.  The modules that this is registered in have the new one.
    Module& operator=(Module&&) noexcept;

    Tensor operator()(Tensor x, Place where = Place(std::source_location::current()));
    virtual Tensor forward(Tensor x); // Error(state) where it is not overridden

    // Hooks are called in the order of registration: hook(module, input), hook(module, input, output), and in backward
    // passes hook(module, grad_input, grad_output), once all gradients by the inputs are there.  A hook takes const
    // Tensor&, the first tensor of each, or const std::vector<Tensor>&, all defined tensors of the call's arguments or
    // results in order, those inside of structures too.  It gives nothing, or a tensor or list that takes the place of
    // the inputs, the outputs or the gradients by the inputs; undefined tensors and those beyond a list's end leave what
    // there was.  Error(argument) for a list that is too long.
    //
    // Gradients are undefined where a tensor requires none, and zeros by outputs that are not used.  While a program is
    // recorded hooks run then, and at no call.  In a backward pass after the module is gone none run.
    template <class F> HookHandle register_forward_pre_hook(F hook)
    {
        return add_pre_hook(detail::hook_of_lists<detail::Tensors>(std::move(hook)));
    }
    template <class F> HookHandle register_forward_hook(F hook)
    {
        return add_hook(hooks_, detail::hook_of_lists<detail::Tensors, detail::Tensors>(std::move(hook)));
    }
    template <class F> HookHandle register_full_backward_hook(F hook)
    {
        return add_hook(backward_hooks_,
                        detail::hook_of_lists<detail::Tensors, detail::Tensors>(std::move(hook)));
    }

    // In order of registration, a module's own before its children's; one that has two names comes once.
    std::vector<Variable> parameters(bool recurse = true) const;
    std::vector<Variable> buffers(bool recurse = true) const;
    OrderedDict<Variable> named_parameters(bool recurse = true) const; // "block.0.weight"
    OrderedDict<Variable> named_buffers(bool recurse = true) const;
    std::size_t num_parameters() const; // elements of all parameters

    // Children, and this with all that are below it in depth-first order; one that has two names comes once.  They are
    // valid until the module or they are moved or gone.
    std::vector<Module*> children() const;
    OrderedDict<Module*> named_children() const;
    std::vector<Module*> modules();
    OrderedDict<Module*> named_modules(); // this itself is ""
    // f of each module, those below before those above.
    Module& apply(const std::function<void(Module&)>& f);
    template <class M> M* as() noexcept { return dynamic_cast<M*>(this); } // null: it is of another type
    template <class M> const M* as() const noexcept { return dynamic_cast<const M*>(this); }

    // The values that parameters and buffers have now; later training does not change them.
    StateDict state_dict(const std::string& prefix = {}) const;
    // Takes values over, from any device.  One Error tells all names, shapes and dtypes that do not fit; nothing has
    // changed then.  Not strict: names that are missing or unexpected are passed over, and given back.
    LoadResult load_state_dict(const StateDict&, bool strict = true);
    LoadResult load_state_dict(const StateDict&, const LoadOptions&);

    // Floating parameters and buffers get another dtype, all another device, with the same handles.  Gradients are
    // forgotten.  Before optimizers and programs are made: a program that uses them refuses its calls then.
    Module& to(DType);
    Module& to(const Device&);
    Module& to(const Device&, DType);

    // A program whose function asked for the mode is refused, Error(state), while the mode is another one than it was
    // recorded in: record the function in each mode, and switch before a call.
    void train(bool on = true);
    void eval() { train(false); }
    bool is_training() const { return training_.get(); }
    void zero_grad();
    Module& requires_grad_(bool on = true); // of all parameters

    // Its calls are checkpoints from now on; nullopt: they are no more.  Parameters and their names stay as they are.
    void set_checkpoint(std::optional<CheckpointOptions>);

    // For printing: the class, "Linear", and its options, "in_features=3, out_features=2, bias=True".
    virtual std::string name() const;
    virtual std::string extra_repr() const { return {}; }

protected:
    // A Variable is registered as it is, any other tensor as a new one of its value.  One that is undefined has a name
    // and no more.  Error(argument) for a name that is taken, is empty or has a dot.
    template <std::derived_from<Tensor> T = Tensor>
    Variable register_parameter(const std::string& name, const T& value, bool requires_grad = true)
    {
        return add_variable("register_parameter", &Module::parameters_, name,
                            variable_of(value, requires_grad));
    }
    template <std::derived_from<Tensor> T = Tensor>
    Variable register_buffer(const std::string& name, const T& value)
    {
        return add_variable("register_buffer", &Module::buffers_, name, variable_of(value, false));
    }
    // A member: it leaves this when it is destroyed.  Gives it back.  Errors as above.
    template <std::derived_from<Module> M> M& register_module(const std::string& name, M& module)
    {
        add_child(name, module, nullptr);
        return module;
    }
    // For members that are made where they are registered: Linear fc = register_module("fc", Linear(3, 2));
    template <class M>
    requires(std::derived_from<M, Module> && !std::is_const_v<M>) M
        register_module(const std::string& name, M&& module)
    {
        add_child(name, module, nullptr);
        return std::move(module);
    }
    template <std::derived_from<Module> M>
    std::shared_ptr<M> register_module(const std::string& name, std::shared_ptr<M> module)
    {
        check_not_null(name, module.get());
        add_child(name, *module, module);
        return module;
    }
    // These and no others are the children then; where one does not fit, nothing has changed.
    using Children = std::vector<std::pair<std::string, std::shared_ptr<Module>>>;
    void replace_modules(const Children&);

    // forward(arguments...) as a call of this module.
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
    bool is_plain() const; // nothing is around forward(); Error(state) where this is empty
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
    void take_place(Module& other) noexcept;
    void leave_children() noexcept;

    void collect(const std::string& prefix, Named Module::*list, bool recurse, Named& to) const;
    void collect_modules(const std::string& name, OrderedDict<Module*>& to);
    Named state() const;
    void convert(const std::optional<Device>&, std::optional<DType>);
    void print(std::ostream&, const std::string& indent) const;
    friend std::ostream& operator<<(std::ostream&, const Module&);

    Named parameters_, buffers_;
    std::vector<Child> children_;
    std::vector<Module*> parents_;        // that hold this by address, one for each name
    std::shared_ptr<PreHooks> pre_hooks_; // null: none
    std::shared_ptr<InOutHooks> hooks_, backward_hooks_;
    std::shared_ptr<Module*> self_; // for tapes: where this is now, null when it is gone; made when needed
    std::optional<CheckpointOptions> checkpoint_;
    Mode training_{"the training mode of a module"};
    bool empty_ = false;
};

// The tree as PyTorch prints it, without a line break at its end.
std::ostream& operator<<(std::ostream&, const Module&);

// A module whose call takes other arguments than one tensor, or gives another result; of tensors, structures of them
// (lists, pairs, tuples, dictionaries, structs), sizes and numbers:
//
//     struct Attend : nn::ModuleOf<std::pair<Tensor, Tensor>(Tensor, Tensor)> {
//         std::pair<Tensor, Tensor> forward(Tensor query, Tensor key) override;
//     };
//     auto [output, weights] = attend(query, key);
template <class Signature> class ModuleOf;
template <class R, class... Arguments> class ModuleOf<R(Arguments...)> : public Module {
public:
    using Module::forward;
    using Module::Module;
    virtual R forward(Arguments...) = 0;
    R operator()(std::decay_t<Arguments>... arguments, Place where = Place(std::source_location::current()))
    {
        return called(
            where, [this](std::decay_t<Arguments>&... given) { return forward(given...); }, arguments...);
    }
};

// A module of its own: nn::make<nn::Linear>(3, 2).  Options may be in braces: nn::make<nn::Conv2d>(1, 8,
// {.kernel_size = 3}).
template <class M, class... Arguments> std::shared_ptr<M> make(Arguments&&... arguments)
{
    return std::make_shared<M>(std::forward<Arguments>(arguments)...);
}
template <class M> std::shared_ptr<M> make(const typename M::Options& options)
{
    return std::make_shared<M>(options);
}
template <class M, class A> std::shared_ptr<M> make(A&& a, const typename M::Options& options)
{
    return std::make_shared<M>(std::forward<A>(a), options);
}
template <class M, class A, class B> std::shared_ptr<M> make(A&& a, B&& b, const typename M::Options& options)
{
    return std::make_shared<M>(std::forward<A>(a), std::forward<B>(b), options);
}
template <class M, class A, class B, class C>
std::shared_ptr<M> make(A&& a, B&& b, C&& c, const typename M::Options& options)
{
    return std::make_shared<M>(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), options);
}

} // namespace reprise::nn
