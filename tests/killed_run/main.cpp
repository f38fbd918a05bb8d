// A training run that is killed at random times and goes on from its checkpoints ends with the bits of an undisturbed
// one.
//
//   killed_run <folder> <kills>   kills at least so many runs, and until one went on from a checkpoint; exits with 1 if
//                                 a run ends with other bits, or fails by itself
//   killed_run <folder>           one run in the folder, which goes on from the last checkpoint there
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>

#include <reprise/reprise.hpp>

namespace {

namespace fs = std::filesystem;
namespace rp = reprise;
namespace nn = reprise::nn;

constexpr std::int64_t epochs = 4, examples = 44, features = 6;

void run(const fs::path& folder)
{
    rp::manual_seed(5);
    const rp::Tensor x = rp::randn({examples, features}), y = rp::cast(rp::sum(x, {1}) > 0.0, rp::i32);
    x.eval(), y.eval();
    nn::Sequential net(nn::Linear(features, 16), nn::ReLU(), nn::Dropout(0.2), nn::Linear(16, 2));
    rp::optim::Adam optimizer(net->parameters(), {.lr = 0.01});
    rp::optim::StepLR schedule(optimizer, 5, 0.9);
    rp::GradScaler scaler({.init_scale = 4, .growth_interval = 3});
    rp::data::DataLoader loader(rp::data::TensorDataset(x, y),
                                {.batch_size = 8, .shuffle = true, .num_workers = 1});
    const rp::Dim batch = rp::symbol("batch");
    const rp::Program train_step = rp::record(
        [&](const rp::Tensor& in, const rp::Tensor& target) {
            const rp::Tensor loss = rp::cross_entropy((*net)(in), target);
            optimizer.zero_grad();
            scaler.scale(loss).backward();
            scaler.step(optimizer);
            scaler.update();
            return loss.detach();
        },
        {rp::spec({batch, features}), rp::spec({batch}, rp::i32)});

    std::int64_t step = 0;
    double sum = 0;
    std::vector<double> of_epochs; // mean losses
    const std::vector<rp::train::Part> parts{
        {"net", *net},      {"optimizer", optimizer}, {"schedule", schedule}, {"scaler", scaler},
        {"loader", loader}, {"step", step},           {"sum", sum},           {"epochs", of_epochs}};
    rp::train::Checkpoints checkpoints(folder / "checkpoints");
    if (checkpoints.load_last(parts)) std::ofstream(folder / "resumed", std::ios::app) << step << '\n';
    while (loader.next_epoch() < epochs) {
        for (const auto& [in, target] : loader) {
            const double loss = train_step(in, target).item<float>();
            schedule.step();
            sum += loss;
            checkpoints.save(++step, parts, loss);
        }
        of_epochs.push_back(sum / static_cast<double>(loader.size()));
        sum = 0;
    }
    rp::train::save_checkpoint(folder / "final.safetensors", parts);
}

pid_t start(const char* program, const fs::path& folder)
{
    const pid_t child = fork();
    if (child < 0) {
        std::perror("fork");
        std::exit(1);
    }
    if (child == 0) {
        execl(program, program, folder.c_str(), nullptr);
        std::_Exit(127);
    }
    return child;
}

// Returns whether the process ended by itself, and not by SIGKILL.  Exits if it failed.
bool wait_for(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!killed && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        std::printf("A run failed with the status %d.\n", status);
        std::exit(1);
    }
    return !killed;
}

std::string bytes_of(const fs::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

bool has_checkpoint(const fs::path& folder)
{
    std::error_code none; // the folder is not there yet
    for (const auto& entry : fs::directory_iterator(folder / "checkpoints", none))
        if (entry.path().extension() == ".safetensors") return true;
    return false;
}

void wait_for_checkpoint(const fs::path& folder)
{
    for (int i = 0; i < 100'000 && !has_checkpoint(folder);
         ++i) // it has failed if there is none after minutes
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

int kill_runs(const char* program, const fs::path& folder, int kills)
{
    using Seconds = std::chrono::duration<double>;
    fs::remove_all(folder);
    fs::create_directories(folder / "straight");
    const auto from = std::chrono::steady_clock::now();
    const auto passed = [&] { return Seconds(std::chrono::steady_clock::now() - from); };
    const pid_t undisturbed = start(program, folder / "straight");
    wait_for_checkpoint(folder / "straight");
    const Seconds first = passed(); // until the first checkpoint: drivers compile before it
    wait_for(undisturbed);
    const Seconds whole = passed();
    const std::string wanted = bytes_of(folder / "straight/final.safetensors");
    const unsigned seed = std::random_device{}();
    std::printf("Kill times of seed %u.\n", seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> share(0, 1);
    int ended = 0, killed = 0;
    std::size_t resumed = 0; // starts that found a checkpoint
    while (killed < kills || ended == 0 || resumed == 0) {
        const bool resumes = has_checkpoint(folder / "killed");
        const pid_t child = start(program, folder / "killed");
        if (killed < kills || !resumes) {
            Seconds longest = whole;
            if (killed >= kills) { // a kill after a checkpoint, however slow this start is
                wait_for_checkpoint(folder / "killed");
                longest -= first;
            }
            std::this_thread::sleep_for(longest * share(random));
            kill(child, SIGKILL);
        }
        if (!wait_for(child)) {
            ++killed;
            continue;
        }
        ++ended;
        const std::string starts = bytes_of(folder / "killed/resumed");
        resumed += static_cast<std::size_t>(std::count(starts.begin(), starts.end(), '\n'));
        if (wanted.empty() || bytes_of(folder / "killed/final.safetensors") != wanted) {
            std::printf("A run that was killed has other bits at its end: see %s.\n", folder.c_str());
            return 1;
        }
        fs::remove_all(folder / "killed");
    }
    std::printf(
        "%d kills of runs of %.2f s; %zu starts from a checkpoint; %d runs went on to their end, with "
        "the same bits.\n",
        killed, whole.count(), resumed, ended);
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    try {
        if (argc == 3) return kill_runs(argv[0], argv[1], std::atoi(argv[2]));
        if (argc != 2) return 2;
        fs::create_directories(argv[1]);
        run(argv[1]);
        return 0;
    } catch (const std::exception& e) {
        std::printf("%s\n", e.what());
        return 1;
    }
}
