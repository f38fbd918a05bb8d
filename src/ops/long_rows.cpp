#include "ops/long_rows.hpp"

#include "ops/launch_where.hpp"
#include "ops/reduce.hpp"
#include "ops/registry.hpp"

namespace reprise::ops {

namespace {

// With many rows, one invocation per row occupies the whole device and needs no temporaries. 8 rows suffice for
// lavapipe, the device that prefers texels.
constexpr std::int64_t long_row = 8192, few_rows = 64, few_for_texels = 7;

Dim is_long(const Lowering& l, const Dim& length, const Dim& rows, std::int64_t longest)
{
    if (length.at_most(long_row - 1)) return 0;
    const std::int64_t few = l.texels() ? few_for_texels : few_rows;
    return max(is_at_least(length, longest),
               is_at_least(length, long_row) * (1 - is_at_least(rows, few + 1)));
}

} // namespace

LongRows::LongRows(Lowering& l, const Shape& sizes, std::size_t dim)
    : l_(l), sizes_(sizes), reduced_sizes_(sizes), dim_(dim)
{
    reduced_sizes_[dim] = 1;
}

void LongRows::choose(Lowering& l, const Dim& length, const Dim& rows, std::int64_t longest,
                      const std::function<void()>& one_each, const std::function<void()>& divided)
{
    const Dim condition = is_long(l, length, rows, longest);
    if (same(condition, 0)) return one_each();
    if (same(condition, 1)) return divided();
    l.when(1 - condition, one_each);
    l.when(condition, divided);
}

View LongRows::each(const char* row, const std::vector<View>& in)
{
    View to = l_.temporary(f32, reduced_sizes_);
    write(to, row, in);
    return to;
}

View LongRows::across(const char* row, const std::vector<View>& in)
{
    View to = l_.temporary(f32, sizes_);
    write(to, row, in);
    return to;
}

void LongRows::write(const View& to, const char* row, const std::vector<View>& in)
{
    l_.elementwise(row_op(row), in, to);
}

View LongRows::reduced(const char* op, const View& x)
{
    View to = l_.temporary(f32, reduced_sizes_);
    reduce_into(l_, op, x, {static_cast<std::int64_t>(dim_)}, to);
    return to;
}

View LongRows::mean(const View& x)
{
    Scalar length(1);
    length.factor = sizes_[dim_];
    return each("div", {reduced("sum", x), {.number = length}});
}

View LongRows::column(View per_row)
{
    per_row.layout.sizes.push_back(1);
    per_row.layout.strides.push_back(1);
    return per_row;
}

} // namespace reprise::ops
