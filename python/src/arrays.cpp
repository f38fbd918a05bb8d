#include "arrays.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <reprise/ops/creation.hpp>

#include "binding.hpp"
#include "nesting.hpp"

namespace reprise::python {
namespace {

using Code = nb::dlpack::dtype_code;

DType dtype_of(nb::dlpack::dtype d)
{
    const auto code = static_cast<Code>(d.code);
    for (const DType t : {f32, f16, bf16, f64, i64, i32, i16, i8, u8, boolean}) {
        const Code own = t == bf16        ? Code::Bfloat
                         : t == boolean   ? Code::Bool
                         : t == u8        ? Code::UInt
                         : is_floating(t) ? Code::Float
                                          : Code::Int;
        if (code == own && d.bits == 8 * size_of(t) && d.lanes == 1) return t;
    }
    throw nb::type_error(
        "The array's dtype has no counterpart: convert it to a floating-point dtype of 16 to 64 "
        "bits, a signed integer, uint8 or bool.");
}

nb::dlpack::dtype dlpack_of(DType t)
{
    const Code code = t == bf16        ? Code::Bfloat
                      : t == boolean   ? Code::Bool
                      : t == u8        ? Code::UInt
                      : is_floating(t) ? Code::Float
                                       : Code::Int;
    return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * size_of(t)), 1};
}

// A copy of the elements that the array owns.
template <class Framework> nb::ndarray<Framework> array_of(const Tensor& t)
{
    wait_for(t);
    auto bytes = std::make_unique<std::vector<std::byte>>();
    std::vector<std::size_t> shape;
    {
        const Unlocked unlocked;
        *bytes = to_bytes(t);
        for (const Dim& d : t.shape()) shape.push_back(static_cast<std::size_t>(d.value()));
    }
    std::byte* data = bytes->data();
    nb::capsule owner(bytes.get(), [](void* p) noexcept { delete static_cast<std::vector<std::byte>*>(p); });
    bytes.release();
    return nb::ndarray<Framework>(data, shape.size(), shape.data(), owner, nullptr, dlpack_of(t.dtype()));
}

nb::object numpy_of(const Tensor& t)
{
    if (t.dtype() == bf16)
        throw nb::type_error("NumPy has no bfloat16: convert with to(reprise.float32) first.");
    return nb::cast(array_of<nb::numpy>(t));
}

// The numbers of nested lists, as Tensor has them.
class Nested {
public:
    Shape shape;
    std::vector<double> numbers;
    std::vector<std::int64_t> whole; // the same, exact, while all are integers or bools
    bool is_whole = true, is_logical = true;

    void add(nb::handle value, std::size_t depth)
    {
        const Nesting level;
        if (nb::isinstance<Tensor>(value) ||
            nb::hasattr(value, "tolist")) { // tensors, arrays, scalars of NumPy
            const nb::object lists = value.attr("tolist")();
            if (nb::isinstance<nb::list>(lists)) add_items(lists, depth);
            else add_number(lists, depth);
        } else if (PySequence_Check(value.ptr()) && !PyUnicode_Check(value.ptr()) &&
                   !PyBytes_Check(value.ptr())) {
            add_items(value, depth);
        } else {
            add_number(value, depth);
        }
    }

private:
    void add_items(nb::handle value, std::size_t depth)
    {
        const auto size = static_cast<std::int64_t>(nb::len(value));
        if (shape.size() == depth && numbers.empty()) shape.push_back(size);
        else if (depth >= shape.size() || shape[depth].value() != size)
            throw nb::value_error("The lists must have the same lengths at each level.");
        for (nb::handle item : value) add(item, depth + 1);
    }
    void add_number(nb::handle value, std::size_t depth)
    {
        if (depth != shape.size()) throw nb::value_error("The lists must have the same depth everywhere.");
        const bool is_bool = nb::isinstance<nb::bool_>(value);
        const bool is_integer = is_bool || PyIndex_Check(value.ptr());
        if (!is_integer && !PyFloat_Check(value.ptr()) && !nb::hasattr(value, "__float__"))
            throw nb::type_error(
                ("A number is needed, not " + std::string(nb::type_name(value.type()).c_str()) + ".")
                    .c_str());
        is_logical = is_logical && is_bool;
        is_whole = is_whole && is_integer;
        whole.push_back(is_whole ? whole_of(value) : 0);
        numbers.push_back(nb::cast<double>(nb::float_(value)));
    }
    static std::int64_t whole_of(nb::handle value)
    {
        const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
        const std::int64_t out = number.is_valid() ? PyLong_AsLongLong(number.ptr()) : -1;
        if (out == -1 && PyErr_Occurred()) nb::raise_python_error(); // OverflowError beyond 64 bits
        return out;
    }
};

} // namespace

Tensor tensor_of_numbers(nb::handle data, CreationOptions options)
{
    Nested nested;
    nested.add(data, 0);
    const Unlocked unlocked;
    if (nested.is_logical && !nested.numbers.empty()) {
        options.dtype = options.dtype_or(boolean);
        return from_vector(nested.whole, nested.shape, options);
    }
    if (nested.is_whole && !nested.numbers.empty()) {
        options.dtype = options.dtype_or(i64);
        return from_vector(nested.whole, nested.shape, options);
    }
    options.dtype = options.dtype_or(f32);
    return from_vector(nested.numbers, nested.shape, options);
}

namespace {

Tensor make_tensor(nb::handle data, const CreationOptions& options)
{
    if (nb::isinstance<Tensor>(data)) {
        const auto& given = nb::cast<const Tensor&>(data);
        const Unlocked unlocked;
        Tensor copy = given.detach().to(options).clone();
        return options.requires_grad ? copy.requires_grad_() : copy;
    }
    Array array;
    if (nb::try_cast(data, array)) return tensor_of(array, options);
    return tensor_of_numbers(data, options);
}

nb::object nested_lists_of(const Tensor& t)
{
    const Tensor numbers = t.dtype() == bf16 ? t.to(f32) : t;
    return numpy_of(numbers).attr("tolist")();
}

std::thread::id main_thread; // that which imported the module

} // namespace

Tensor tensor_of(const Array& array, const CreationOptions& options)
{
    Shape shape;
    for (std::size_t i = 0; i < array.ndim(); ++i) shape.push_back(static_cast<std::int64_t>(array.shape(i)));
    CreationOptions as_given{.dtype = dtype_of(array.dtype()), .device = options.device};
    const Unlocked unlocked;
    Tensor out = from_bytes({static_cast<const std::byte*>(array.data()), array.nbytes()}, shape, as_given);
    if (options.dtype) out = out.to(*options.dtype);
    if (options.requires_grad) out.requires_grad_();
    return out;
}

Tensor tensor_of(nb::handle object, const std::optional<Device>& device)
{
    if (nb::isinstance<Tensor>(object)) return nb::cast<const Tensor&>(object);
    Array array;
    if (nb::try_cast(object, array)) return tensor_of(array, {.device = device});
    throw nb::type_error(
        ("A tensor or an array is needed, not " + std::string(nb::type_name(object.type()).c_str()) + ".")
            .c_str());
}

void wait_for(const Tensor& t)
{
    using namespace std::chrono;
    if (std::this_thread::get_id() != main_thread) return;
    constexpr auto longest = microseconds(2000); // after which a signal is handled at the latest
    const auto begin = steady_clock::now();
    {
        const Unlocked unlocked;
        t.eval();
        while (!t.is_ready() && steady_clock::now() - begin < microseconds(200)) std::this_thread::yield();
    }
    // The pauses are short against the time that has passed, so that the result is late by a few percent at most.
    while (true) {
        {
            const Unlocked unlocked;
            if (t.is_ready()) return;
            const auto pause = duration_cast<microseconds>(steady_clock::now() - begin) / 32;
            std::this_thread::sleep_for(std::clamp(pause, microseconds(20), longest));
        }
        if (PyErr_CheckSignals() != 0) nb::raise_python_error();
    }
}

nb::object number_of(const Tensor& t)
{
    wait_for(t);
    Scalar number;
    {
        const Unlocked unlocked;
        number = t.item();
    }
    if (number.isBoolean()) return nb::bool_(number.toBool());
    if (number.isIntegral()) return nb::int_(number.toLong());
    return nb::float_(number.toDouble());
}

void bind_arrays(nb::module_& m, nb::class_<Tensor>& tensor)
{
    main_thread = std::this_thread::get_id();
    tensor.def("numpy", &numpy_of, "A copy of the elements as an array of NumPy; waits for the device.")
        .def(
            "__array__",
            [](const Tensor& t, nb::handle dtype, nb::handle) {
                nb::object array = numpy_of(t);
                return dtype.is_none() ? array : array.attr("astype")(dtype);
            },
            "dtype"_a = nb::none(), "copy"_a = nb::none())
        .def(
            "__dlpack__",
            [](const Tensor& t, const nb::kwargs& options) {
                return nb::cast(array_of<nb::array_api>(t)).attr("__dlpack__")(**options);
            },
            "A copy of the elements in the memory of the host.")
        .def("__dlpack_device__", [](const Tensor&) { return nb::make_tuple(nb::device::cpu::value, 0); })
        .def("item", &number_of, "The element of a tensor of one element as a number; waits for the device.")
        .def("tolist", &nested_lists_of, "The elements as nested lists of numbers; waits for the device.")
        .def("__float__", [](const Tensor& t) { return nb::float_(number_of(t)); })
        .def("__int__", [](const Tensor& t) { return nb::int_(number_of(t)); })
        .def("__index__",
             [](const Tensor& t) {
                 if (t.is_floating_point())
                     throw nb::type_error("Only a tensor of integers or bools can be an index.");
                 return nb::int_(number_of(t));
             })
        .def("__bool__", [](const Tensor& t) { return nb::bool_(number_of(t)); });

    m.def(
        "tensor",
        [](nb::handle data, std::optional<DType> dtype, const std::optional<DeviceName>& device,
           bool requires_grad) {
            return make_tensor(
                data, {.dtype = dtype, .device = device_or_none(device), .requires_grad = requires_grad});
        },
        "data"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false,
        "Makes a tensor of numbers in nested lists, or copies an array or a tensor.  Without a dtype "
        "floating-point "
        "numbers become float32, integers int64 and bools bool; arrays keep theirs.");
    const auto copy_array = [](const Array& array, const std::optional<DeviceName>& device) {
        return tensor_of(array, {.device = device_or_none(device)});
    };
    m.def("from_numpy", copy_array, "array"_a, nb::kw_only(), "device"_a = nb::none(),
          "Copies an array into a new tensor of the same dtype.");
    m.def(
        "from_dlpack", copy_array, "array"_a, nb::kw_only(), "device"_a = nb::none(),
        "Copies an object with __dlpack__, in the memory of the host, into a new tensor of the same dtype.");
}

} // namespace reprise::python
