#include "callback.hpp"

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace reprise::python {
namespace {

std::atomic<bool> ending = false;
std::atomic<int> inside = 0;           // calls of the library that threads are in
thread_local int depth = 0;            // calls of the library that this thread is in, inside of one another
thread_local bool ends_python = false; // whether this thread ends the interpreter

[[noreturn]] void stay()
{
    inside -= std::exchange(depth, 0); // the thread returns from none of its calls
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

std::mutex objects_mutex;
std::set<SharedObject*>& objects() // never destroyed: other static objects may own shared objects
{
    static auto* const all = new std::set<SharedObject*>;
    return *all;
}
std::vector<PyObject*>& released() // objects whose last owner is gone
{
    static auto* const all = new std::vector<PyObject*>;
    return *all;
}

std::atomic<bool> any_released = false;

int release_all(void*)
{
    std::vector<PyObject*> all;
    {
        const std::lock_guard lock(objects_mutex);
        any_released = false;
        all.swap(released());
    }
    for (PyObject* object : all) Py_DECREF(object);
    return 0;
}

} // namespace

Unlocked::Unlocked() : state_(PyEval_SaveThread())
{
    ++depth;
    ++inside;
    if (ending && !ends_python) stay();
}

Unlocked::~Unlocked()
{
    if (ending && !ends_python) stay();
    // Before it counts as outside, so that the interpreter does not end meanwhile.
    PyEval_RestoreThread(state_);
    --depth;
    --inside;
    // The main thread, which handles the pending calls, may be in a long call without Python.
    if (any_released) release_all(nullptr);
}

SharedObject::SharedObject(nanobind::handle object) : object_(object.ptr())
{
    Py_INCREF(object_);
    const std::lock_guard lock(objects_mutex);
    objects().insert(this);
}

SharedObject::~SharedObject()
{
    {
        const std::lock_guard lock(objects_mutex);
        objects().erase(this);
        if (!object_) return;
        released().push_back(object_);
        any_released = true;
    }
    // Where the interpreter's queue is full, the object waits for the next one that is released.
    if (!ending) Py_AddPendingCall(release_all, nullptr);
}

nanobind::object SharedObject::get() const
{
    const std::lock_guard lock(objects_mutex);
    if (!object_) nanobind::raise("The interpreter is shutting down.");
    return nanobind::borrow(object_);
}

void refuse_result(nanobind::handle value)
{
    throw nanobind::type_error(("The function returned " +
                                std::string(nanobind::type_name(value.type()).c_str()) +
                                ", which is not of the type that is needed.")
                                   .c_str());
}

void release_shared_objects()
{
    std::vector<PyObject*> all;
    {
        const std::lock_guard lock(objects_mutex);
        for (SharedObject* shared : objects()) all.push_back(std::exchange(shared->object_, nullptr));
    }
    for (PyObject* object : all) Py_XDECREF(object);
}

void end_callbacks()
{
    ends_python = true;
    ending = true;
    {
        const Unlocked unlocked;
        const auto begin = std::chrono::steady_clock::now();
        while (inside > 1 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    release_all(nullptr);
    release_shared_objects();
    // Threads that nobody waits for keep the objects of their frames.
    if (nanobind::cast<int>(nanobind::module_::import_("threading").attr("active_count")()) > 1)
        nanobind::set_leak_warnings(false);
}

} // namespace reprise::python
