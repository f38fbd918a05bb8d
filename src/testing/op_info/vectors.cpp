// Rows of features: products over several dimensions, diagonals, norms and distances.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

OpInfo vectors_row(const char* name, std::vector<Sample> samples, std::vector<Mistake> mistakes = {},
                   double tolerance = 5e-6)
{
    return {.name = name,
            .is_op = false,
            .samples = std::move(samples),
            .mistakes = std::move(mistakes),
            .tolerance = tolerance};
}

} // namespace

void add_vectors(std::vector<OpInfo>& rows)
{
    rows.push_back(vectors_row(
        "normalize",
        {{.what = "by orders", .arguments = {arg({n(), 4, 3}, 0.2, 1)}, .call = [](const Inputs& in) {
              return std::vector{normalize(in[0]), normalize(in[0], 1, -1), normalize(in[0], 3, 0, 2)};
          }}}));
    rows.push_back(
        vectors_row("pairwise_distance",
                    {{.what = "rows", .arguments = {arg({n(), 4}), arg({4})}, .call = [](const Inputs& in) {
                          return std::vector{pairwise_distance(in[0], in[1]),
                                             pairwise_distance(in[0], in[1], 1, 0.1, true)};
                      }}}));
    rows.push_back(vectors_row("cdist",
                               {{.what = "of orders",
                                 .arguments = {arg({2, n(), 4}), arg({3, 4})},
                                 .call =
                                     [](const Inputs& in) {
                                         return std::vector{
                                             cdist(in[0], in[1]), cdist(in[0], in[1], 1),
                                             cdist(in[0], in[1], std::numeric_limits<double>::infinity())};
                                     }}},
                               {{"other features",
                                 [] {
                                     cdist(ones({2, 3}), ones({2, 4}));
                                 },
                                 ErrorKind::shape, "(3) and (4)"}}));
    rows.push_back(vectors_row(
        "tensordot",
        {{.what = "last and first, and named",
          .arguments = {arg({n(), 2, 3}), arg({2, 3, 4}), arg({3, n()})},
          .call =
              [](const Inputs& in) {
                  return std::vector{tensordot(in[0], in[1]), tensordot(in[0], in[2], {2, 0}, {0, 1}),
                                     tensordot(in[0], in[2], 0), tensordot(in[0], in[2], 1)};
              }}},
        {{"sizes that differ",
          [] {
              tensordot(ones({2, 3}), ones({2, 3}), 1);
          },
          ErrorKind::shape, "[3] and [2]"},
         {"too many", [] { tensordot(ones({2}), ones({2}), 2); }, ErrorKind::argument, "(2)"}}));
    rows.push_back(vectors_row(
        "kron", {{.what = "of matrices and of other ranks",
                  .arguments = {arg({n(), 2}), arg({3, n()}), arg({2})},
                  .call = [](const Inputs& in) {
                      return std::vector{kron(in[0], in[1]), kron(in[2], in[0]), kron(in[0], in[2])};
                  }}}));
    rows.push_back(vectors_row("diag",
                               {{.what = "there and back",
                                 .arguments = {arg({n()}), arg({n(), 3}), arg({2, n()})},
                                 .call =
                                     [](const Inputs& in) {
                                         return std::vector{diag(in[0]),           diag(in[0], -2),
                                                            diag(in[1], 1),        diag_embed(in[2], 1),
                                                            diag_embed(in[2], -1), diagflat(in[1])};
                                     }}},
                               {{"three dimensions",
                                 [] {
                                     diag(ones({1, 2, 3}));
                                 },
                                 ErrorKind::shape, "[1, 2, 3]"}}));
    rows.push_back(vectors_row(
        "cross",
        {{.what = "broadcast",
          .arguments = {arg({n(), 3}), arg({3}), arg({3, n()}), arg({3, n()})},
          .call =
              [](const Inputs& in) {
                  return std::vector{cross(in[0], in[1]), cross(in[2], in[3], 0)};
              }}},
        {{"two dimensions", [] { cross(ones({2}), ones({2})); }, ErrorKind::shape, "must be 3"}}));
}

} // namespace reprise::test
