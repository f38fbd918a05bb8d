// REINFORCE (policy gradient): an agent learns to walk along a corridor to the end that is worth more.
#include <cstdio>
#include <random>

#include <reprise/reprise.hpp>

namespace rp = reprise;
namespace nn = reprise::nn;

// The agent starts in the middle. The reward is 0.2 at the left end, 1 at the right end and -0.02 per step. An episode
// has at most 20 steps.
constexpr int cells = 9, longest = 20, episodes = 24;

struct Transition {
    int cell, action;
    float reward_to_go;
};

int main()
{
    rp::manual_seed(1);
    nn::Sequential policy{nn::make<nn::Linear>(cells, 24), nn::make<nn::Tanh>(), nn::make<nn::Linear>(24, 2)};
    rp::optim::Adam optimizer(policy.parameters(), {.lr = 3e-2});
    const auto log_probabilities = [&](const rp::Tensor& cell) { // i32 [n] to [n, 2]
        return rp::log_softmax(policy(rp::one_hot(cell, cells).to(rp::f32)), 1);
    };
    rp::Dim n = rp::symbol("n"); // episodes end at different times, so the number of transitions varies
    auto choose = rp::record([&](rp::Tensor cell) { return rp::exp(log_probabilities(cell)); },
                             {rp::spec({n}, rp::i32)});
    auto learn = rp::record(
        [&](rp::Tensor cell, rp::Tensor action, rp::Tensor reward_to_go) {
            rp::Tensor chosen = rp::gather(log_probabilities(cell), 1, action.unsqueeze(1)).squeeze(1);
            rp::Tensor advantage = reward_to_go - reward_to_go.mean();
            rp::Tensor loss = -(chosen * advantage).mean();
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
        },
        {rp::spec({n}, rp::i32), rp::spec({n}, rp::i32), rp::spec({n})});

    std::mt19937 random(1);
    float mean = 0;
    for (int round = 1; round <= 20; ++round) {
        std::vector<int> at(episodes, cells / 2);
        std::vector<std::vector<Transition>> paths(episodes);
        mean = 0;
        for (int t = 0; t < longest; ++t) {
            const std::vector<float> chances =
                choose(rp::from_vector(at, {episodes})).to_vector<float>(); // [episodes, 2]
            for (std::size_t e = 0; e < episodes; ++e) {
                if (at[e] == 0 || at[e] == cells - 1) continue;
                const int action = std::bernoulli_distribution(chances[2 * e + 1])(random);
                paths[e].push_back({at[e], action, -0.02f});
                at[e] += action ? 1 : -1;
                if (at[e] == 0) paths[e].back().reward_to_go += 0.2f;
                if (at[e] == cells - 1) paths[e].back().reward_to_go += 1;
            }
        }
        std::vector<std::int32_t> cell, action;
        std::vector<float> reward_to_go;
        for (auto& path : paths) {
            for (std::size_t t = path.size() - 1; t-- > 0;) path[t].reward_to_go += path[t + 1].reward_to_go;
            mean += path[0].reward_to_go / episodes;
            for (const Transition& step : path) {
                cell.push_back(step.cell);
                action.push_back(step.action);
                reward_to_go.push_back(step.reward_to_go);
            }
        }
        const auto count = cell.size();
        learn(rp::from_vector(cell, {count}), rp::from_vector(action, {count}),
              rp::from_vector(reward_to_go));
        if (round % 5 == 0) std::printf("round %d: mean return %.3f of at most 0.92\n", round, mean);
    }
    const float bound = 0.85f;
    if (!(mean > bound)) {
        std::printf("The return is not above %.2f: it has not learnt.\n", bound);
        return 1;
    }
}
