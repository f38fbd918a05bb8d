#include "ops/index_check.hpp"

#include <reprise/grad_mode.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/registry.hpp"

namespace reprise {

void set_check_indices(bool on) { graph::set_checks_indices(on); }
bool checks_indices() { return graph::checks_indices(); }

namespace ops {

void require_indices_inside(const graph::IndexCheck& check, std::span<const std::int64_t> all,
                            std::int64_t size)
{
    std::size_t bad = 0, first = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if ((all[i] >= (check.from_end ? -size : 0) && all[i] < size) || all[i] == check.except) continue;
        if (bad++ == 0) first = i;
    }
    if (bad == 0) return;
    detail::fail(ErrorKind::argument, check.op, "The index (", all[first], ") at element (", first,
                 ") does not lie in the size (", size, "), as (", bad, " of ", all.size(),
                 ") do not: indices go from 0 to the size minus 1",
                 check.from_end ? ", or from -1 back to minus the size." : ".");
}

void check_indices(const graph::IndexCheck& check, const Tensor& index, const Dim& size)
{
    if (!graph::checks_indices()) return;
    const IndexChecksOff checks_off;
    const no_grad no_tape;
    const Tensor line = reshape(index, {index.numel()});
    if (graph::Tracer* tracer = graph::current_tracer())
        return tracer->check_indices(check, graph::read(cat({line, reshape(size_like(line, size), {1})})));
    require_indices_inside(check, cast(line, i64).to_vector<std::int64_t>(), size.value());
}

} // namespace ops
} // namespace reprise
