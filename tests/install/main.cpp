// Runs an op that nothing else in this program refers to, and its gradient, on the default device.
#include <cmath>
#include <cstdio>
#include <vector>

#include <reprise/reprise.hpp>
#ifdef WITH_MPI
#include <reprise/distributed/mpi.hpp>
#endif
#ifdef WITH_ONNX
#include <reprise/onnx.hpp>
#endif
#ifdef WITH_VULKAN
#include <vulkan/vulkan.h>
#endif

namespace rp = reprise;

// These outlive main(), and what drivers keep in static storage.
static rp::Tensor kept;
static rp::Program program;

int main()
{
    try {
        const std::vector<float> y = {1.0F, -2.0F, 0.5F}, x = {3.0F, 0.25F, -4.0F};
        rp::Tensor a = rp::from_vector(y);
        a.requires_grad_();
        const rp::Tensor b = rp::from_vector(x);
        const rp::Tensor angle = rp::atan2(a, b);
        angle.sum().backward();
        const std::vector<float> angles = angle.to_vector<float>(), gradient = a.grad().to_vector<float>();
        bool right = angles.size() == y.size() && gradient.size() == y.size();
        for (std::size_t i = 0; right && i < y.size(); ++i) {
            const double expected = std::atan2(double{y[i]}, double{x[i]});
            const double slope = x[i] / (double{x[i]} * x[i] + double{y[i]} * y[i]);
            right = std::abs(angles[i] - expected) < 1e-6 && std::abs(gradient[i] - slope) < 1e-6;
        }
#ifdef WITH_VULKAN
        std::uint32_t version = 0;
        right = right && vkEnumerateInstanceVersion(&version) == VK_SUCCESS && version >= VK_API_VERSION_1_1;
#endif
        std::printf("atan2 on %s: %s\n", rp::default_device().description().c_str(),
                    right ? "right" : "wrong");
        program = rp::record([](rp::Tensor t) { return t * 2; }, {rp::spec({rp::symbol("n")})});
        kept = program(b);
        kept.eval(); // not waited for
#ifdef WITH_FUSER
        if (rp::default_device().name().starts_with("vulkan")) {
            const auto f = [](rp::Tensor t) { return rp::tanh(t * 2); };
            const rp::Spec n = rp::spec({rp::symbol("n")});
            if (rp::record(f, {n}).launches() >= rp::record(f, {n}, {.fuse = false}).launches()) {
                std::fprintf(stderr, "Nothing is fused: the program was not linked with the fuser\n");
                return 1;
            }
        }
#endif
#ifdef WITH_MPI
        if (rp::distributed::mpi_world().size() != 1) { // no launcher has started it
            std::fprintf(stderr, "The world has other processes\n");
            return 1;
        }
#endif
#ifdef WITH_ONNX
        if (rp::onnx::operators().empty()) {
            std::fprintf(stderr, "The program was not linked with the importer of ONNX models\n");
            return 1;
        }
#endif
        return right ? 0 : 1;
    } catch (const rp::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
