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
    const bool in_place = from.are_floats() && along == 1;
    float* const copies = scratch(2, in_place ? 0 : count * k);
    std::array<const float*, max_columns> rows{};
    for (std::int64_t j = 0; j < count; ++j) {
        const std::int64_t row = first + j * between;
        if (!in_place) from.read(row, k, copies + j * k, along);
        rows[static_cast<std::size_t>(j)] = in_place ? from.floats() + row : copies + j * k;
    }
    pack_rows(rows.data(), count, k, width, to);
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
                           !p_.b.elements.are_floats(); // else B is read where it lies
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

// A product, in blocks of all rows and columns of C and parts of k.
class Multiplication {
public:
    Multiplication(const Tile& tile, const Product& p)
        : tile_(tile), p_(p), batches_(p.outers * p.inners),
          chunks_(std::max<std::int64_t>(divided_up(p.k, chunk), 1)),
          parts_(parts_of(batches_ * p.m * p.n, chunks_)),
          adds_to_c_(parts_ == 1 && p.c.are_floats() && !p.bias),
          columns_(block_of(p.n, block_columns, tile.columns)), column_blocks_(divided_up(p.n, columns_)),
          rows_(rows_of_block()), row_blocks_(divided_up(p.m, rows_)),
          sums_(static_cast<std::size_t>(parts_ > 1 ? batches_ * parts_ * p.m * p.n : 0)),
          bias_(static_cast<std::size_t>(p.bias ? p.n : 0))
    {
        if (p.bias) p.bias.read(0, p.n, bias_.data());
    }

    void compute()
    {
        const std::int64_t blocks = batches_ * parts_ * row_blocks_ * column_blocks_;
        detail::parallel_for(static_cast<std::size_t>(blocks),
                             [&](std::size_t i) { compute_block(static_cast<std::int64_t>(i)); });
        if (parts_ > 1)
            detail::parallel_for(static_cast<std::size_t>(batches_ * p_.m),
                                 [&](std::size_t i) { add_parts(static_cast<std::int64_t>(i)); });
    }

private:
    std::int64_t rows_of_block() const
    {
        const std::int64_t wanted = 3 * static_cast<std::int64_t>(detail::parallel_threads()),
                           row_blocks = divided_up(wanted, batches_ * parts_ * column_blocks_),
                           rows = std::max(divided_up(p_.m, row_blocks), least_block_rows);
        return block_of(p_.m, adds_to_c_ ? rows : std::min(rows, most_block_rows), tile_.rows);
    }

    void compute_block(std::int64_t i)
    {
        const auto next = [&](std::int64_t count) {
            const std::int64_t at = i % count;
            i /= count;
            return at;
        };
        const std::int64_t column = next(column_blocks_) * columns_, row = next(row_blocks_) * rows_,
                           part = next(parts_), batch = i, outer = batch / p_.inners,
                           inner = batch % p_.inners, first = part * chunks_ / parts_;
        Block block{row, std::min(rows_, p_.m - row), column, std::min(columns_, p_.n - column), 0, 0};
        // Sums are added in C, or in memory of their own.
        std::int64_t pitch = block.columns;
        float* sums = nullptr;
        if (parts_ > 1) {
            pitch = p_.n;
            sums = sums_of(batch, part) + row * pitch + column;
        } else if (adds_to_c_) {
            pitch = p_.c_row;
            sums = p_.c.floats() + row_of_c(batch, row) + column;
        } else sums = scratch(3, block.rows * pitch);
        const Task task(tile_, p_, outer * p_.a.outer + inner * p_.a.inner,
                        outer * p_.b.outer + inner * p_.b.inner, sums, pitch);
        for (std::int64_t at = first; at < (part + 1) * chunks_ / parts_; ++at) {
            block.first_k = at * chunk;
            block.k = std::min(chunk, p_.k - block.first_k);
            task.multiply(block, at > first);
        }
        if (parts_ == 1 && !adds_to_c_)
            for (std::int64_t r = 0; r < block.rows; ++r)
                write(sums + r * pitch, column, block.columns, row_of_c(batch, row + r));
    }

    // Adds the parts of a row in their order.
    void add_parts(std::int64_t row_of_all)
    {
        const std::int64_t batch = row_of_all / p_.m, row = row_of_all % p_.m;
        float* const sums = sums_of(batch, 0) + row * p_.n;
        for (std::int64_t part = 1; part < parts_; ++part)
            add_to(sums, sums_of(batch, part) + row * p_.n, p_.n);
        write(sums, 0, p_.n, row_of_c(batch, row));
    }

    // Writes the sums of some columns of a row of C, which begins at an element.
    void write(float* sums, std::int64_t column, std::int64_t columns, std::int64_t row)
    {
        if (p_.bias) add_to(sums, bias_.data() + column, columns);
        p_.c.write(sums, columns, row + column);
    }

    float* sums_of(std::int64_t batch, std::int64_t part)
    {
        return sums_.data() + (batch * parts_ + part) * p_.m * p_.n;
    }
    std::int64_t row_of_c(std::int64_t batch, std::int64_t row) const
    {
        return batch / p_.inners * p_.c_outer + batch % p_.inners * p_.c_inner + row * p_.c_row;
    }

    const Tile& tile_;
    const Product& p_;
    const std::int64_t batches_, chunks_, parts_;
    const bool adds_to_c_;                                           // else sums are written to C at the end
    const std::int64_t columns_, column_blocks_, rows_, row_blocks_; // of a block; of C
    std::vector<float> sums_;                                        // of the parts, [batch, part, m, n]
    std::vector<float> bias_;
};

} // namespace

std::int64_t parts_of(std::int64_t elements, std::int64_t chunks)
{
    return elements <= few_elements && chunks >= 4 ? std::min(chunks, most_parts) : 1;
}

void multiply(const Tile& tile, const Product& p)
{
    if (p.outers * p.inners > 0 && p.m > 0 && p.n > 0) Multiplication(tile, p).compute();
}

} // namespace reprise::device::native
