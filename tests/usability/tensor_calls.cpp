// Calls of libtorch's tensor API as its users write them, with what PyTorch prints for each (but that indices and
// arange are i32 here).
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include <reprise/reprise.hpp>

namespace torch = reprise;

namespace {

#define SAYS(call, text) EXPECT_EQ(torch::to_string call, text) << #call

class TensorCalls : public testing::Test {
protected:
    torch::Tensor x = torch::arange(6, torch::kFloat32).view({2, 3});
    torch::Tensor z = torch::arange(12, torch::kFloat32).view({2, 3, 2});
    torch::Tensor mask = torch::tensor({{true, false, true}, {false, true, false}});
    const float data[4] = {1, 2, 3, 4};
};

TEST_F(TensorCalls, Creation)
{
    SAYS((torch::tensor(1.5)), "tensor(1.5000)");
    SAYS((torch::tensor(3)), "tensor(3)");
    SAYS((torch::tensor({1, 2})), "tensor([1, 2])");
    SAYS((torch::tensor({1.0, 2.5})), "tensor([1.0000, 2.5000])");
    SAYS((torch::tensor({true, false})), "tensor([ True, False])");
    SAYS((torch::tensor({{1.f, 2.f}, {3.f, 4.f}})), R"(tensor([[1., 2.],
        [3., 4.]]))");
    SAYS((torch::tensor({{{1, 2}}, {{3, 4}}})), R"(tensor([[[1, 2]],

        [[3, 4]]]))");
    SAYS((torch::tensor({1, 2}, torch::kFloat32)), "tensor([1., 2.])");
    SAYS((torch::tensor({1.5, 2.5}, torch::kInt)), "tensor([1, 2], dtype=i32)");
    SAYS((torch::from_vector({1, 0, 1, 0}, {2, 2})), R"(tensor([[1, 0],
        [1, 0]], dtype=i32))");
    SAYS((torch::from_vector({1.f, 0.f, 1.f, 0.f}, {2, 2})), R"(tensor([[1., 0.],
        [1., 0.]]))");
    SAYS((torch::from_vector({true, false}, {2})), "tensor([ True, False])");
    SAYS((torch::zeros({2, 3}, torch::kFloat16)), R"(tensor([[0., 0., 0.],
        [0., 0., 0.]], dtype=f16))");
    SAYS((torch::ones({2}, torch::kInt64)), "tensor([1, 1])");
    SAYS((torch::zeros({2}, torch::default_device())), "tensor([0., 0.])");
    SAYS((torch::full({2, 2}, 7)), R"(tensor([[7., 7.],
        [7., 7.]]))");
    SAYS((torch::arange(1, 7, 2)), "tensor([1, 3, 5], dtype=i32)");
    SAYS((torch::arange(5, 0, -2)), "tensor([5, 3, 1], dtype=i32)");
    SAYS((torch::arange(2, 4)), "tensor([2, 3], dtype=i32)");
    SAYS((torch::arange(2, 4, torch::kFloat)), "tensor([2., 3.])");
    SAYS((torch::arange(0, 1, 0.5)), "tensor([0.0000, 0.5000])");
    SAYS((torch::arange(0.0, 1.0, 0.25)), "tensor([0.0000, 0.2500, 0.5000, 0.7500])");
    SAYS((torch::linspace(0, 1, 5)), "tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])");
    SAYS((torch::logspace(0, 2, 3)), "tensor([  1.,  10., 100.])");
    SAYS((torch::eye(3)), R"(tensor([[1., 0., 0.],
        [0., 1., 0.],
        [0., 0., 1.]]))");
    SAYS((torch::eye(2, 3)), R"(tensor([[1., 0., 0.],
        [0., 1., 0.]]))");
    SAYS((torch::empty({0})), "tensor([])");
    SAYS((torch::zeros({2, 0})), "tensor([], size=[2, 0])");
    SAYS((torch::scalar_tensor(2.5)), "tensor(2.5000)");
    SAYS((torch::empty_like(x).zero_()), R"(tensor([[0., 0., 0.],
        [0., 0., 0.]]))");
    SAYS((torch::from_blob(data, {2, 2})), R"(tensor([[1., 2.],
        [3., 4.]]))");
}

TEST_F(TensorCalls, Indexing)
{
    SAYS((x), R"(tensor([[0., 1., 2.],
        [3., 4., 5.]]))");
    SAYS((x.t()), R"(tensor([[0., 3.],
        [1., 4.],
        [2., 5.]]))");
    SAYS((x[0]), "tensor([0., 1., 2.])");
    SAYS((x[-1]), "tensor([3., 4., 5.])");
    SAYS((x[1][2]), "tensor(5.)");
    SAYS((x[mask]), "tensor([0., 2., 4.])");
    SAYS((x[torch::tensor({1, 0, 1})]), R"(tensor([[3., 4., 5.],
        [0., 1., 2.],
        [3., 4., 5.]]))");
    SAYS((x.index({torch::Slice(), 0})), "tensor([0., 3.])");
    SAYS((x.index({"...", -1})), "tensor([2., 5.])");
    SAYS((x.index({torch::indexing::Ellipsis, torch::indexing::None})), R"(tensor([[[0.],
         [1.],
         [2.]],

        [[3.],
         [4.],
         [5.]]]))");
    SAYS((x.index({torch::indexing::None, torch::indexing::Slice(torch::indexing::None, 1)})),
         "tensor([[[0., 1., 2.]]])");
    SAYS((x.index({torch::Slice(), torch::Slice(torch::None, torch::None, 2)})), R"(tensor([[0., 2.],
        [3., 5.]]))");
    SAYS((x.index({torch::Slice(), torch::Slice(-2, torch::None)})), R"(tensor([[1., 2.],
        [4., 5.]]))");
    SAYS((x.index({torch::tensor({0, 1}), torch::tensor({2, 0})})), "tensor([2., 3.])");
    SAYS((x.index({torch::Slice(), torch::tensor({{0}, {2}})})), R"(tensor([[[0.],
         [2.]],

        [[3.],
         [5.]]]))");
    SAYS((z.index({torch::tensor({0, 1}), torch::Slice(), torch::tensor({1, 0})})),
         R"(tensor([[ 1.,  3.,  5.],
        [ 6.,  8., 10.]]))");
    SAYS((z.index({torch::Slice(), torch::tensor({0, 2}), torch::tensor({1, 0})})), R"(tensor([[ 1.,  4.],
        [ 7., 10.]]))");
    SAYS((z.index({0, torch::Slice(), torch::tensor({1, 0, -1})})), R"(tensor([[1., 0., 1.],
        [3., 2., 3.],
        [5., 4., 5.]]))");
    SAYS((x.index({x > 2})), "tensor([3., 4., 5.])");
    SAYS((x.index({true})), R"(tensor([[[0., 1., 2.],
         [3., 4., 5.]]]))");
    SAYS((x.index({mask[0][0]})), R"(tensor([[[0., 1., 2.],
         [3., 4., 5.]]]))");
    SAYS((x.clone().index_put_({0}, torch::tensor(9.0))), R"(tensor([[9., 9., 9.],
        [3., 4., 5.]]))");
    SAYS((x.clone().index_put_({mask}, 0)), R"(tensor([[0., 1., 0.],
        [3., 0., 5.]]))");
    SAYS((x.clone().index_put_({torch::tensor({0, 0})}, torch::ones({2, 3}), true)), R"(tensor([[2., 3., 4.],
        [3., 4., 5.]]))");
}

TEST_F(TensorCalls, Methods)
{
    SAYS((x.select(1, 0)), "tensor([0., 3.])");
    SAYS((x.slice(1, 1, 3)), R"(tensor([[1., 2.],
        [4., 5.]]))");
    SAYS((x.slice(1, 0, 3, 2)), R"(tensor([[0., 2.],
        [3., 5.]]))");
    SAYS((x.narrow(1, 0, 2)), R"(tensor([[0., 1.],
        [3., 4.]]))");
    SAYS((x.index_select(1, torch::tensor({2, 0}))), R"(tensor([[2., 0.],
        [5., 3.]]))");
    SAYS((x.gather(1, torch::tensor({{0, 1}, {2, 0}}))), R"(tensor([[0., 1.],
        [5., 3.]]))");
    SAYS((x.masked_fill(mask, -1)), R"(tensor([[-1.,  1., -1.],
        [ 3., -1.,  5.]]))");
    SAYS((x.masked_select(mask)), "tensor([0., 2., 4.])");
    SAYS((x.scatter_add(1, torch::tensor({{0, 0, 1}}), torch::ones({1, 3}))), R"(tensor([[2., 2., 2.],
        [3., 4., 5.]]))");
    SAYS((x.repeat({1, 2})), R"(tensor([[0., 1., 2., 0., 1., 2.],
        [3., 4., 5., 3., 4., 5.]]))");
    SAYS((x.mm(x.t())), R"(tensor([[ 5., 14.],
        [14., 50.]]))");
    SAYS((x.matmul(torch::tensor({1.0, 0.0, 1.0}))), "tensor([2., 8.])");
    SAYS((x.mv(torch::tensor({1.0, 0.0, 1.0}))), "tensor([2., 8.])");
    SAYS((x[0].dot(x[1])), "tensor(14.)");
    SAYS((x[0].outer(x[1])), R"(tensor([[ 0.,  0.,  0.],
        [ 3.,  4.,  5.],
        [ 6.,  8., 10.]]))");
    SAYS((torch::bmm(z, z.transpose(1, 2))), R"(tensor([[[  1.,   3.,   5.],
         [  3.,  13.,  23.],
         [  5.,  23.,  41.]],

        [[ 85., 111., 137.],
         [111., 145., 179.],
         [137., 179., 221.]]]))");
    SAYS((torch::addmm(torch::ones({2, 2}), x, x.t())), R"(tensor([[ 6., 15.],
        [15., 51.]]))");
    SAYS((torch::baddbmm(torch::ones({2, 3, 3}), z, z.transpose(1, 2), 0.5)),
         R"(tensor([[[  1.5000,   3.5000,   5.5000],
         [  3.5000,  13.5000,  23.5000],
         [  5.5000,  23.5000,  41.5000]],

        [[ 85.5000, 111.5000, 137.5000],
         [111.5000, 145.5000, 179.5000],
         [137.5000, 179.5000, 221.5000]]]))");
    SAYS((torch::addcmul(x, x, x, 0.5)), R"(tensor([[ 0.0000,  1.5000,  4.0000],
        [ 7.5000, 12.0000, 17.5000]]))");
    SAYS((torch::addcdiv(x, x, x + 1, 2)), R"(tensor([[0.0000, 2.0000, 3.3333],
        [4.5000, 5.6000, 6.6667]]))");
    SAYS((x.lerp(x + 1, 0.5)), R"(tensor([[0.5000, 1.5000, 2.5000],
        [3.5000, 4.5000, 5.5000]]))");
}

TEST_F(TensorCalls, Reductions)
{
    SAYS((std::get<0>(x.max(1))), "tensor([2., 5.])");
    SAYS((std::get<1>(x.max(1))), "tensor([2, 2], dtype=i32)");
    SAYS((x.max()), "tensor(5.)");
    SAYS((x.amax(0)), "tensor([3., 4., 5.])");
    SAYS((x.sum(1)), "tensor([ 3., 12.])");
    SAYS((x.sum({0, 1}, true)), "tensor([[15.]])");
    SAYS((x.mean(-1)), "tensor([1., 4.])");
    SAYS((x.mean()), "tensor(2.5000)");
    SAYS((x.std(1)), "tensor([1., 1.])");
    SAYS((x.std(1, false)), "tensor([0.8165, 0.8165])");
    SAYS((x.var(0, true, true)), "tensor([[4.5000, 4.5000, 4.5000]])");
    SAYS((x.norm()), "tensor(7.4162)");
    SAYS((x.norm(1, 0)), "tensor([3., 5., 7.])");
    SAYS(((x > 2).all()), "tensor(False)");
    SAYS(((x > 2).any(1)), "tensor([False,  True])");
}

TEST_F(TensorCalls, OrdersAndParts)
{
    SAYS((x.argmax(1)), "tensor([2, 2], dtype=i32)");
    SAYS((x.cumsum(1)), R"(tensor([[ 0.,  1.,  3.],
        [ 3.,  7., 12.]]))");
    SAYS((std::get<0>(x.sort(1, true))), R"(tensor([[2., 1., 0.],
        [5., 4., 3.]]))");
    SAYS((x.argsort(-1, true)), R"(tensor([[2, 1, 0],
        [2, 1, 0]], dtype=i32))");
    SAYS((std::get<0>(x.topk(2))), R"(tensor([[2., 1.],
        [5., 4.]]))");
    SAYS((std::get<0>(x.topk(1, 0, false))), "tensor([[0., 1., 2.]])");
    SAYS((x.softmax(-1)), R"(tensor([[0.0900, 0.2447, 0.6652],
        [0.0900, 0.2447, 0.6652]]))");
    SAYS((torch::softmax(x, 1)), R"(tensor([[0.0900, 0.2447, 0.6652],
        [0.0900, 0.2447, 0.6652]]))");
    SAYS((x.log_softmax(1)), R"(tensor([[-2.4076, -1.4076, -0.4076],
        [-2.4076, -1.4076, -0.4076]]))");
    SAYS((x.logsumexp(1)), "tensor([2.4076, 5.4076])");
    SAYS((torch::tril(x)), R"(tensor([[0., 0., 0.],
        [3., 4., 0.]]))");
    SAYS((x.triu(1)), R"(tensor([[0., 1., 2.],
        [0., 0., 5.]]))");
    SAYS((x.flip(0)), R"(tensor([[3., 4., 5.],
        [0., 1., 2.]]))");
    SAYS((x.flip({0, 1})), R"(tensor([[5., 4., 3.],
        [2., 1., 0.]]))");
    SAYS((x.roll(1, 1)), R"(tensor([[2., 0., 1.],
        [5., 3., 4.]]))");
    SAYS((x.chunk(3, 1)[2]), R"(tensor([[2.],
        [5.]]))");
    SAYS((x.split(2, 1)[1]), R"(tensor([[2.],
        [5.]]))");
    SAYS((x.unbind(0)[1]), "tensor([3., 4., 5.])");
}

TEST_F(TensorCalls, Elementwise)
{
    SAYS((x.clamp(1, 3)), R"(tensor([[1., 1., 2.],
        [3., 3., 3.]]))");
    SAYS((x.clamp(2)), R"(tensor([[2., 2., 2.],
        [3., 4., 5.]]))");
    SAYS((x.clamp(torch::None, 3)), R"(tensor([[0., 1., 2.],
        [3., 3., 3.]]))");
    SAYS((torch::clamp(x, x[0], x[0] + 1)), R"(tensor([[0., 1., 2.],
        [1., 2., 3.]]))");
    SAYS((torch::arange(5).clamp(2)), "tensor([2, 2, 2, 3, 4], dtype=i32)");
    SAYS((x.sigmoid()), R"(tensor([[0.5000, 0.7311, 0.8808],
        [0.9526, 0.9820, 0.9933]]))");
    SAYS((x.relu()), R"(tensor([[0., 1., 2.],
        [3., 4., 5.]]))");
    SAYS((x.erf()), R"(tensor([[0.0000, 0.8427, 0.9953],
        [1.0000, 1.0000, 1.0000]]))");
    SAYS((x.rsqrt()), R"(tensor([[   inf, 1.0000, 0.7071],
        [0.5774, 0.5000, 0.4472]]))");
    SAYS((x.square()), R"(tensor([[ 0.,  1.,  4.],
        [ 9., 16., 25.]]))");
    SAYS((x.reciprocal()), R"(tensor([[   inf, 1.0000, 0.5000],
        [0.3333, 0.2500, 0.2000]]))");
    SAYS((x.neg().abs().exp().log().sqrt().tanh()), R"(tensor([[0.0000, 0.7616, 0.8884],
        [0.9393, 0.9640, 0.9774]]))");
    SAYS((x.pow(2)), R"(tensor([[ 0.,  1.,  4.],
        [ 9., 16., 25.]]))");
    SAYS((x.pow(x[0])), R"(tensor([[ 1.,  1.,  4.],
        [ 1.,  4., 25.]]))");
    SAYS((torch::pow(2, x)), R"(tensor([[ 1.,  2.,  4.],
        [ 8., 16., 32.]]))");
}

TEST_F(TensorCalls, Operators)
{
    SAYS((x.eq(3)), R"(tensor([[False, False, False],
        [ True, False, False]]))");
    SAYS((x.ne(x.flip(1))), R"(tensor([[ True, False,  True],
        [ True, False,  True]]))");
    SAYS((torch::lt(x, 2)), R"(tensor([[ True,  True, False],
        [False, False, False]]))");
    SAYS((torch::ge(x, x[0])), R"(tensor([[True, True, True],
        [True, True, True]]))");
    SAYS((torch::ones({2, 3}) == x), R"(tensor([[False,  True, False],
        [False, False, False]]))");
    SAYS((1 / (x + 1)), R"(tensor([[1.0000, 0.5000, 0.3333],
        [0.2500, 0.2000, 0.1667]]))");
    SAYS((-x), R"(tensor([[-0., -1., -2.],
        [-3., -4., -5.]]))");
    SAYS((!mask), R"(tensor([[False,  True, False],
        [ True, False,  True]]))");
    SAYS(((x > 1) && mask), R"(tensor([[False, False,  True],
        [False,  True, False]]))");
    SAYS(((x > 4) || mask), R"(tensor([[ True, False,  True],
        [False,  True,  True]]))");
    SAYS((3 > x), R"(tensor([[ True,  True,  True],
        [False, False, False]]))");
    SAYS((1 == x), R"(tensor([[False,  True, False],
        [False, False, False]]))");
    SAYS((x % 2), R"(tensor([[0., 1., 0.],
        [1., 0., 1.]]))");
    SAYS((x * std::size_t{2} + std::int64_t{1} - 1L), R"(tensor([[ 0.,  2.,  4.],
        [ 6.,  8., 10.]]))");
    SAYS((torch::where(mask, 1.0, 0.0)), R"(tensor([[1., 0., 1.],
        [0., 1., 0.]]))");
    SAYS((torch::where(mask, x, 0)), R"(tensor([[0., 0., 2.],
        [0., 4., 0.]]))");
}

TEST_F(TensorCalls, Joining)
{
    SAYS((torch::cat({x, x}, 1)), R"(tensor([[0., 1., 2., 0., 1., 2.],
        [3., 4., 5., 3., 4., 5.]]))");
    SAYS((torch::stack({x[0], x[1]})), R"(tensor([[0., 1., 2.],
        [3., 4., 5.]]))");
    SAYS((torch::hstack({x, x})), R"(tensor([[0., 1., 2., 0., 1., 2.],
        [3., 4., 5., 3., 4., 5.]]))");
    SAYS((torch::vstack({x[0], x[1]})), R"(tensor([[0., 1., 2.],
        [3., 4., 5.]]))");
    SAYS((torch::dstack({x[0], x[1]})), R"(tensor([[[0., 3.],
         [1., 4.],
         [2., 5.]]]))");
    SAYS((torch::maximum(x, 2)), R"(tensor([[2., 2., 2.],
        [3., 4., 5.]]))");
    SAYS((torch::max(x, x.flip(1))), R"(tensor([[2., 1., 2.],
        [5., 4., 5.]]))");
    SAYS((torch::diag(torch::tensor({1.0, 2.0}))), R"(tensor([[1., 0.],
        [0., 2.]]))");
    SAYS((torch::diag(torch::tensor({1, 2}), 1)), R"(tensor([[0, 1, 0],
        [0, 0, 2],
        [0, 0, 0]]))");
    SAYS((torch::diag(torch::tensor({1, 2}), -1)), R"(tensor([[0, 0, 0],
        [1, 0, 0],
        [0, 2, 0]]))");
    SAYS((torch::eye(3).diagonal(1)), "tensor([0., 0.])");
    SAYS((torch::trace(torch::eye(3))), "tensor(3.)");
}

TEST_F(TensorCalls, ShapesAndTypes)
{
    SAYS((x.view({3, 2})), R"(tensor([[0., 1.],
        [2., 3.],
        [4., 5.]]))");
    SAYS((x.view_as(torch::zeros({3, 2}))), R"(tensor([[0., 1.],
        [2., 3.],
        [4., 5.]]))");
    SAYS((x[0].expand_as(x)), R"(tensor([[0., 1., 2.],
        [0., 1., 2.]]))");
    SAYS((x.reshape({-1})), "tensor([0., 1., 2., 3., 4., 5.])");
    SAYS((x.flatten()), "tensor([0., 1., 2., 3., 4., 5.])");
    SAYS((x.permute({1, 0})), R"(tensor([[0., 3.],
        [1., 4.],
        [2., 5.]]))");
    SAYS((x.unsqueeze(0).squeeze(0)), R"(tensor([[0., 1., 2.],
        [3., 4., 5.]]))");
    SAYS((x.to(torch::kLong)), R"(tensor([[0, 1, 2],
        [3, 4, 5]]))");
    SAYS((x.to(torch::kBool)), R"(tensor([[False,  True,  True],
        [ True,  True,  True]]))");
    SAYS((mask.to(torch::kFloat)), R"(tensor([[1., 0., 1.],
        [0., 1., 0.]]))");
    SAYS((mask.type_as(x)), R"(tensor([[1., 0., 1.],
        [0., 1., 0.]]))");
    SAYS((x.new_zeros({2})), "tensor([0., 0.])");
    SAYS((x.new_full({2}, 3)), "tensor([3., 3.])");
    SAYS((torch::isclose(x, x + 1e-9)), R"(tensor([[True, True, True],
        [True, True, True]]))");
    SAYS((torch::binary_cross_entropy(x / 10, torch::ones({2, 3}))), "tensor(17.7876)");
    SAYS((torch::binary_cross_entropy_with_logits(x, torch::ones({2, 3}))), "tensor(0.2011)");
    SAYS((x.add(x, 2)), R"(tensor([[ 0.,  3.,  6.],
        [ 9., 12., 15.]]))");
    SAYS((x.sub(1)), R"(tensor([[-1.,  0.,  1.],
        [ 2.,  3.,  4.]]))");
    SAYS((x.mul(2).div(4)), R"(tensor([[0.0000, 0.5000, 1.0000],
        [1.5000, 2.0000, 2.5000]]))");
}

TEST_F(TensorCalls, InPlace)
{
    SAYS((x.clone().add_(1)), R"(tensor([[1., 2., 3.],
        [4., 5., 6.]]))");
    SAYS((x.clone().add_(x, 0.5)), R"(tensor([[0.0000, 1.5000, 3.0000],
        [4.5000, 6.0000, 7.5000]]))");
    SAYS((x.clone().mul_(x).sub_(1).div_(2)), R"(tensor([[-0.5000,  0.0000,  1.5000],
        [ 4.0000,  7.5000, 12.0000]]))");
    SAYS((x.clone().copy_(torch::arange(3))), R"(tensor([[0., 1., 2.],
        [0., 1., 2.]]))");
    SAYS((x.clone().fill_(3)), R"(tensor([[3., 3., 3.],
        [3., 3., 3.]]))");
    SAYS((x.clone().zero_()), R"(tensor([[0., 0., 0.],
        [0., 0., 0.]]))");
    SAYS((x.clone().clamp_(1, 2)), R"(tensor([[1., 1., 2.],
        [2., 2., 2.]]))");
    SAYS((x.clone().relu_().exp_().sqrt_()), R"(tensor([[ 1.0000,  1.6487,  2.7183],
        [ 4.4817,  7.3891, 12.1825]]))");
    SAYS((x.clone().masked_fill_(mask, 7)), R"(tensor([[7., 1., 7.],
        [3., 7., 5.]]))");
    SAYS((torch::arange(4).mul_(2)), "tensor([0, 2, 4, 6], dtype=i32)");
}

} // namespace
