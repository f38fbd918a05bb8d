// Prints modules in the format of PyTorch.
#include <reprise/nn/module.hpp>

#include <ostream>
#include <typeinfo>

#if __has_include(<cxxabi.h>)
#include <cstdlib>
#include <cxxabi.h>
#endif

namespace reprise::nn {

namespace {

std::string written_type(const std::type_info& type)
{
#if __has_include(<cxxabi.h>)
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
    if (status == 0) return text.get();
#endif
    return type.name();
}

} // namespace

// Returns the class's name without namespaces and template arguments.
std::string Module::name() const
{
    std::string text = written_type(typeid(*this));
    if (const auto arguments = text.find('<'); arguments != text.npos) text.resize(arguments);
    const auto last = text.find_last_of(": ");
    return last == text.npos ? text : text.substr(last + 1);
}

void Module::print(std::ostream& to, const std::string& indent) const
{
    const std::string options = extra_repr(), deeper = indent + "  ";
    to << name() << "(";
    if (children_.empty()) {
        to << options << ")";
        return;
    }
    if (!options.empty()) to << "\n" << deeper << options;
    for (const Child& child : children_) {
        to << "\n" << deeper << "(" << child.name << "): ";
        child.module->print(to, deeper);
    }
    to << "\n" << indent << ")";
}

std::ostream& operator<<(std::ostream& to, const Module& module)
{
    module.print(to, "");
    return to;
}

} // namespace reprise::nn
