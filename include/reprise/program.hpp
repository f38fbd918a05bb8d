// Programs: a function is recorded once with symbolic sizes and replayed at any sizes.
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

#include <reprise/progress.hpp>
#include <reprise/structure.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// Options of record().
struct RecordOptions {
    bool keep_grads = false;  // whether grad() returns the gradients that a call has computed
    std::uint32_t slots = 16; // maximum calls of the program in flight (Device::set_calls_in_flight)
    bool timestamps = false;  // measures the time of each launch, for times()
    // Fuses chains of elementwise ops into kernels that are compiled while recording: bitwise equal results in less
    // time. On Vulkan devices it has no effect unless reprise::fuser is linked.
    bool fuse = true;
    std::optional<Device> device = std::nullopt; // the device to run on; none: default_device()
    // Limits the bytes that a call may hold: temporaries, workspaces, gradients and outputs, without parameters and
    // optimizer state (CallMemory::state). To stay within the limit, values are dropped while they are not needed and
    // recomputed by the same launches, so results stay bitwise equal and calls take longer. The number of dropped
    // values depends on the sizes: record() compiles up to four plans, each with its own `slots`, and a call uses the
    // first that fits. Error(out_of_memory), with the lowest number of bytes that was found: from record() if nothing
    // fits at the smallest sizes; from a call, before it has any effect, if nothing fits at its sizes. If a program
    // becomes a part of another one, the other's budget applies.
    std::optional<std::uint64_t> memory_budget = std::nullopt;
    // Cancels the recording: record() calls it on its thread before each pass and compilation of a kernel, and throws
    // Error(cancelled) once it returns true.  It must not call the library.
    std::function<bool()> stop{};
    // Called by record() on its thread, while locks of the library are held: it must not call the library, nor wait for
    // a thread that does. What it throws ends the recording, and record() throws it.
    std::function<void(const RecordProgress&)> progress{};
};

// The time of one launch of a call.
struct LaunchTime {
    std::string label{}; // kernel and op
    double begin = 0;    // its start, in ns after the start of the call
    double end = 0;      // its end, in ns after the start of the call
    double flops = 0;    // multiplications and additions; 0 if they are not counted
    double bytes = 0;    // bytes of its operands' values
};

// The device memory that a call holds, in bytes.
struct CallMemory {
    // The arena: temporaries, workspaces, gradients that the program does not return, and values that checkpoints
    // recompute.
    std::uint64_t peak = 0;
    // The maximum over the launches of the bytes in use: no arena for this order of launches can be smaller.
    std::uint64_t lower_bound = 0;
    std::uint64_t outputs = 0; // the results, each rounded up to 256 bytes
    std::uint64_t state = 0;   // parameters, optimizer state, running statistics, constants
};

// A recorded function.  Copies share it.  Parameters, optimizer moments and running statistics that the
// function read or assigned are the program's state: they are found while recording, and each call updates
// them in place.
class Program {
public:
    Program() = default; // undefined
    // Replays the recording and returns its results in newly allocated memory. The inputs' sizes determine the values
    // of their symbols, and `sizes` those of the symbols that the function takes as numbers. Error(shape, dtype,
    // device) if an input does not match its spec, or if the sizes violate a guard of the recording; nothing has
    // changed then, and the program stays usable. No gradient flows through a call: take gradients inside the recorded
    // function.
    //
    // While another program is recorded, this one is inlined into it, with its state, random numbers and guards, and
    // also without gradients through it.
    std::vector<Tensor> call(const std::vector<Tensor>& inputs, const DimVector& sizes = {}) const;
    // Calls the program with tensors, sizes and structures of them. Returns the first result, undefined if there is
    // none, and discards the others: call() returns all.
    template <class... Inputs> Tensor operator()(const Inputs&... inputs) const
    {
        detail::Leaves in;
        (flatten_structure(inputs, in), ...);
        const std::vector<Tensor> all = call(in.tensors, in.sizes);
        return all.empty() ? Tensor() : all[0];
    }
    bool defined() const noexcept { return impl_ != nullptr; } // false for Program()

    // Describes the program: inputs, symbols, guards of a call, state, results, values with their lifetimes, and
    // launches with their grids. With a memory budget it describes all plans.
    std::string text() const;
    // The plan as a graph for Graphviz; with a memory budget the plan that drops least.
    std::string dot() const;
    // Draws the arena for these sizes (see arena_bytes()): time from left to right, addresses upwards, one rectangle
    // per temporary.
    std::string svg(const std::vector<std::int64_t>& symbol_values) const;
    // The number of launches of the plan, including those that a call's sizes disable; with a memory budget, of the
    // plan that drops least.
    std::size_t launches() const;
    // With RecordOptions::timestamps: the launches of the newest finished call, in the order in which they ran.
    // Launches that its sizes disable take almost no time. Empty if the device has no timestamps.
    std::vector<LaunchTime> times() const;
    // The bytes of temporaries for these sizes. `symbol_values` has a value for each symbol, in the order of text():
    // sizes that the function takes first, then symbols in the order of the specs.
    std::uint64_t arena_bytes(const std::vector<std::int64_t>& symbol_values) const;
    // The memory that a call at these sizes holds.  Error(argument) unless there is a value for each symbol.
    CallMemory memory(const std::vector<std::int64_t>& symbol_values) const;
    // The bytes of temporaries in use at each launch, in the order of the launches of the plan for these
    // sizes.
    std::vector<std::uint64_t> memory_by_launch(const std::vector<std::int64_t>& symbol_values) const;

    struct Impl; // for the library itself; src/program/program.hpp
    // For the library itself.
    explicit Program(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
    const std::shared_ptr<Impl>& impl() const { return impl_; } // for the library itself

private:
    template <class T> static void flatten_structure(const T& input, detail::Leaves& out)
    {
        if constexpr (std::is_convertible_v<const T&, Tensor>) out.tensors.push_back(input);
        else if constexpr (std::is_convertible_v<const T&, Dim>) out.sizes.push_back(input);
        else detail::Structure<T>::flatten_structure(input, out);
    }

    std::shared_ptr<Impl> impl_;
};

// Sets the folder that caches the kernels compiled by record() for later runs; an empty path disables the cache. The
// default is the environment variable REPRISE_CACHE_DIR if set, otherwise "reprise" in the user's cache folder;
// process.hpp says how to have none.
void set_cache_directory(const std::filesystem::path&);

// A function from tensors to tensors, as taken by record_function() and checkpoints.
using TracedFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
// Records a function of tensors of the given types, as record() does. `sizes` are symbols whose values are passed to
// each call.
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

// For a generic callable: tries increasing numbers of tensors until it can be invoked.
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
            static_assert(std::is_void_v<F>,
                          "record() takes functions with a known signature, or generic ones of up to 12 "
                          "tensors; or the body of a generic lambda does not compile: see the errors above");
            return std::type_identity<void()>{};
        }
    }
    using type = typename decltype(of(std::make_index_sequence<N>{}))::type;
};
template <class F> struct CallSignature : GenericSignature<F> {};
template <class F>
requires(std::is_pointer_v<F> || requires { &F::operator(); }) struct CallSignature<F> : SignatureOf<F> {};

// Throw Error(argument) unless the specs match the arguments, and the inputs the specs.
void check_count(std::size_t takes, std::size_t specs);
void check_argument(std::size_t index, bool fits, const Layout& spec);
void check_inputs(const Layout& recorded, const Layout& given);
void check_result(const Leaves&); // throws if a result is a size

} // namespace detail

template <class Function> class Recorded;
// A Program that is called like the recorded function: it takes and returns the same types. Vectors and dictionaries
// must have the lengths and keys that they had while recording.
template <class R, class... Args> class Recorded<R(Args...)> : public Program {
public:
    Recorded() = default; // undefined
    // For the library itself: record() creates it.
    Recorded(Program p, detail::Layout arguments, std::shared_ptr<const detail::Layout> result)
        : Program(std::move(p)), arguments_(std::move(arguments)), result_(std::move(result))
    {}
    // Program::call() with the arguments' tensors and sizes.  Error(argument) for lists of other lengths, or
    // dictionaries with other keys, than in the recording.
    R operator()(const Args&... args) const
    {
        if (defined())
            detail::check_inputs(arguments_,
                                 {detail::Layout::Kind::list, {detail::Structure<Args>::layout(args)...}});
        detail::Leaves in;
        (detail::Structure<Args>::flatten_structure(args, in), ...);
        const detail::Leaves out{call(in.tensors, in.sizes), {}};
        if constexpr (!std::is_void_v<R>) {
            detail::LeafReader reader{out};
            return detail::Structure<R>::unflatten_structure(*result_, reader);
        }
    }

private:
    detail::Layout arguments_;
    std::shared_ptr<const detail::Layout> result_; // null: returns nothing
};

namespace detail {

template <class Function> struct Recorder;
template <class R, class... Args> struct Recorder<R(Args...)> {
    template <class F>
    static Recorded<R(Args...)> record(F f, const ArgumentSpecs& specs, const RecordOptions& options)
    {
        std::vector<ArgumentSpec> list = specs.list();
        if constexpr (sizeof...(Args) == 1) // for a function of one vector, the specs may be passed unnested
            if (!(Structure<Args>::fits(list.empty() ? Layout() : list[0].layout()) && ...))
                list = std::vector<ArgumentSpec>(1, ArgumentSpec(list));
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
            auto args = Structure<std::tuple<Args...>>::unflatten_structure(arguments, reader);
            Leaves out;
            if constexpr (std::is_void_v<R>) {
                std::apply(f, args);
            } else {
                const R value = std::apply(f, args);
                *result = Structure<R>::layout(value);
                Structure<R>::flatten_structure(value, out);
            }
            check_result(out);
            return out.tensors;
        };
        Program p = record_function(run, tensors, options, sizes);
        return {std::move(p), std::move(arguments), std::move(result)};
    }
};

} // namespace detail

// Runs `f` once on placeholders of the given types and records its ops as a program. f takes Tensors, sizes (Dim) and
// structures of them (structure.hpp), and returns nothing, a Tensor or a structure of Tensors. Error(argument) if the
// specs do not match the arguments; Error(state) if f reads a value.
//
//     Dim n = symbol("n"), length = symbol("length", {.min = 1});
//     auto f = record([](Tensor x, Dim length) { return narrow(x, 0, 0, length); }, {spec({n, 4}), length});
//     Tensor y = f(x, 3);
template <class F> auto record(F f, const ArgumentSpecs& specs, const RecordOptions& options = {})
{
    return detail::Recorder<typename detail::CallSignature<F>::type>::record(std::move(f), specs, options);
}

// Whether this thread is recording a program.
bool is_recording();
// The number of this thread's current recording, unique among all recordings; 0 if there is none.
std::uint32_t recording_id();

// Runs `f` at the start of each call of the program that is being recorded; in eager code, runs it immediately. If
// such a call fails, or Device::cancel() drops it, `undo` reverts the effect of `f`, in the second case on the thread
// that cancels. Without `undo`, the call after a failed one counts as its retry and does not run `f` again; after a
// dropped one `f` runs again.
void on_each_call(std::function<void()> f, std::function<void()> undo = nullptr);
// While this object exists, nothing that this thread does is recorded. It serves to create state, such as moments,
// inside a recorded function.
class outside_recording {
public:
    outside_recording();  // suspends the recording
    ~outside_recording(); // continues the recording
    outside_recording(const outside_recording&) = delete;
    outside_recording& operator=(const outside_recording&) = delete;

private:
    void* suspended_;
};

} // namespace reprise
