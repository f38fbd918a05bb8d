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

#include <reprise/tensor.hpp>

namespace reprise {

struct Spec {
    Shape shape;
    DType dtype = f32;
};
inline Spec spec(Shape shape, DType dtype = f32) { return {std::move(shape), dtype}; }

struct RecordOptions {
    bool keep_grads = false; // keep the .grad() that the program zeroes before it writes them
    std::uint32_t slots = 3; // calls in flight
    bool timestamps = false; // of each launch, for times()
    // Chains of elementwise ops become one kernel, made and compiled now: the same bits in less time.  Nothing
    // changes where no compiler was built into the library.
    bool fuse = true;
    std::optional<Device> device = std::nullopt;
};

// A recorded function.  Copies share it.  Parameters, optimizer moments and running statistics that the
// function read or assigned are its state: found while recording and updated in place at each call.
class Program {
public:
    Program() = default;
    // Binds the symbols from the inputs' sizes and replays.  Throws Error(shape/dtype/device) where an input
    // does not fit its spec; the program stays usable.  Results have memory of their own.  No gradient flows
    // through a call: gradients belong into the program.
    std::vector<Tensor> call(const std::vector<Tensor>& inputs) const;
    // The first result; undefined where there is none.
    template <class... Inputs> Tensor operator()(const Inputs&... inputs) const
    {
        const std::vector<Tensor> all = call({inputs...});
        return all.empty() ? Tensor() : all[0];
    }
    bool defined() const noexcept { return impl_ != nullptr; }

    std::string text() const; // symbols, values with lifetimes, launches with grids as expressions
    std::string dot() const;
    std::size_t launches() const;
    // With RecordOptions::timestamps: each launch of the newest finished call and when it began, in ns from
    // the call's start.  Empty where the device has no timestamps.
    std::vector<std::pair<std::string, double>> times() const;
    // `symbol_values` in the order in which the specs name the symbols.
    std::uint64_t arena_bytes(
        const std::vector<std::int64_t>& symbol_values) const; // of temporaries, for these sizes

    struct Impl; // src/program/program.hpp
    explicit Program(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
    const std::shared_ptr<Impl>& impl() const { return impl_; }

private:
    std::shared_ptr<Impl> impl_;
};

// Where kernels that record() compiled are kept for later runs; an empty path: nowhere.  The default is REPRISE_CACHE_DIR
// if that is set, else "reprise" in the user's folder for caches.
void set_cache_directory(const std::filesystem::path&);

using TracedFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
Program record_function(const TracedFunction&, const std::vector<Spec>&, const RecordOptions& = {});

namespace detail {
inline void check_arity(std::size_t takes, std::size_t specs)
{
    if (takes != specs)
        fail(ErrorKind::argument, "record", "The function takes (", takes, ") tensors but there are (", specs,
             ") specs: give one for each.");
}
inline std::vector<Tensor> results(Tensor t) { return {std::move(t)}; }
inline std::vector<Tensor> results(std::vector<Tensor> t) { return t; }
template <class... T> std::vector<Tensor> results(std::tuple<T...> t)
{
    return std::apply([](auto&&... part) { return std::vector<Tensor>{part...}; }, std::move(t));
}
template <class F, std::size_t... I>
std::vector<Tensor> apply_tensors(F& f, const std::vector<Tensor>& in, std::index_sequence<I...>)
{
    if constexpr (std::is_void_v<decltype(f(in[I]...))>) {
        f(in[I]...);
        return {};
    } else {
        return results(f(in[I]...));
    }
}
template <class F, std::size_t N = 0> constexpr std::size_t arity()
{
    static_assert(N <= 12, "record() takes functions of up to 12 tensors");
    if constexpr ([]<std::size_t... I>(std::index_sequence<I...>) {
                      return std::is_invocable_v<F&, decltype((void)I, std::declval<const Tensor&>())...>;
                  }(std::make_index_sequence<N>{}))
        return N;
    else return arity<F, N + 1>();
}
} // namespace detail

// Runs `f` once on placeholders of the given shapes and records what it did.  f takes Tensors and gives
// nothing, a Tensor, a vector or a tuple of them.
template <class F> Program record(F f, const std::vector<Spec>& specs, const RecordOptions& options = {})
{
    detail::check_arity(detail::arity<F>(), specs.size());
    return record_function(
        [f = std::move(f)](const std::vector<Tensor>& in) mutable {
            return detail::apply_tensors(f, in, std::make_index_sequence<detail::arity<F>()>{});
        },
        specs, options);
}

bool is_recording();

// A number that a recorded program asks for anew at each call (a learning rate, a bias correction); in eager
// code it is asked for now.  A tensor of one element, f32.
Tensor host_scalar(std::function<double()> value);
// Runs `f` now in eager code, and at the start of each call of the program that is being recorded.  A call
// that fails and is tried again runs it once.
void on_each_call(std::function<void()> f);
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
