// Event files that TensorBoard shows: numbers, distributions, images and texts by step.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::train {

// Options of a SummaryWriter.
struct SummaryWriterOptions {
    // The first step of a run that goes on from a checkpoint.  TensorBoard hides what earlier files of the folder
    // have from this step on; its fast loader does so for each tag once the tag is written again.
    std::optional<std::int64_t> purge_step{};
    std::string filename_suffix{}; // appended to the file's name
};
// Writes an event file, with the names of torch.utils.tensorboard.SummaryWriter.  Each call appends to the file at
// once, so that TensorBoard shows a run while it trains, and a killed process loses nothing.  Tags group curves by
// the part before a slash: "loss/train".  Calls must not run at the same time.
//
// All members throw Error(file) where the file can't be written, and Error(argument) for an empty tag.  The file's
// format is that of TensorFlow's tfrecord and event.proto.
class SummaryWriter {
public:
    using Options = SummaryWriterOptions; // the options in braces

    // Creates the folder, unless it exists, and a file "events.out.tfevents.<time>.<host>.<process>.<number>" in it.
    explicit SummaryWriter(const std::filesystem::path& folder, const Options& = {});
    ~SummaryWriter();
    SummaryWriter(
        SummaryWriter&&) noexcept; // takes over the file; the other one can only be assigned or destroyed
    SummaryWriter& operator=(SummaryWriter&&) noexcept; // closes its file and takes over the other one

    // Adds a number to the curve of the tag; NaN and infinities are shown as marks.  It is stored as f32.
    void add_scalar(const std::string& tag, double value, std::int64_t step);
    // The same with the value of a tensor of one element, for which it waits.  Error(shape) for other tensors.
    void add_scalar(const std::string& tag, const Tensor& value, std::int64_t step);
    // Adds the distribution of the values, in TensorFlow's buckets, whose limits grow by 10 %.  Values that are NaN or
    // infinite are left out.  Error(argument) where no value is left.
    void add_histogram(const std::string& tag, const std::vector<double>& values, std::int64_t step);
    // The same with the elements of a tensor of any shape and dtype; it waits for them.
    void add_histogram(const std::string& tag, const Tensor& values, std::int64_t step);
    // Adds an image, as to_png() takes it.
    void add_image(const std::string& tag, const Tensor& image, std::int64_t step);
    // Adds a text, which TensorBoard shows as Markdown.
    void add_text(const std::string& tag, const std::string& text, std::int64_t step);

    const std::filesystem::path& path() const; // the file

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace reprise::train
