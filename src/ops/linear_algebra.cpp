// Products of matrices and vectors, and einsum, composed of matmul; diagonal and trace.
#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include <reprise/autocast.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/autocast.hpp"
#include "ops/index_check.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {

namespace {

void require_rank(const char* op, const Tensor& t, std::int64_t rank, const char* what)
{
    if (t.dim() != rank)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(t.shape()), ") is not that of ", what,
                     ".");
}

// ---- einsum ----

// An operand and the letter of each of its dimensions.
struct Term {
    Tensor value;
    std::string letters;
};

struct Equation {
    std::vector<std::string> inputs; // letters, with those of dot() for the dimensions of "..."
    std::string output;
};

[[noreturn]] void bad_equation(const std::string& equation, const std::string& why)
{
    detail::fail(ErrorKind::argument, "einsum", "The equation (", equation, ") ", why);
}

// Returns the letter of the i-th dimension of "...", counted from the right.
char dot(std::size_t i) { return static_cast<char>(1 + i); }
bool is_dot(char c) { return c > 0 && c < ' '; }
constexpr std::size_t max_dots = ' ' - 1;

// Replaces "..." by the letters of `dots` dimensions.
std::string expand_dots(const std::string& equation, const std::string& text, std::size_t dots)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (std::isalpha(static_cast<unsigned char>(text[i]))) {
            out += text[i];
            continue;
        }
        if (text.compare(i, 3, "...") != 0 || text.find('.', i + 3) != text.npos)
            bad_equation(equation, std::string("has (") + text[i] +
                                       ") where a letter, or ... once an operand, names dimensions.");
        for (std::size_t d = dots; d-- > 0;) out += dot(d);
        i += 2;
    }
    return out;
}

// Returns the dimensions of "...", followed by the sorted letters that occur once.
std::string implied_output(const std::vector<std::string>& inputs, std::size_t dots)
{
    std::map<char, int> uses;
    std::string out;
    for (std::size_t d = dots; d-- > 0;) out += dot(d);
    for (const std::string& in : inputs)
        for (const char c : in)
            if (!is_dot(c)) ++uses[c];
    for (const auto& [letter, count] : uses)
        if (count == 1) out += letter;
    return out;
}

Equation parse(const std::string& equation, const std::vector<Tensor>& operands)
{
    std::string text;
    std::copy_if(equation.begin(), equation.end(), std::back_inserter(text), [](char c) { return c != ' '; });
    const std::size_t arrow = text.find("->");
    const std::string left = text.substr(0, arrow);
    std::vector<std::string> parts;
    for (std::size_t from = 0;;) {
        const std::size_t comma = left.find(',', from);
        parts.push_back(left.substr(from, comma - from));
        if (comma == left.npos) break;
        from = comma + 1;
    }
    if (parts.size() != operands.size())
        bad_equation(equation, "names (" + std::to_string(parts.size()) + ") operands, not (" +
                                   std::to_string(operands.size()) + ").");
    Equation e;
    std::size_t dots = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool has_dots = parts[i].find("...") != std::string::npos;
        const std::size_t named = parts[i].size() - (has_dots ? 3 : 0);
        const auto rank = static_cast<std::size_t>(operands[i].dim());
        expand_dots(equation, parts[i], 0); // checks the characters
        if (has_dots ? rank < named || rank - named > max_dots : rank != named)
            detail::fail(ErrorKind::shape, "einsum", "The equation (", equation, ") gives operand (", i,
                         ") (", named, ") dimensions", has_dots ? " or more" : "", ", but its shape is (",
                         to_string(operands[i].shape()), ").");
        e.inputs.push_back(expand_dots(equation, parts[i], rank - named));
        dots = std::max(dots, rank - named);
    }
    e.output = arrow == text.npos ? implied_output(e.inputs, dots)
                                  : expand_dots(equation, text.substr(arrow + 2), dots);
    for (const char c : e.output) {
        const auto holds = [c](const std::string& in) { return in.find(c) != in.npos; };
        if (std::none_of(e.inputs.begin(), e.inputs.end(), holds))
            bad_equation(equation, std::string("has (") + c + ") in its result only.");
        if (std::count(e.output.begin(), e.output.end(), c) > 1)
            bad_equation(equation, std::string("has (") + c + ") twice in its result.");
    }
    return e;
}

bool has(const std::string& letters, char c) { return letters.find(c) != letters.npos; }

// Replaces the dimensions of a repeated letter, as in "ii", by their diagonal.
Term without_repeats(Term t)
{
    for (std::size_t i = 0; i < t.letters.size(); ++i)
        for (std::size_t k = t.letters.size() - 1; k > i; --k)
            if (t.letters[k] == t.letters[i]) { // diagonal() appends its dimension
                const char letter = t.letters[i];
                const Shape sizes = t.value.shape();
                shape::require_equal("einsum", sizes[i], sizes[k], [&] {
                    return "The letter (" + std::string(1, letter) +
                           ") is repeated for sizes that differ in (" + to_string(sizes) + ").";
                });
                t.value = diagonal(t.value, 0, static_cast<std::int64_t>(i), static_cast<std::int64_t>(k));
                t.letters.erase(k, 1);
                t.letters.erase(i, 1);
                t.letters += letter;
                return without_repeats(std::move(t));
            }
    return t;
}

Term with_order(const Term& t, const std::string& letters)
{
    std::vector<std::int64_t> order;
    for (const char c : letters) order.push_back(static_cast<std::int64_t>(t.letters.find(c)));
    return {permute(t.value, order), letters};
}

Term summed_away(const Term& t, const std::string& needed)
{
    Dims dims;
    std::string letters;
    for (std::size_t i = 0; i < t.letters.size(); ++i)
        if (has(needed, t.letters[i])) letters += t.letters[i];
        else dims.push_back(static_cast<std::int64_t>(i));
    return dims.empty() ? t : Term{sum(t.value, dims), letters};
}

// Drops the dimensions of size 1 that are larger in another operand: these broadcast.
void drop_ones(std::vector<Term>& terms)
{
    const auto size = [](const Term& t, char c) { return t.value.shape()[t.letters.find(c)]; };
    for (Term& t : terms) {
        Dims ones;
        std::string remaining;
        for (std::size_t i = 0; i < t.letters.size(); ++i) {
            const char c = t.letters[i];
            const bool larger = std::any_of(terms.begin(), terms.end(), [&](const Term& other) {
                return has(other.letters, c) && !same(size(other, c), 1);
            });
            if (larger && same(size(t, c), 1)) ones.push_back(static_cast<std::int64_t>(i));
            else remaining += c;
        }
        if (!ones.empty()) t.value = squeeze(t.value, ones);
        t.letters = remaining;
    }
}

Shape sizes_of(const Term& t, const std::string& letters)
{
    Shape s;
    for (const char c : letters) s.push_back(t.value.shape()[t.letters.find(c)]);
    return s;
}

// Computes a batched matrix product of two operands: [batch, left, contracted] x [batch, contracted, right], where
// batch letters are in both operands and needed afterwards, and left and right letters are in one operand only.
Term product(Term a, Term b, const std::string& needed)
{
    a = summed_away(a, needed + b.letters);
    b = summed_away(b, needed + a.letters);
    std::string batch, left, right, contracted;
    for (const char c : a.letters) (!has(b.letters, c) ? left : has(needed, c) ? batch : contracted) += c;
    for (const char c : b.letters)
        if (!has(a.letters, c)) right += c;
    for (const char c : batch + contracted) {
        const Dim x = a.value.shape()[a.letters.find(c)], y = b.value.shape()[b.letters.find(c)];
        shape::require_equal("einsum", x, y, [&] {
            return std::string("The sizes (") + x.text() + " and " + y.text() + ") of dimension (" +
                   (is_dot(c) ? std::string("...") : std::string(1, c)) + ") differ.";
        });
    }
    const Shape of_batch = sizes_of(a, batch), of_left = sizes_of(a, left), of_right = sizes_of(b, right),
                of_contracted = sizes_of(a, contracted);
    const Dim depth = shape::element_count(of_contracted);
    const auto shaped = [](Shape s, std::initializer_list<Dim> last) {
        s.insert(s.end(), last);
        return s;
    };
    const Tensor x = reshape(with_order(a, batch + left + contracted).value,
                             shaped(of_batch, {shape::element_count(of_left), depth}));
    const Tensor y = reshape(with_order(b, batch + contracted + right).value,
                             shaped(of_batch, {depth, shape::element_count(of_right)}));
    Shape out = of_batch;
    out.insert(out.end(), of_left.begin(), of_left.end());
    out.insert(out.end(), of_right.begin(), of_right.end());
    return {reshape(matmul(x, y), out), batch + left + right};
}

} // namespace

Tensor mm(const Tensor& a, const Tensor& b)
{
    require_rank("mm", a, 2, "a matrix");
    require_rank("mm", b, 2, "a matrix");
    return matmul(a, b);
}
Tensor mv(const Tensor& a, const Tensor& v)
{
    require_rank("mv", a, 2, "a matrix");
    require_rank("mv", v, 1, "a vector");
    return matmul(a, v);
}
Tensor dot(const Tensor& a, const Tensor& b)
{
    if (const ops::Autocast to = ops::Autocast::widest({&a, &b}); to) return dot(to(a), to(b));
    require_rank("dot", a, 1, "a vector");
    require_rank("dot", b, 1, "a vector");
    return matmul(a, b);
}
Tensor outer(const Tensor& a, const Tensor& b)
{
    require_rank("outer", a, 1, "a vector");
    require_rank("outer", b, 1, "a vector");
    return unsqueeze(a, 1) * unsqueeze(b, 0);
}

Tensor bmm(const Tensor& a, const Tensor& b)
{
    require_rank("bmm", a, 3, "matrices [B, m, k]");
    require_rank("bmm", b, 3, "matrices [B, k, n]");
    shape::require_equal("bmm", a.shape()[0], b.shape()[0], [&] {
        return "The shapes (" + to_string(a.shape()) + " and " + to_string(b.shape()) +
               ") are not of equally many matrices.";
    });
    return matmul(a, b);
}
namespace {

// Returns beta * input + alpha * product.
Tensor added(const char* op, const Tensor& input, const Tensor& product, double beta, double alpha)
{
    const Tensor scaled = alpha == 1 ? product : product * alpha;
    shape::require_broadcastable(op, input.shape(), product.shape());
    if (beta == 0) return scaled; // input is ignored then, even if it has NaN
    return (beta == 1 ? input : input * beta) + scaled;
}

} // namespace

Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta, double alpha)
{
    if (const ops::Autocast to = ops::Autocast::low({&input, &a, &b}); to)
        return addmm(to(input), to(a), to(b), beta, alpha);
    return added("addmm", input, mm(a, b), beta, alpha);
}

Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta, double alpha)
{
    if (const ops::Autocast to = ops::Autocast::low({&input, &a, &b}); to)
        return baddbmm(to(input), to(a), to(b), beta, alpha);
    return added("baddbmm", input, bmm(a, b), beta, alpha);
}

namespace {
// Returns x with its diagonal along dimensions a and b replaced by the value.
Tensor with_diagonal(const Tensor& x, const Tensor& value, std::int64_t offset, std::size_t a, std::size_t b)
{
    const Tensor steps = ops::count_like(x, value.size(-1));
    const Tensor rows = offset < 0 ? steps - static_cast<double>(offset) : steps,
                 columns = offset > 0 ? steps + static_cast<double>(offset) : steps;
    const Dims front{static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)};
    const ops::IndexChecksOff checks_off;
    return movedim(movedim(x, front, {0, 1}).index_put({rows, columns}, movedim(value, -1, 0)), {0, 1},
                   front);
}
} // namespace

Tensor diagonal(const Tensor& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2)
{
    constexpr const char* op = "diagonal";
    const std::size_t rank = x.shape().size();
    const std::size_t a = shape::normalize_dim(op, dim1, rank), b = shape::normalize_dim(op, dim2, rank);
    if (a == b) detail::fail(ErrorKind::argument, op, "The dimensions (", dim1, " and ", dim2, ") are one.");
    std::vector<std::int64_t> order;
    Shape rest;
    for (std::size_t d = 0; d < rank; ++d)
        if (d != a && d != b) {
            order.push_back(static_cast<std::int64_t>(d));
            rest.push_back(x.shape()[d]);
        }
    order.push_back(static_cast<std::int64_t>(a));
    order.push_back(static_cast<std::int64_t>(b));
    const Dim rows = x.shape()[a], columns = x.shape()[b];
    const Dim length =
        max(min(rows + std::min<std::int64_t>(offset, 0), columns - std::max<std::int64_t>(offset, 0)), 0);
    rest.push_back(rows * columns);
    const Tensor flat = reshape(permute(x, order), rest);
    const Tensor steps = ops::count_like(x, length);
    // Element i has row i (plus -offset if that is positive) and column i (plus offset if that is positive).
    const Tensor at = steps * ops::size_like(steps, columns + 1) +
                      (offset >= 0 ? ops::number_like(steps, static_cast<double>(offset))
                                   : ops::size_like(steps, columns) * static_cast<double>(-offset));
    const ops::IndexChecksOff checks_off;
    const Tensor found = index_select(flat, -1, at);
    graph::ViewLink& link = graph::link_view(found, x);
    link.gather = [=](const Tensor& base) { return diagonal(base, offset, a, b); };
    link.scatter = [=](const Tensor& base, const Tensor& value) {
        return with_diagonal(base, value, offset, a, b);
    };
    return found;
}

Tensor trace(const Tensor& x)
{
    const graph::NoAutocast in_its_dtype;
    require_rank("trace", x, 2, "a matrix");
    return sum(diagonal(x));
}

Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands)
{
    if (autocast_enabled()) {
        std::vector<Tensor> all;
        for (const Tensor& t : operands) all.push_back(autocast_to_low(t));
        const graph::NoAutocast in_this_dtype;
        return einsum(equation, all);
    }
    const Equation e = parse(equation, operands);
    std::vector<Term> terms;
    for (std::size_t i = 0; i < operands.size(); ++i)
        terms.push_back(without_repeats({operands[i], e.inputs[i]}));
    drop_ones(terms);
    Term result = terms[0];
    for (std::size_t i = 1; i < terms.size(); ++i) {
        std::string needed = e.output;
        for (std::size_t k = i + 1; k < terms.size(); ++k) needed += terms[k].letters;
        result = product(std::move(result), terms[i], needed);
    }
    return with_order(summed_away(result, e.output), e.output).value;
}

} // namespace reprise
