// Derivatives that take many products with one Jacobian: the product is recorded once and replayed for each row.
#include "autograd/derivatives.hpp"

#include <algorithm>

#include <reprise/autograd/grad.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/program.hpp>

#include "autograd/walk.hpp"
#include "graph/cell.hpp"
#include "graph/notes.hpp"
#include "ops/registry.hpp"

namespace reprise {

using graph::Value;

namespace {

std::int64_t concrete(const char* op, const Dim& size)
{
    if (!size.is_constant())
        detail::fail(ErrorKind::shape, op, "The size (", size,
                     ") is a symbol, but there is a row for each element: give a number.");
    return size.value();
}

// Returns a one-hot vector with 1 at `row`, on the device and of the dtype of `like`.
Tensor basis(const Tensor& like, const Dim& size, const Dim& row)
{
    const Tensor at = ops::full_on(ops::evaluator_of(like), {}, 1.0, i32, row);
    return cast(eq(ops::count_like(like, size), at), like.dtype());
}

// Computes the vector-Jacobian products with unit vectors and applies `finish` to each.
class Products {
public:
    using Finish = std::function<Tensor(const Tensor& vector, const Tensor& product)>;

    Products(const Tensor& from, const Tensor& x, Shape vector, bool create, Finish finish)
        : from_(graph::read(from)), x_(graph::read(x)), shape_(std::move(vector)), create_(create),
          finish_(std::move(finish))
    {}

    std::vector<Tensor> rows(std::int64_t count) const
    {
        constexpr std::int64_t worth_compiling =
            256; // number of rows from which compiling a fused kernel pays off
        std::vector<Tensor> out;
        if (create_ || is_recording() || graph::current_scope() || count < 2) {
            for (std::int64_t row = 0; row < count; ++row) out.push_back(one(row));
            return out;
        }
        const Tensor from = graph::make_tensor(from_);
        from.eval(); // also computes the values that the products read
        const Dim row = symbol("row");
        const Program product =
            record_function([&](const std::vector<Tensor>&) { return std::vector{one(row)}; }, {},
                            {.fuse = count >= worth_compiling, .device = from.device()}, {row});
        for (std::int64_t i = 0; i < count; ++i) out.push_back(product.call({}, {Dim(i)}).front());
        return out;
    }

private:
    Tensor one(const Dim& row) const
    {
        const Tensor from = graph::make_tensor(from_), x = graph::make_tensor(x_);
        const Tensor vector = expand(basis(from, shape_.back(), row), shape_);
        const Tensor seed = reshape(vector, from.shape());
        Tensor product =
            autograd::cotangents_of({&from_, 1}, {&seed, 1}, {&x_, 1},
                                    {.create_graph = create_, .retain_graph = true, .stop_at_inputs = true})
                .front();
        if (!product.defined()) product = zeros_like(x);
        return finish_(vector, product);
    }

    Value from_, x_;
    Shape shape_; // of a vector: numel of `from`, rank of at least 1
    bool create_;
    Finish finish_;
};

// Stacks the rows in parts, each evaluated immediately, so that the size of a plan does not grow with the number of
// rows.
Tensor stacked(const std::vector<Tensor>& rows)
{
    constexpr std::size_t part = 64;
    if (rows.size() <= part) return stack(rows);
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < rows.size(); i += part) {
        const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(i);
        parts.push_back(stack({begin, begin + static_cast<std::ptrdiff_t>(std::min(part, rows.size() - i))}));
        if (!is_recording()) parts.back().eval();
    }
    return cat(parts);
}

// Returns d from / d x, [shape of from, shape of x].
Tensor matrix(const char* op, const Tensor& from, const Tensor& x, bool create)
{
    Shape shape = from.shape();
    const Shape inner = x.shape();
    shape.insert(shape.end(), inner.begin(), inner.end());
    const std::int64_t count = concrete(op, from.numel());
    if (!from.requires_grad() || count == 0) return zeros(shape, {.dtype = x.dtype(), .device = x.device()});
    const Products products(from, x, {Dim(count)}, create,
                            [](const Tensor&, const Tensor& product) { return product; });
    return reshape(stacked(products.rows(count)), shape);
}

} // namespace

Tensor jacobian(const Function& f, const Tensor& x, const DerivativeOptions& options)
{
    const autograd::Run r = autograd::run("jacobian", autograd::of_several(f), {x}, options);
    return matrix("jacobian", r.y, r.x[0], r.create_graph);
}

Tensor hessian(const Function& f, const Tensor& x, const DerivativeOptions& options)
{
    const autograd::Run r = autograd::run("hessian", autograd::of_several(f), {x}, options);
    autograd::require_one_element("hessian", r.y);
    return matrix("hessian", r.products(ones_like(r.y), true).front(), r.x[0], r.create_graph);
}

Tensor laplacian(const Function& f, const Tensor& x, const DerivativeOptions& options)
{
    const autograd::Run r = autograd::run("laplacian", autograd::of_several(f), {x}, options);
    const Shape all = x.shape(), y = r.y.shape();
    Shape points(all.begin(), all.end() - (all.empty() ? 0 : 1)), column = points;
    column.push_back(1);
    const bool each = !all.empty() && (same(y, points) || same(y, column));
    if (!each && !same(y, Shape{}) && !same(r.y.numel(), 1))
        detail::fail(ErrorKind::shape, "laplacian", "The function gave the shape (", to_string(y),
                     ") for points of the shape (", to_string(all),
                     "): let it give one number a point, or one in all.");
    const graph::NoAutocast in_its_dtype;
    const Tensor gradient = r.products(ones_like(r.y), true).front();
    const std::int64_t count = concrete("laplacian", each ? all.back() : gradient.numel());
    Tensor total = zeros_like(r.y).detach();
    if (!gradient.requires_grad() || count == 0) return total;
    const Products products(gradient, r.x[0], each ? all : Shape{Dim(count)}, r.create_graph,
                            [&](const Tensor& vector, const Tensor& product) {
                                const Tensor diagonal = reshape(product, vector.shape()) * vector;
                                return reshape(each ? sum(diagonal, {-1}) : sum(diagonal), y);
                            });
    for (const Tensor& row : products.rows(count)) total = total + row;
    return total;
}

} // namespace reprise
