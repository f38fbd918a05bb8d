// The GIL, and functions of Python that the library keeps and calls.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include <nanobind/nanobind.h>

namespace reprise::python {

// While this object exists, the thread does not hold the GIL.  Calls of the library are made so: they may wait for the
// device, or for a lock that another thread holds while it waits for the GIL to call a function of the user.
//
// When the interpreter ends, threads other than its own stay in the destructor until the process is gone: they would
// end in the middle of a destructor if they asked for the GIL.
class Unlocked {
public:
    Unlocked();
    ~Unlocked();
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

private:
    PyThreadState* state_;
};

// An object of Python that the library shares.  Copies of the pointer take no lock.  Its last owner may be any thread,
// also one that holds a lock of the library, where it must not wait for the GIL: the object is then released by the
// interpreter at its next opportunity.  When the interpreter ends, all objects are released.
class SharedObject {
public:
    explicit SharedObject(nanobind::handle);
    ~SharedObject();
    SharedObject(const SharedObject&) = delete;
    SharedObject& operator=(const SharedObject&) = delete;
    // The object; RuntimeError once the interpreter ends.  Needs the GIL.
    nanobind::object get() const;

private:
    friend void release_shared_objects();
    PyObject* object_; // guarded by the mutex of all shared objects
};
using Shared = std::shared_ptr<SharedObject>;
inline Shared share(nanobind::handle object) { return std::make_shared<SharedObject>(object); }

// For the end of the interpreter, on its main thread: waits until no other thread is in a call of the library, then
// releases all shared objects, since those that refer to their owner are part of a cycle that Python can't see.
void end_callbacks();

// TypeError for what a function of the user returned.
[[noreturn]] void refuse_result(nanobind::handle);

template <class Signature> struct Callback;
template <class Result, class... Arguments> struct Callback<Result(Arguments...)> {
    Shared function;

    Result operator()(Arguments... arguments) const
    {
        const nanobind::gil_scoped_acquire locked;
        const nanobind::object result = function->get()(std::forward<Arguments>(arguments)...);
        if constexpr (!std::is_void_v<Result>) {
            Result value;
            if (nanobind::try_cast(result, value)) return value;
            refuse_result(result);
        }
    }
};

} // namespace reprise::python

namespace nanobind::detail {

template <class Result, class... Arguments> struct type_caster<std::function<Result(Arguments...)>> {
    using Function = std::function<Result(Arguments...)>;
    using Returned = make_caster<std::conditional_t<std::is_void_v<Result>, void_type, Result>>;
    NB_TYPE_CASTER(Function, const_name("collections.abc.Callable[[") +
                                 concat(make_caster<Arguments>::Name...) + const_name("], ") +
                                 Returned::Name + const_name("]"))

    bool from_python(handle from, std::uint32_t flags, cleanup_list*) noexcept
    {
        value = nullptr;
        if (from.is_none()) return (flags & cast_flags::convert) != 0;
        if (!PyCallable_Check(from.ptr())) return false;
        value = reprise::python::Callback<Result(Arguments...)>{reprise::python::share(from)};
        return true;
    }
};

} // namespace nanobind::detail
