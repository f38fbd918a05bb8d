#include <nlohmann/json.hpp>

#include <reprise/train.hpp>
#include <reprise/whole_file.hpp>

namespace reprise::train {

struct Metrics::Impl {
    nlohmann::ordered_json values = nlohmann::ordered_json::object();
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;
Metrics::Metrics(const Metrics& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}

Metrics& Metrics::operator=(const Metrics& other)
{
    *impl_ = *other.impl_;
    return *this;
}

template <class T> Metrics& Metrics::put(const std::string& name, const T& value)
{
    impl_->values[name] = value;
    return *this;
}

Metrics& Metrics::set(const std::string& name, double value) { return put(name, value); }
Metrics& Metrics::set(const std::string& name, std::int64_t value) { return put(name, value); }
Metrics& Metrics::set(const std::string& name, std::uint64_t value) { return put(name, value); }
Metrics& Metrics::set(const std::string& name, bool value) { return put(name, value); }
Metrics& Metrics::set(const std::string& name, const std::string& value) { return put(name, value); }
Metrics& Metrics::set(const std::string& name, const std::vector<double>& values)
{
    return put(name, values);
}
Metrics& Metrics::set(const std::string& name, const Metrics& inner)
{
    return put(name, inner.impl_->values);
}

std::string Metrics::json() const
{
    using Json = nlohmann::ordered_json;
    // Invalid UTF-8 is replaced; dump() would throw by default.
    return impl_->values.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void Metrics::save(const std::filesystem::path& path) const
{
    WholeFile file(path);
    file.write(json());
    file.commit();
}

} // namespace reprise::train
