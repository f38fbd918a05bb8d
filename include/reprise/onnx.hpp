// Models in the ONNX format: import as a module that can be trained, and export of recorded functions.  Programs that
// call it link reprise::onnx.
//
//     rp::onnx::Model model("encoder.onnx");
//     rp::optim::AdamW optimizer(model.parameters(), {.lr = 1e-4});
//     auto step = rp::record([&](std::vector<rp::Tensor> in) { ... model(in)[0] ... }, {model.input_specs()});
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <reprise/grad_mode.hpp>
#include <reprise/nn/module.hpp>
#include <reprise/program.hpp>
#include <reprise/structure.hpp>
#include <reprise/tensor.hpp>

namespace reprise::onnx {

// A size of an input or output: a number, the name of a symbol ("batch"), or nothing where the file does not say.
using PortSize = std::variant<std::monostate, std::int64_t, std::string>;

// An input or an output of a model.
struct Port {
    std::string name{};            // its name in the file
    std::string type{};            // its element type, by ONNX's name: "float32", "uint16"
    DType dtype = f32;             // the dtype of the tensors that hold it (docs/onnx.md)
    std::vector<PortSize> shape{}; // its sizes
    bool has_shape = false;        // whether the file has a shape at all
    bool optional =
        false; // an input that has a default in the file, so that an undefined tensor may be passed
};

// Options of Model.
struct LoadOptions {
    // Which floating initializers become parameters.  Without a function these are all that have a dimension, except
    // those that operators read as options, such as the scales of Resize, and the running statistics of
    // BatchNormalization.  The others with a dimension become buffers; options and single numbers are constants.
    std::function<bool(const std::string& name, const Shape& shape)> trainable{};
    std::optional<Device> device = std::nullopt; // where the parameters are; nullopt: default_device()
};

// A model of an ONNX file as a module.  Its floating initializers are parameters, named as in the file, so that
// optimizers, state_dict(), save() and load() work as for other modules; dots in names separate modules, as elsewhere.
// All other constants have no name.  A call runs the nodes in order by the library's functions, with gradients; it can
// be recorded, and sizes that the graph computes from its inputs' sizes stay symbolic.
//
// Errors of a call have the kind of the function that failed, and name the node.
class Model : public nn::ModuleOf<std::vector<Tensor>(std::vector<Tensor>)> {
public:
    // Loads a file, and external data from files in its folder.  Throws Error(file) for a file that is missing,
    // truncated or malformed; Error(unsupported), which lists all nodes and tensors that can't be imported with the
    // reasons.
    explicit Model(const std::filesystem::path&, const LoadOptions& = {});
    // Loads a model from memory; it can't have external data.  Errors as above.
    explicit Model(std::span<const std::byte>, const LoadOptions& = {});
    Model(Model&&) noexcept = default; // moves the parameters; the other model is empty afterwards
    ~Model() override;

    const std::vector<Port>& inputs() const;  // in the order of the arguments of forward()
    const std::vector<Port>& outputs() const; // in the order of the results
    std::int64_t opset() const;               // the version of ONNX's own operators that the model uses

    // Specs for record().  Sizes with the same name, and each size without a name, are a symbol; `symbols` replaces
    // them by name: {{"batch", n}}.
    std::vector<Spec> input_specs(const std::map<std::string, Dim>& symbols = {}) const;

    using ModuleOf::operator();
    using nn::Module::operator();
    // Computes all outputs.  As many tensors as there are inputs without a default are these; else they are the first
    // inputs(), and an undefined one is an optional input that is not given.  Throws Error(argument) for another number
    // of inputs, Error(dtype) and Error(shape) for one that does not fit.
    std::vector<Tensor> forward(std::vector<Tensor> inputs) override;
    // The first output of a model that has one input without a default.
    Tensor forward(Tensor x) override;

private:
    struct Impl;
    void load(const std::shared_ptr<Impl>&, const LoadOptions&);
    std::shared_ptr<Impl> impl_;
};

// Options of save().
struct ExportOptions {
    std::vector<std::string> inputs{};  // names of the inputs; without one: "input_0", ...
    std::vector<std::string> outputs{}; // names of the outputs; without one: "output_0", ...
    const nn::Module* module = nullptr; // its parameters and buffers keep their names; null: "state_0", ...
};
// Writes a recorded forward pass as a model of opset 20.  Symbols of its specs are named sizes (dim_param), and weights
// are initializers with their present values.  The file is written as by save_safetensors().  Throws
// Error(unsupported), which lists all parts that ONNX has no operators for, such as random numbers and changes of
// state: record a forward pass in evaluation mode; Error(file) where the file can't be written.
void save(const std::filesystem::path&, const Program&, const ExportOptions& = {});
// Records a function, without gradients, and writes it: save("net.onnx", [&](Tensor x) { return net(x); },
// {spec({batch, 3})}, {.module = &net}).  Errors also as of record().
template <class F>
requires(!std::is_base_of_v<Program, std::decay_t<F>>) void save(const std::filesystem::path& path, F&& f,
                                                                 const ArgumentSpecs& specs,
                                                                 const ExportOptions& options = {})
{
    const no_grad off;
    save(path, record(std::forward<F>(f), specs), options);
}

// An operator that can be imported.
struct OperatorInfo {
    std::string domain{};   // "" for ONNX's own
    std::string name{};     // as in the nodes: "Conv"
    std::int64_t since = 0; // the lowest opset whose nodes are imported
    std::string limits{};   // what is not imported; empty: nothing is missing
};
// All operators that can be imported, by domain and name.
std::vector<OperatorInfo> operators();
// The newest version of ONNX's own operators that is known.
std::int64_t newest_opset();

} // namespace reprise::onnx
