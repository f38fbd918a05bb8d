// Each task computes a block of C.  It packs a chunk of B in panels of the tile's columns, which stay in the L2 cache,
// then for each row of tiles a panel of A, which stays in the L1 cache.
#include "device/native/gemm.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/parallel.hpp"

namespace reprise::device::native {

namespace {

constexpr std::int64_t block_columns = 384, least_block_rows = 48; // of a task
constexpr std::int64_t most_block_rows = 1024; // of a task that keeps sums in memory of its own
constexpr std::int64_t few_elements = 1 << 16, most_parts = 16; // of a product that is split along k

// Equal blocks of at most `most`, in whole tiles.
std::int64_t block_of(std::int64_t size, std::int64_t most, std::int64_t tile)
{
    const std::int64_t blocks = std::max<std::int64_t>(divided_up(size, most), 1);
    return std::max<std::int64_t>(divided_up(divided_up(size, blocks), tile) * tile, tile);
}

// Packs `count` rows or columns of a matrix from its element `first` on: to[i][j] is element i of row or column j.
void pack(const Elements& from, std::int64_t first, std::int64_t between, std::int64_t along,
          std::int64_t count, std::int64_t k, std::int64_t width, float* to)
{
    if (between == 1) {
        for (std::int64_t i = 0; i < k; ++i) {
            from.read(first + i * along, count, to + i * width);
            std::fill_n(to + i * width + count, width - count, 0.0F);
        }
        return;
    }
    if (along == 1) {
        const bool in_place = from.dtype == f32;
        float* const wide = scratch(2, in_place ? 0 : count * k);
        std::array<const float*, max_columns> rows{};
        for (std::int64_t j = 0; j < count; ++j) {
            const std::int64_t row = first + j * between;
            if (!in_place) from.read(row, k, wide + j * k);
            rows[static_cast<std::size_t>(j)] = in_place ? from.floats() + row : wide + j * k;
        }
        return pack_rows(rows.data(), count, k, width, to);
    }
    for (std::int64_t i = 0; i < k; ++i) {
        for (std::int64_t j = 0; j < count; ++j)
            from.read(first + i * along + j * between, 1, to + i * width + j);
        std::fill_n(to + i * width + count, width - count, 0.0F);
    }
}

struct Block {
    std::int64_t first_row, rows, first_column, columns, first_k, k;
};

// A block of one product of the batch, or of a part of it.
class Task {
public:
    // `a`, `b`: the first elements of the operands; `c`: the block's sums, whose rows are `pitch` apart.
    Task(const Tile& tile, const Product& p, std::int64_t a, std::int64_t b, float* c, std::int64_t pitch)
        : tile_(tile), p_(p), a_(a), b_(b), c_(c), pitch_(pitch)
    {}

    // C = the block's sum, or C += it.
    void multiply(const Block& block, bool add) const
    {
        const std::int64_t panels = divided_up(block.columns, tile_.columns);
        const bool packs = block.rows > 2 * tile_.rows || p_.b.column != 1 ||
                           p_.b.elements.dtype != f32; // else B is read where it lies
        float* const packed_b = scratch(0, panels * tile_.columns * block.k);
        float* const packed_a = scratch(1, tile_.rows * block.k);
        std::array<std::int64_t, chunk> packed_rows{}, rows{};
        for (std::size_t i = 0; i < chunk; ++i) {
            packed_rows[i] = static_cast<std::int64_t>(i) * tile_.columns;
            rows[i] = static_cast<std::int64_t>(i) * p_.b.row;
        }
        const auto columns_of = [&](std::int64_t panel) {
            return std::min(tile_.columns, block.columns - panel * tile_.columns);
        };
        const auto is_packed = [&](std::int64_t panel) { return packs || columns_of(panel) < tile_.columns; };
        const auto panel_of_b = [&](std::int64_t panel) {
            return b_ + (block.first_column + panel * tile_.columns) * p_.b.column + block.first_k * p_.b.row;
        };
        for (std::int64_t q = 0; q < panels; ++q)
            if (is_packed(q))
                pack(p_.b.elements, panel_of_b(q), p_.b.column, p_.b.row, columns_of(q), block.k,
                     tile_.columns, packed_b + q * tile_.columns * block.k);
        for (std::int64_t r = 0; r < block.rows; r += tile_.rows) {
            const std::int64_t count = std::min(tile_.rows, block.rows - r);
            pack(p_.a.elements, a_ + (block.first_row + r) * p_.a.row + block.first_k * p_.a.column, p_.a.row,
                 p_.a.column, count, block.k, tile_.rows, packed_a);
            for (std::int64_t q = 0; q < panels; ++q) {
                const float* const panel = is_packed(q) ? packed_b + q * tile_.columns * block.k
                                                        : p_.b.elements.floats() + panel_of_b(q);
                const std::int64_t* const offsets = is_packed(q) ? packed_rows.data() : rows.data();
                float* const to = c_ + r * pitch_ + q * tile_.columns;
                if (count == tile_.rows && columns_of(q) == tile_.columns) {
                    tile_.multiply(block.k, packed_a, panel, offsets, to, pitch_, add);
                    continue;
                }
                alignas(64) float sums[max_rows * max_columns];
                tile_.multiply(block.k, packed_a, panel, offsets, sums, tile_.columns, false);
                store(sums, count, columns_of(q), to, add);
            }
        }
    }

private:
    void store(const float* sums, std::int64_t rows, std::int64_t columns, float* to, bool add) const
    {
        for (std::int64_t r = 0; r < rows; ++r) {
            const float* const from = sums + r * tile_.columns;
            if (add) add_to(to + r * pitch_, from, columns);
            else std::copy_n(from, columns, to + r * pitch_);
        }
    }

    const Tile& tile_;
    const Product& p_;
    std::int64_t a_, b_;
    float* c_;
    std::int64_t pitch_;
};

// Writes `count` sums of a row to C from its element `to` on, after adding `bias` where it is not null.
void write(const Product& p, float* sums, std::int64_t count, const float* bias, std::int64_t to)
{
    if (bias) add_to(sums, bias, count);
    p.c.write(sums, count, to);
}

// Adds the parts [parts, m, n] in order, and writes the sums to C from its element `to` on.
void add_parts(const Product& p, float* sums, std::int64_t parts, const float* bias, std::int64_t to)
{
    detail::parallel_for(static_cast<std::size_t>(p.m), [&](std::size_t row) {
        const auto r = static_cast<std::int64_t>(row);
        float* const first = sums + r * p.n;
        for (std::int64_t part = 1; part < parts; ++part) add_to(first, sums + (part * p.m + r) * p.n, p.n);
        write(p, first, p.n, bias, to + r * p.c_row);
    });
}

} // namespace

std::int64_t parts_of(std::int64_t elements, std::int64_t chunks)
{
    return elements <= few_elements && chunks >= 4 ? std::min(chunks, most_parts) : 1;
}

void multiply(const Tile& tile, const Product& p)
{
    const std::int64_t chunks = std::max<std::int64_t>(divided_up(p.k, chunk), 1),
                       batches = p.outers * p.inners, parts = parts_of(batches * p.m * p.n, chunks);
    if (batches == 0 || p.m == 0 || p.n == 0) return;
    // Tasks either add to C, or to parts of it, or to memory of their own, from which they write it.
    const bool adds_to_c = parts == 1 && p.c.dtype == f32 && !p.bias;
    const std::int64_t columns = block_of(p.n, block_columns, tile.columns),
                       column_blocks = divided_up(p.n, columns), per_rows = batches * parts * column_blocks,
                       wanted = 3 * static_cast<std::int64_t>(detail::parallel_threads()),
                       shared_rows =
                           std::max(divided_up(p.m, divided_up(wanted, per_rows)), least_block_rows),
                       rows = block_of(p.m, adds_to_c ? shared_rows : std::min(shared_rows, most_block_rows),
                                       tile.rows),
                       row_blocks = divided_up(p.m, rows);
    std::vector<float> sums(static_cast<std::size_t>(parts > 1 ? batches * parts * p.m * p.n : 0)),
        biases(static_cast<std::size_t>(p.bias ? p.n : 0));
    if (p.bias) p.bias.read(0, p.n, biases.data());
    const float* const bias = p.bias ? biases.data() : nullptr;
    const auto c_of = [&](std::int64_t batch) {
        return batch / p.inners * p.c_outer + batch % p.inners * p.c_inner;
    };
    const std::int64_t tasks = per_rows * row_blocks;
    detail::parallel_for(static_cast<std::size_t>(tasks), [&](std::size_t index) {
        auto i = static_cast<std::int64_t>(index);
        const auto next = [&](std::int64_t count) {
            const std::int64_t at = i % count;
            i /= count;
            return at;
        };
        const std::int64_t column = next(column_blocks) * columns, row = next(row_blocks) * rows,
                           part = next(parts), batch = i, outer = batch / p.inners, inner = batch % p.inners,
                           to = c_of(batch) + row * p.c_row + column, first = part * chunks / parts;
        Block block{row, std::min(rows, p.m - row), column, std::min(columns, p.n - column), 0, 0};
        float* c = nullptr;
        std::int64_t pitch = 0;
        if (parts > 1) {
            pitch = p.n;
            c = sums.data() + ((batch * parts + part) * p.m + row) * pitch + column;
        } else if (adds_to_c) {
            pitch = p.c_row;
            c = p.c.floats() + to;
        } else {
            pitch = block.columns;
            c = scratch(3, block.rows * pitch);
        }
        const Task task(tile, p, outer * p.a.outer + inner * p.a.inner, outer * p.b.outer + inner * p.b.inner,
                        c, pitch);
        for (std::int64_t at = first; at < (part + 1) * chunks / parts; ++at) {
            block.first_k = at * chunk;
            block.k = std::min(chunk, p.k - block.first_k);
            task.multiply(block, at > first);
        }
        for (std::int64_t r = 0; parts == 1 && !adds_to_c && r < block.rows; ++r)
            write(p, c + r * pitch, block.columns, bias ? bias + column : nullptr, to + r * p.c_row);
    });
    for (std::int64_t batch = 0; parts > 1 && batch < batches; ++batch)
        add_parts(p, sums.data() + batch * parts * p.m * p.n, parts, bias, c_of(batch));
}

} // namespace reprise::device::native
