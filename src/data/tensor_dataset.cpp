#include <reprise/data/dataset.hpp>

namespace reprise::data {

TensorDataset::TensorDataset(Array data) : TensorDataset(std::move(data), Array()) {}

TensorDataset::TensorDataset(Array data, Array target) : data_(std::move(data)), target_(std::move(target))
{
    constexpr const char* op = "TensorDataset";
    if (!data_.defined() || data_.sizes().empty() || (target_.defined() && target_.sizes().empty()))
        detail::fail(ErrorKind::argument, op,
                     "The data and the target must have a first dimension of examples.");
    if (target_.defined() && target_.sizes()[0] != data_.sizes()[0])
        detail::fail(ErrorKind::argument, op, "The data has (", data_.sizes()[0],
                     ") examples, but the target (", target_.sizes()[0], ").");
    size_ = static_cast<std::size_t>(data_.sizes()[0]);
}

Example<> TensorDataset::get(std::size_t i)
{
    const auto row = static_cast<std::int64_t>(i);
    return {data_.row(row), target_.defined() ? target_.row(row) : Array()};
}

} // namespace reprise::data
