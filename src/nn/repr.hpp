// Formats modules' options for printing, as PyTorch does.
#pragma once
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <reprise/nn/size.hpp>

namespace reprise::nn {

class Repr {
public:
    template <class T> Repr& value(const T& value) { return add(written(value)); }
    template <class T> Repr& option(std::string_view name, const T& value)
    {
        return add(std::string(name) + "=" + written(value));
    }
    // Adds the option unless it has its default, `usual`.
    template <class T> Repr& unless(std::string_view name, const T& value, const T& usual)
    {
        return value == usual ? *this : option(name, value);
    }
    Repr& shape(const Shape& shape)
    {
        std::string all = "(";
        for (std::size_t i = 0; i < shape.size(); ++i) all += (i ? ", " : "") + shape[i].text();
        return add(all + (shape.size() == 1 ? ",)" : ")"));
    }
    // Adds sizes as (3, 3), or with `short_` equal ones as a single number, 3.
    template <std::size_t N> Repr& sizes(std::string_view name, const Sizes<N>& sizes, bool short_ = false)
    {
        bool equal = true;
        std::string all = "(";
        for (std::size_t i = 0; i < N; ++i) {
            equal = equal && sizes[i] == sizes[0];
            all += (i ? ", " : "") + written(sizes[i]);
        }
        all += N == 1 ? ",)" : ")";
        return add(std::string(name) + "=" + (short_ && equal ? written(sizes[0]) : all));
    }
    std::string text() const { return text_; }

private:
    static std::string written(bool b) { return b ? "True" : "False"; }
    static std::string written(std::int64_t n) { return std::to_string(n); }
    static std::string written(const char* text) { return "'" + std::string(text) + "'"; }
    static std::string written(double value)
    {
        char digits[32];
        const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        std::string out(digits, end);
        return out.find_first_of(".ein") == out.npos ? out + ".0" : out;
    }
    Repr& add(const std::string& part)
    {
        text_ += (text_.empty() ? "" : ", ") + part;
        return *this;
    }
    std::string text_;
};

} // namespace reprise::nn
