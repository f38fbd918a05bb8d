// The types that recorded functions take and return: tensors, sizes as host numbers (Dim), and pairs, tuples,
// arrays, structs, vectors and dictionaries of them, nested to any depth.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/members.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// The type of a tensor argument of a recorded function.
struct Spec {
    Shape shape{};     // its sizes: numbers or symbols
    DType dtype = f32; // the type of its elements
};
// Returns the type of a tensor argument: spec({n, 3}), spec({4}, i64).
inline Spec spec(Shape shape, DType dtype = f32) { return {std::move(shape), dtype}; }

namespace detail {

// The nesting of a structure, without its leaves.
struct Layout {
    enum class Kind { tensor, size, list, dictionary } kind = Kind::tensor;
    std::vector<Layout> items{};
    std::vector<std::string> keys{}; // keys of a dictionary, ascending
    friend bool operator==(const Layout&, const Layout&) = default;
};
std::string describe(const Layout&); // "(tensor, size, {x: tensor})"

// The leaves of a structure, in order.
struct Leaves {
    std::vector<Tensor> tensors;
    DimVector sizes;
};
struct LeafReader {
    const Leaves& from;
    std::size_t tensor = 0, size = 0;
};

// Specializations have these functions: `layout` returns the layout of a value, `fits` whether a value of the type
// can have a layout, `flatten_structure` appends the leaves of a value, and `unflatten_structure` builds a value
// from leaves in the same order.
template <class T> struct Structure;

template <> struct Structure<Tensor> {
    static Layout layout(const Tensor&) { return {Layout::Kind::tensor}; }
    static bool fits(const Layout& l) { return l.kind == Layout::Kind::tensor; }
    static void flatten_structure(const Tensor& t, Leaves& out) { out.tensors.push_back(t); }
    static Tensor unflatten_structure(const Layout&, LeafReader& in)
    {
        return in.from.tensors.at(in.tensor++);
    }
};
template <> struct Structure<Variable> : Structure<Tensor> {};

template <> struct Structure<Dim> {
    static Layout layout(const Dim&) { return {Layout::Kind::size}; }
    static bool fits(const Layout& l) { return l.kind == Layout::Kind::size; }
    static void flatten_structure(const Dim& d, Leaves& out) { out.sizes.push_back(d); }
    static Dim unflatten_structure(const Layout&, LeafReader& in) { return in.from.sizes.at(in.size++); }
};

// Whether the layout is of this kind, and all its items fit the type.
template <class T> bool all_fit(const Layout& l, Layout::Kind kind)
{
    return l.kind == kind && std::all_of(l.items.begin(), l.items.end(), Structure<T>::fits);
}

// A list of any number of items of one type.
template <class T> struct Structure<std::vector<T>> {
    static Layout layout(const std::vector<T>& list)
    {
        Layout l{Layout::Kind::list};
        for (const T& item : list) l.items.push_back(Structure<T>::layout(item));
        return l;
    }
    static bool fits(const Layout& l) { return all_fit<T>(l, Layout::Kind::list); }
    static void flatten_structure(const std::vector<T>& list, Leaves& out)
    {
        for (const T& item : list) Structure<T>::flatten_structure(item, out);
    }
    static std::vector<T> unflatten_structure(const Layout& l, LeafReader& in)
    {
        std::vector<T> list;
        for (const Layout& item : l.items) list.push_back(Structure<T>::unflatten_structure(item, in));
        return list;
    }
};

template <class T> struct Structure<std::map<std::string, T>> {
    using Map = std::map<std::string, T>;
    static Layout layout(const Map& map)
    {
        Layout l{Layout::Kind::dictionary};
        for (const auto& [key, item] : map) {
            l.keys.push_back(key);
            l.items.push_back(Structure<T>::layout(item));
        }
        return l;
    }
    static bool fits(const Layout& l) { return all_fit<T>(l, Layout::Kind::dictionary); }
    static void flatten_structure(const Map& map, Leaves& out)
    {
        for (const auto& [key, item] : map) Structure<T>::flatten_structure(item, out);
    }
    static Map unflatten_structure(const Layout& l, LeafReader& in)
    {
        Map map;
        for (std::size_t i = 0; i < l.keys.size(); ++i)
            map.emplace(l.keys[i], Structure<T>::unflatten_structure(l.items[i], in));
        return map;
    }
};

// A list of a fixed number of items.
template <class Tuple, class Indices = std::make_index_sequence<std::tuple_size_v<Tuple>>>
struct FixedStructure;
template <class Tuple, std::size_t... I> struct FixedStructure<Tuple, std::index_sequence<I...>> {
    template <std::size_t K> using Item = Structure<std::tuple_element_t<K, Tuple>>;
    static Layout layout(const Tuple& t)
    {
        return {Layout::Kind::list, {Item<I>::layout(std::get<I>(t))...}};
    }
    static bool fits(const Layout& l)
    {
        return l.kind == Layout::Kind::list && l.items.size() == sizeof...(I) &&
               (Item<I>::fits(l.items[I]) && ...);
    }
    static void flatten_structure(const Tuple& t, Leaves& out)
    {
        (Item<I>::flatten_structure(std::get<I>(t), out), ...);
    }
    static Tuple unflatten_structure([[maybe_unused]] const Layout& l, [[maybe_unused]] LeafReader& in)
    {
        return Tuple{Item<I>::unflatten_structure(l.items[I], in)...}; // braces evaluate in order
    }
};
template <class... T> struct Structure<std::tuple<T...>> : FixedStructure<std::tuple<T...>> {};
template <class A, class B> struct Structure<std::pair<A, B>> : FixedStructure<std::pair<A, B>> {};
template <class T, std::size_t N> struct Structure<std::array<T, N>> : FixedStructure<std::array<T, N>> {};

// A struct of up to eight members, without constructors or bases, is treated as a tuple of its members.
template <class T>
requires std::is_aggregate_v<T>
struct Structure<T> {
    template <class Member> using Of = Structure<std::remove_cv_t<Member>>;
    static Layout layout(const T& t)
    {
        Layout l{Layout::Kind::list};
        with_members(t, [&]<class... M>(const M&... m) { (l.items.push_back(Of<M>::layout(m)), ...); });
        return l;
    }
    static bool fits(const Layout& l)
    {
        bool all = l.kind == Layout::Kind::list;
        std::size_t i = 0;
        const T like{};
        with_members(like, [&]<class... M>(const M&...) {
            all = all && sizeof...(M) == l.items.size() && (Of<M>::fits(l.items[i++]) && ...);
        });
        return all;
    }
    static void flatten_structure(const T& t, Leaves& out)
    {
        with_members(t, [&]<class... M>(const M&... m) { (Of<M>::flatten_structure(m, out), ...); });
    }
    static T unflatten_structure(const Layout& l, LeafReader& in)
    {
        T t{};
        std::size_t i = 0;
        with_members(t,
                     [&]<class... M>(M&... m) { ((m = Of<M>::unflatten_structure(l.items[i++], in)), ...); });
        return t;
    }
};

} // namespace detail

// The type of one argument of a recorded function: a tensor's spec; a symbol for a size (Dim) whose value each
// call passes; or a list or dictionary of these.
class ArgumentSpec {
public:
    // A tensor.
    ArgumentSpec(Spec s) : tensors_{std::move(s)} {}
    // A size, whose value each call passes.
    ArgumentSpec(Dim symbol) : layout_{detail::Layout::Kind::size}, sizes_{std::move(symbol)} {}
    // A pair, tuple, array, struct or vector, by its items.
    ArgumentSpec(const std::vector<ArgumentSpec>& list) : layout_{detail::Layout::Kind::list} { add(list); }
    // The same where all items are tensors.
    ArgumentSpec(const std::vector<Spec>& list) : layout_{detail::Layout::Kind::list} { add(list); }
    // A dictionary, by its keys.
    ArgumentSpec(const std::map<std::string, ArgumentSpec>& m) : layout_{detail::Layout::Kind::dictionary}
    {
        add_keyed(m);
    }
    // The same where all values are tensors.
    ArgumentSpec(const std::map<std::string, Spec>& m) : layout_{detail::Layout::Kind::dictionary}
    {
        add_keyed(m);
    }

    // The nesting, without the tensors and sizes; for the library itself.
    const detail::Layout& layout() const { return layout_; }
    const std::vector<Spec>& tensors() const { return tensors_; } // the specs of all tensors, in order
    const DimVector& sizes() const { return sizes_; }             // the symbols of all sizes, in order

private:
    void add(const ArgumentSpec& a)
    {
        layout_.items.push_back(a.layout_);
        tensors_.insert(tensors_.end(), a.tensors_.begin(), a.tensors_.end());
        sizes_.insert(sizes_.end(), a.sizes_.begin(), a.sizes_.end());
    }
    template <class List> void add(const std::vector<List>& list)
    {
        for (const auto& item : list) add(ArgumentSpec(item));
    }
    template <class Map> void add_keyed(const Map& map)
    {
        for (const auto& [key, item] : map) {
            layout_.keys.push_back(key);
            add(ArgumentSpec(item));
        }
    }

    detail::Layout layout_;
    std::vector<Spec> tensors_;
    DimVector sizes_;
};

// The types of all arguments, in order: {spec({n, 3}), symbol("length")}.
class ArgumentSpecs {
public:
    ArgumentSpecs() = default; // no arguments
    // The arguments in the braces.
    ArgumentSpecs(std::initializer_list<ArgumentSpec> list) : list_(list) {}
    // The arguments of a vector.
    ArgumentSpecs(std::vector<ArgumentSpec> list) : list_(std::move(list)) {}
    // The same where all arguments are tensors.
    ArgumentSpecs(const std::vector<Spec>& list) : list_(list.begin(), list.end()) {}
    // All arguments, in order.
    const std::vector<ArgumentSpec>& list() const { return list_; }

private:
    std::vector<ArgumentSpec> list_;
};

} // namespace reprise
