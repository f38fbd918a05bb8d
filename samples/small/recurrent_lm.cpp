// Character-level language models, an LSTM and a GRU: they memorize a rhyme and generate it.
#include <cstdio>
#include <string>

#include <reprise/reprise.hpp>

namespace rp = reprise;
namespace nn = reprise::nn;

const std::string text = "a sailor went to sea sea sea to see what he could see see see. ";
constexpr int steps = 8, characters = 27 + 1; // a to z, space, full stop

int code(char c) { return c == ' ' ? 26 : c == '.' ? 27 : c - 'a'; }
char letter(int i) { return i == 26 ? ' ' : i == 27 ? '.' : static_cast<char>('a' + i); }

// Returns inputs and targets, [rows, steps] each: characters from random positions of the text, and the next ones.
std::pair<rp::Tensor, rp::Tensor> excerpts(int rows)
{
    std::vector<std::int32_t> codes;
    for (std::size_t i = 0; i < 3 * text.size(); ++i) codes.push_back(code(text[i % text.size()]));
    rp::Tensor all = rp::from_vector(codes, {codes.size()});
    rp::Tensor start = rp::randint(static_cast<int>(text.size()), {rows, 1});
    rp::Tensor positions = start + rp::arange(steps);
    return {rp::take(all, positions), rp::take(all, positions + rp::ones_like(positions))};
}

template <class Recurrent> struct Model : nn::Module {
    nn::Embedding embedding{characters, 16};
    Recurrent recurrent{16, 32, {.batch_first = true}};
    nn::Linear head{32, characters};
    Model()
    {
        register_module("embedding", embedding);
        register_module("recurrent", recurrent);
        register_module("head", head);
    }
    rp::Tensor forward(rp::Tensor x) override { return head(std::get<0>(recurrent(embedding(x)))); } // logits
};

template <class Recurrent> bool train(const char* name)
{
    Model<Recurrent> model;
    rp::optim::Adam optimizer(model.parameters(), {.lr = 1e-2});
    rp::Dim rows = rp::symbol("rows");
    auto step = rp::record( // the number of steps is fixed: a recurrent network is unrolled while recording
        [&](rp::Tensor x, rp::Tensor y) {
            rp::Tensor loss = rp::cross_entropy(model(x).reshape({-1, characters}), y.reshape({-1}));
            optimizer.zero_grad();
            loss.backward();
            rp::optim::clip_grad_norm_(optimizer.parameters(), 1.0);
            optimizer.step();
            return loss;
        },
        {rp::spec({rows, steps}, rp::i32), rp::spec({rows, steps}, rp::i32)});
    const float bound = 0.5f; // nats per character; guessing costs log(28) = 3.33
    float loss = 0;
    for (int i = 1; i <= 100; ++i) {
        auto [x, y] = excerpts(32);
        rp::Tensor now = step(x, y);
        if (i % 50 == 0)
            std::printf("%s, step %d: %.3f nats a character\n", name, i, loss = now.item<float>());
    }

    std::string written = text.substr(0, steps);
    auto next = rp::record([&](rp::Tensor x) { return rp::argmax(model(x).narrow(1, steps - 1, 1), 2); },
                           {rp::spec({1, steps}, rp::i32)});
    while (written.size() < text.size()) {
        std::vector<std::int32_t> last;
        for (char c : written.substr(written.size() - steps)) last.push_back(code(c));
        written += letter(next(rp::from_vector(last, {1, steps})).template item<std::int32_t>());
    }
    std::printf("%s wrote: %s\n", name, written.c_str());
    return loss < bound;
}

int main()
{
    if (train<nn::LSTM>("LSTM") && train<nn::GRU>("GRU")) return 0;
    std::puts("The loss is not below 0.5: it has not learnt.");
    return 1;
}
