// Rows of features: products over several dimensions, diagonals, norms and distances.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
void add_vectors(Rows& rows)
{
    rows.composed("normalize").tolerance = 5e-6;
    rows.sample("by orders", {arg({n(), 4, 3}, 0.2, 1)}, [](const Inputs& in) {
        return std::vector{normalize(in[0]), normalize(in[0], 1, -1), normalize(in[0], 3, 0, 2)};
    });

    rows.composed("pairwise_distance").tolerance = 5e-6;
    rows.sample("rows", {arg({n(), 4}), arg({4})}, [](const Inputs& in) {
        return std::vector{pairwise_distance(in[0], in[1]), pairwise_distance(in[0], in[1], 1, 0.1, true)};
    });

    rows.composed("cdist").tolerance = 5e-6;
    rows.sample("of orders", {arg({2, n(), 4}), arg({3, 4})}, [](const Inputs& in) {
        return std::vector{cdist(in[0], in[1]), cdist(in[0], in[1], 1),
                           cdist(in[0], in[1], std::numeric_limits<double>::infinity())};
    });
    rows.mistake("other features", ErrorKind::shape, "(3) and (4)", [] {
        cdist(ones({2, 3}), ones({2, 4}));
    });

    rows.composed("tensordot").tolerance = 5e-6;
    rows.sample("last and first, and named", {arg({n(), 2, 3}), arg({2, 3, 4}), arg({3, n()})},
                [](const Inputs& in) {
                    return std::vector{tensordot(in[0], in[1]), tensordot(in[0], in[2], {2, 0}, {0, 1}),
                                       tensordot(in[0], in[2], 0), tensordot(in[0], in[2], 1)};
                });
    rows.mistake("sizes that differ", ErrorKind::shape, "[3] and [2]", [] {
        tensordot(ones({2, 3}), ones({2, 3}), 1);
    });
    rows.mistake("too many", ErrorKind::argument, "(2)", [] { tensordot(ones({2}), ones({2}), 2); });

    rows.composed("kron").tolerance = 5e-6;
    rows.sample("of matrices and of other ranks", {arg({n(), 2}), arg({3, n()}), arg({2})},
                [](const Inputs& in) {
                    return std::vector{kron(in[0], in[1]), kron(in[2], in[0]), kron(in[0], in[2])};
                });

    rows.composed("diag").tolerance = 5e-6;
    rows.sample("there and back", {arg({n()}), arg({n(), 3}), arg({2, n()})}, [](const Inputs& in) {
        return std::vector{diag(in[0]),          diag(in[0], -2),       diag(in[1], 1),
                           diag_embed(in[2], 1), diag_embed(in[2], -1), diagflat(in[1])};
    });
    rows.mistake("three dimensions", ErrorKind::shape, "[1, 2, 3]", [] { diag(ones({1, 2, 3})); });

    rows.composed("cross").tolerance = 5e-6;
    rows.sample("broadcast", {arg({n(), 3}), arg({3}), arg({3, n()}), arg({3, n()})}, [](const Inputs& in) {
        return std::vector{cross(in[0], in[1]), cross(in[2], in[3], 0)};
    });
    rows.mistake("two dimensions", ErrorKind::shape, "must be 3", [] { cross(ones({2}), ones({2})); });
}

} // namespace reprise::test
