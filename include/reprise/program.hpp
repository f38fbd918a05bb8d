// Programs: a function recorded once with symbolic sizes and replayed at any.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/structure.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// How record() makes a program.
struct RecordOptions {
    bool keep_grads = false;  // keep the .grad() that the program zeroes before it writes them
    std::uint32_t slots = 16; // most calls of it in flight (Device::set_calls_in_flight)
    bool timestamps = false;  // of each launch, for times()
    // Chains of elementwise ops become one kernel, made and compiled now: the same bits in less time.  Nothing
    // changes where no compiler was built into the library.
    bool fuse = true;
    std::optional<Device> device = std::nullopt; // where it runs; none: default_device()
    // The most bytes that a call may hold of temporaries, workspaces, gradients and outputs; parameters and optimizer state
    // come on top (CallMemory::state).  Values are then dropped while nobody reads them and made again by the same
    // launches, so the bits stay and calls take longer.  Sizes decide how many: up to four nested sets are made while
    // recording, each with `slots` of its own, and a call takes the first that fits.  Error(out_of_memory), with the least
    // that was found, from record() where nothing fits at the smallest sizes, from a call before it does anything where
    // nothing fits at its sizes.  Of a program that becomes a part of another, that one's budget counts.
    std::optional<std::uint64_t> memory_budget = std::nullopt;
};

// One launch of a call.
struct LaunchTime {
    std::string label{}; // kernel and op
    double begin = 0;    // ns from the call's start
    double end = 0;      // the same
    double flops = 0;    // multiplications and additions; 0: not counted
    double bytes = 0;    // of the values that its operands lie in
};

// What a call holds of the device's memory, in bytes.
struct CallMemory {
    // The arena: temporaries, workspaces, gradients that the program does not keep, what checkpoints compute again.
    std::uint64_t peak = 0;
    // The most of it that lives at one launch: in this order of launches no program takes less.
    std::uint64_t lower_bound = 0;
    std::uint64_t outputs = 0; // results, each rounded up to 256 bytes
    std::uint64_t state = 0;   // parameters, optimizer state, running statistics, constants
};

// A recorded function.  Copies share it.  Parameters, optimizer moments and running statistics that the
// function read or assigned are its state: found while recording and updated in place at each call.
class Program {
public:
    Program() = default;
    // Binds the symbols from the inputs' sizes, and from `sizes` those that the function takes as numbers, and
    // replays.  Throws Error(shape/dtype/device) where an input does not fit its spec, or where sizes break
    // what the recording could not decide; then nothing has happened and the program stays usable.  Results
    // have memory of their own.  No gradient flows through a call: gradients belong into the program.
    //
    // While another program is recorded, what this one does becomes a part of that: with its state, random
    // numbers and conditions, and again without gradients through it.
    std::vector<Tensor> call(const std::vector<Tensor>& inputs, const DimVector& sizes = {}) const;
    // The first result; undefined where there is none.  Tensors, sizes and structures of them.
    template <class... Inputs> Tensor operator()(const Inputs&... inputs) const
    {
        detail::Leaves in;
        (take_apart(inputs, in), ...);
        const std::vector<Tensor> all = call(in.tensors, in.sizes);
        return all.empty() ? Tensor() : all[0];
    }
    bool defined() const noexcept { return impl_ != nullptr; } // false for Program()

    // Inputs, symbols, conditions of a call, state and results; values with lifetimes, launches with grids as
    // expressions.  Within a memory budget there are several plans: text() has all, dot() and launches() are of the one
    // that drops least.
    std::string text() const;
    std::string dot() const; // the plan as a graph
    // The arena for these sizes (as for arena_bytes): each temporary a rectangle, epochs by addresses.
    std::string svg(const std::vector<std::int64_t>& symbol_values) const;
    std::size_t launches() const; // in the plan, those included that a call's sizes switch off
    // With RecordOptions::timestamps: the launches of the newest finished call in the order in which they ran;
    // those that its sizes switch off take next to no time.  Empty where the device has no timestamps.
    std::vector<LaunchTime> times() const;
    // `symbol_values` in the order of text(): sizes that the function takes, then as the specs name the symbols.
    std::uint64_t arena_bytes(
        const std::vector<std::int64_t>& symbol_values) const; // of temporaries, for these sizes
    // What a call at these sizes holds; Error(argument) unless there is a value for each symbol.
    CallMemory memory(const std::vector<std::int64_t>& symbol_values) const;
    // Bytes of temporaries that live while each launch runs, in the order of launches of the plan for these sizes.
    std::vector<std::uint64_t> memory_by_launch(const std::vector<std::int64_t>& symbol_values) const;

    struct Impl; // src/program/program.hpp
    // For the library itself.
    explicit Program(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
    const std::shared_ptr<Impl>& impl() const { return impl_; } // for the library itself

private:
    template <class T> static void take_apart(const T& input, detail::Leaves& out)
    {
        if constexpr (std::is_convertible_v<const T&, Tensor>) out.tensors.push_back(input);
        else if constexpr (std::is_convertible_v<const T&, Dim>) out.sizes.push_back(input);
        else detail::Structure<T>::take_apart(input, out);
    }

    std::shared_ptr<Impl> impl_;
};

// Where kernels that record() compiled are kept for later runs; an empty path: nowhere.  The default is REPRISE_CACHE_DIR
// if that is set, else "reprise" in the user's folder for caches.
void set_cache_directory(const std::filesystem::path&);

// A function as record_function() and checkpoints take it: tensors to tensors.
using TracedFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
// `sizes`: symbols whose values are given with each call.
Program record_function(const TracedFunction&, const std::vector<Spec>&, const RecordOptions& = {},
                        const DimVector& sizes = {});

namespace detail {

// The signature of a function or of an object with one call operator: R(std::decay_t<A>...).
template <class F> struct SignatureOf : SignatureOf<decltype(&F::operator())> {};
template <class T> using Plain =
    std::conditional_t<std::is_base_of_v<Tensor, std::decay_t<T>>, Tensor, std::decay_t<T>>;
template <class R, class... A> struct SignatureOf<R(A...)> {
    using type = Plain<R>(Plain<A>...);
};
template <class R, class... A> struct SignatureOf<R (*)(A...)> : SignatureOf<R(A...)> {};
template <class R, class C, class... A> struct SignatureOf<R (C::*)(A...)> : SignatureOf<R(A...)> {};
template <class R, class C, class... A> struct SignatureOf<R (C::*)(A...) const> : SignatureOf<R(A...)> {};
template <class R, class... A> struct SignatureOf<R (*)(A...) noexcept> : SignatureOf<R(A...)> {};
template <class R, class C, class... A> struct SignatureOf<R (C::*)(A...) noexcept> : SignatureOf<R(A...)> {};
template <class R, class C, class... A> struct SignatureOf<R (C::*)(A...) const noexcept>
    : SignatureOf<R(A...)> {};

// Of a generic one: as many tensors as it takes.
template <class T, std::size_t> using Repeat = T;
template <class F, std::size_t N = 0> struct GenericSignature {
    template <std::size_t... I> static auto of(std::index_sequence<I...>)
    {
        if constexpr (std::is_invocable_v<F&, Repeat<Tensor, I>&...>) {
            return std::type_identity<Plain<std::invoke_result_t<F&, Repeat<Tensor, I>&...>>(
                Repeat<Tensor, I>...)>{};
        } else if constexpr (N < 12) {
            return std::type_identity<typename GenericSignature<F, N + 1>::type>{};
        } else {
            static_assert(std::is_void_v<F>, "record() takes functions with a known signature, "
                                             "or generic ones of up to 12 tensors");
            return std::type_identity<void()>{};
        }
    }
    using type = typename decltype(of(std::make_index_sequence<N>{}))::type;
};
template <class F> struct CallSignature : GenericSignature<F> {};
template <class F>
requires(std::is_pointer_v<F> || requires { &F::operator(); }) struct CallSignature<F> : SignatureOf<F> {};

// Throw Error(argument) unless the specs are those of the arguments, the inputs those of the specs.
void check_count(std::size_t takes, std::size_t specs);
void check_argument(std::size_t index, bool fits, const Layout& spec);
void check_inputs(const Layout& recorded, const Layout& given);
void check_result(const Leaves&); // no sizes

} // namespace detail

template <class Function> class Recorded;
// A Program that is called as the function that it was made of: it takes and gives the same types.  Vectors and
// dictionaries have the lengths and keys that they had while recording.
template <class R, class... Args> class Recorded<R(Args...)> : public Program {
public:
    Recorded() = default;
    // record() makes it.
    Recorded(Program p, detail::Layout arguments, std::shared_ptr<const detail::Layout> result)
        : Program(std::move(p)), arguments_(std::move(arguments)), result_(std::move(result))
    {}
    // Program::call() with the arguments' tensors and sizes; Error(argument) for lists of other lengths and other keys
    // than in the recording.
    R operator()(const Args&... args) const
    {
        if (defined())
            detail::check_inputs(arguments_,
                                 {detail::Layout::Kind::list, {detail::Structure<Args>::layout(args)...}});
        detail::Leaves in;
        (detail::Structure<Args>::take_apart(args, in), ...);
        const detail::Leaves out{call(in.tensors, in.sizes), {}};
        if constexpr (!std::is_void_v<R>) {
            detail::LeafReader reader{out};
            return detail::Structure<R>::put_together(*result_, reader);
        }
    }

private:
    detail::Layout arguments_;
    std::shared_ptr<const detail::Layout> result_; // null: nothing
};

namespace detail {

template <class Function> struct Recorder;
template <class R, class... Args> struct Recorder<R(Args...)> {
    template <class F>
    static Recorded<R(Args...)> record(F f, const ArgumentSpecs& specs, const RecordOptions& options)
    {
        std::vector<ArgumentSpec> list = specs.list();
        if constexpr (sizeof...(Args) == 1) // of a function of one vector the specs may be given as they are
            if (!(Structure<Args>::fits(list.empty() ? Layout() : list[0].layout()) && ...)) list = {list};
        check_count(sizeof...(Args), list.size());
        std::vector<Spec> tensors;
        Leaves placeholders;
        Layout arguments{Layout::Kind::list};
        for (const ArgumentSpec& a : list) {
            arguments.items.push_back(a.layout());
            tensors.insert(tensors.end(), a.tensors().begin(), a.tensors().end());
            placeholders.sizes.insert(placeholders.sizes.end(), a.sizes().begin(), a.sizes().end());
        }
        [&]<std::size_t... I>(std::index_sequence<I...>)
        {
            (check_argument(I, Structure<Args>::fits(arguments.items[I]), arguments.items[I]), ...);
        }
        (std::index_sequence_for<Args...>{});
        auto result = std::make_shared<Layout>();
        const DimVector sizes = placeholders.sizes;
        const auto run = [&](const std::vector<Tensor>& in) {
            placeholders.tensors = in;
            LeafReader reader{placeholders};
            auto args = Structure<std::tuple<Args...>>::put_together(arguments, reader);
            Leaves out;
            if constexpr (std::is_void_v<R>) {
                std::apply(f, args);
            } else {
                const R value = std::apply(f, args);
                *result = Structure<R>::layout(value);
                Structure<R>::take_apart(value, out);
            }
            check_result(out);
            return out.tensors;
        };
        Program p = record_function(run, tensors, options, sizes);
        return {std::move(p), std::move(arguments), std::move(result)};
    }
};

} // namespace detail

// Runs `f` once on placeholders of the given types and records what it did.  f takes Tensors, sizes (Dim) and
// structures of them (structure.hpp) and gives nothing, a Tensor or a structure of them.
//
//     Dim n = symbol("n"), length = symbol("length", {.min = 1});
//     auto f = record([](Tensor x, Dim length) { return narrow(x, 0, 0, length); }, {spec({n, 4}), length});
//     Tensor y = f(x, 3);
template <class F> auto record(F f, const ArgumentSpecs& specs, const RecordOptions& options = {})
{
    return detail::Recorder<typename detail::CallSignature<F>::type>::record(std::move(f), specs, options);
}

// Whether this thread runs a function that is being recorded.
bool is_recording();
// The number of the recording that this thread is in, which no other one ever has; 0: none.
std::uint32_t recording_id();

// A number that a recorded program asks for anew at each call (a learning rate, a bias correction); in eager
// code it is asked for now.  A tensor of one element, f32.
Tensor host_scalar(std::function<double()> value);
// Runs `f` now in eager code, and at the start of each call of the program that is being recorded.  Where such a
// call fails, `undo` takes back what `f` did; without it, the next call is taken for the same one tried again and
// does not run `f` a second time.
void on_each_call(std::function<void()> f, std::function<void()> undo = nullptr);
// While it lives, what this thread does is not part of the program being recorded: for making state inside
// it.
class outside_recording {
public:
    outside_recording();
    ~outside_recording();
    outside_recording(const outside_recording&) = delete;
    outside_recording& operator=(const outside_recording&) = delete;

private:
    void* suspended_;
};

} // namespace reprise
