#!/usr/bin/env python3
"""Tests what configuring does where an optional dependency is missing, and where something of its name does not work.

    tests/configure/check.py

Configures the project beside this file, which calls the functions of cmake/RepriseParts.cmake and RepriseCuda.cmake, with
nothing but a folder of imitations to find.  CMAKE names the cmake to run, GENERATOR and MAKE_PROGRAM what it writes for."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CMAKE = os.environ.get("CMAKE", "cmake")
GENERATOR = os.environ.get("GENERATOR", "Ninja")
MAKE = os.environ.get("MAKE_PROGRAM") or shutil.which("ninja")
# Finds nothing on the system; the compiler and its own folders are named below.
ISOLATED = ["-D", "CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF", "-D", "CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF",
            "-D", "CMAKE_FIND_USE_CMAKE_ENVIRONMENT_PATH=OFF", "-D", "CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF",
            "-D", "CMAKE_IGNORE_PATH=/usr/local/cuda/bin"]
KNOWS_ALL = "for a; do case $a in *.spv) : >\"$a\";; esac; done; echo glslc"  # a glslc that accepts each shader
NVCC = """case $1 in --version) echo 'Cuda compilation tools, release {release}, V1';; *) exit {status};; esac"""


def program(text):
    return "#!/bin/sh\n" + text + "\n"


# Imitations of packages, as dictionaries of files.  With the files of BROKEN each part is found, and none works; with those of
# WORKING all work.
GLSLC = {"bin/glslc": program(KNOWS_ALL)}
EMPTY_ARCHIVE = "!<arch>\n"
BROKEN = {
    "bin/ccache": program("exit 1"),
    "bin/nvcc": program("exit 1"),
    "bin/spirv-val": program("exit 127"),
    "include/shaderc/shaderc.hpp": "namespace shaderc { struct Compiler { Compiler(); bool IsValid() const; }; }",
    "lib/libshaderc_combined.a": EMPTY_ARCHIVE,
    "bin/mpicxx": program("echo g++ -I{prefix}/include -L{prefix}/lib -lmpi"),
    "include/mpi.h": "#error \"This is not MPI\"",
    "lib/libmpi.a": EMPTY_ARCHIVE,
    "bin/protoc": program("exit 1"),
    "include/google/protobuf/service.h": "",
    "include/google/protobuf/stubs/common.h": "#define GOOGLE_PROTOBUF_VERSION 3021012",
    "lib/libprotobuf.a": EMPTY_ARCHIVE,
    "lib/libprotobuf-lite.a": EMPTY_ARCHIVE,
    "include/onnx/onnx-ml.proto": "package onnx;\n",
    "lib/cmake/glfw3/glfw3Config.cmake": "add_library(glfw INTERFACE IMPORTED)\n",
    "lib/cmake/glfw3/glfw3ConfigVersion.cmake": "set(PACKAGE_VERSION 3.4)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n",
    "include/imgui/backends/imgui_impl_vulkan.h": "",
    "lib/libimgui.a": EMPTY_ARCHIVE,
    "include/vulkan/vulkan.h": "",
    "include/vulkan/vulkan_core.h": "",
    "lib/libvulkan.so": EMPTY_ARCHIVE,
} | GLSLC
WRITES_KERNEL = """case $1 in --version) echo 'Cuda compilation tools, release 13.0, V1';; *) for a; do o=$a; done; : >"$o";; esac"""
WRITES_MESSAGE = """for a; do case $a in --cpp_out=*) d=${a#*=};; esac; done
cat >"$d/message.pb.cc" <<'END'
#include <string>
struct M { void set_a(int) {} std::string SerializeAsString() const { return "a"; } };
END"""
WORKING = BROKEN | {
    "bin/ccache": program('exec "$@"'),
    "bin/nvcc": program(WRITES_KERNEL),
    "include/cuda.h": "",
    "include/cublasLt.h": "",
    "bin/spirv-val": program("exit 0"),
    "include/shaderc/shaderc.hpp": "namespace shaderc { struct Compiler { bool IsValid() const { return true; } }; }",
    "include/mpi.h": """#define MPI_SUCCESS 0
#define MPI_VERSION 3
#define MPI_SUBVERSION 1
inline int MPI_Init(int*, char***) { return 0; }
inline int MPI_Finalize() { return 0; }""",
    "bin/protoc": program(WRITES_MESSAGE),
    "include/GLFW/glfw3.h": "inline int glfwInit() { return 1; }\ninline int vkEnumerateInstanceVersion(void*) { return 0; }",
    "include/imgui/imgui.h": "namespace ImGui { inline void CreateContext() {} }",
    "include/imgui/backends/imgui_impl_glfw.h": "inline void ImGui_ImplGlfw_Shutdown() {}",
    "include/imgui/backends/imgui_impl_vulkan.h": "inline void ImGui_ImplVulkan_Shutdown() {}",
    "lib/libvulkan.so": "/* GNU ld script */ GROUP(libimgui.a)",  # an empty library that can be linked
}
TOOLKIT = {"include/cuda.h": "", "include/cublasLt.h": ""} | GLSLC


class Configured:
    """A configured tree: its rows, its exit status and what it printed.  If `before` has files, the same tree was configured
    with these before."""

    def __init__(self, files, *options, before=None):
        with tempfile.TemporaryDirectory() as folder:
            prefix, build = pathlib.Path(folder, "prefix"), pathlib.Path(folder, "build")
            if before is not None:
                self.configure(prefix, build, before, options)
                shutil.rmtree(prefix)
            self.configure(prefix, build, files, options)

    def configure(self, prefix, build, files, options):
        for name, text in files.items():
            path = prefix / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{prefix}", str(prefix)))
            path.chmod(0o755)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("CUDA_", "MPI", "VULKAN_SDK", "OMPI_"))}
        compiler = [f"-DCMAKE_{language}_COMPILER={shutil.which(os.environ.get(name, default))}"
                    for language, name, default in (("C", "CC", "cc"), ("CXX", "CXX", "c++"))]
        done = subprocess.run(
            [CMAKE, "-G", GENERATOR, "-S", HERE, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", "-D",
             f"CMAKE_MAKE_PROGRAM={MAKE}", *compiler, *ISOLATED,
             *(option.replace("{prefix}", str(prefix)) for option in options)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, check=False)
        self.status, self.printed = done.returncode, done.stdout
        self.output = done.stdout.replace("\n  ", " ")  # CMake wraps lines
        lines = [line.split("|") for line in done.stdout.splitlines() if line.startswith("ROW|")]
        self.rows = {row[1].split(" (")[0]: row[2:] for row in lines}


class Case(unittest.TestCase):
    def left_out(self, configured, name, reason):
        self.assertEqual(configured.status, 0, configured.output)
        built, why, *_ = configured.rows[name]
        self.assertEqual(built, "NO", f"{name}: {configured.output}")
        self.assertIn(reason, why)


class Parts(Case):
    NAMES = {"compiler cache", "validation of kernels", "CUDA device", "reprise::fuser", "reprise::mpi", "reprise::onnx",
             "sample desktop"}

    def test_that_are_missing_are_left_out_with_what_installs_them(self):
        c = Configured(GLSLC)
        self.assertEqual(c.status, 0, c.output)
        self.assertEqual(self.NAMES, set(c.rows) - {"cooperative matrices"})
        for name in self.NAMES:
            self.left_out(c, name, "not found")
            self.assertRegex(c.rows[name][-1], "^scripts/setup [a-z]+", name)

    def test_that_do_not_work_are_left_out(self):
        c = Configured(BROKEN)
        for name, reason in {"compiler cache": "does not compile", "validation of kernels": "does not start",
                             "CUDA device": "does not start", "reprise::fuser": "does not link",
                             "reprise::mpi": "does not work", "reprise::onnx": "does not compile a message",
                             "sample desktop": "does not link"}.items():
            self.left_out(c, name, reason)

    def test_that_work_are_built(self):
        c = Configured(WORKING)
        self.assertEqual(c.status, 0, c.output)
        for name in self.NAMES:
            self.assertEqual(c.rows[name][0], "YES", f"{name}: {c.rows[name]}, {c.output}")

    def test_that_were_removed_since_are_left_out(self):
        c = Configured(GLSLC, before=WORKING)
        for name in self.NAMES:
            self.left_out(c, name, "not found")

    def test_that_were_installed_since_are_built(self):
        for before in (GLSLC, BROKEN):
            c = Configured(WORKING, before=before)
            for name in self.NAMES:
                self.assertEqual(c.rows[name][0], "YES", f"{name}: {c.rows[name]}, {c.output}")

    def test_are_left_out_where_their_path_is_empty(self):
        c = Configured(WORKING, "-DREPRISE_CCACHE=", "-DREPRISE_NVCC=")
        for name in ("compiler cache", "CUDA device"):
            self.left_out(c, name, "not found")

    def test_are_left_out_where_their_option_is_off(self):
        c = Configured(GLSLC, "-DREPRISE_MPI=OFF", "-DREPRISE_ONNX=OFF", "-DREPRISE_FUSER=OFF", "-DREPRISE_CUDA=OFF")
        for name in ("reprise::mpi", "reprise::onnx", "reprise::fuser", "CUDA device"):
            self.left_out(c, name, "is off")

    def test_table_is_the_last_of_what_is_printed(self):
        printed = [line for line in Configured(GLSLC).printed.splitlines() if line and not line.startswith("-- ")]
        first = printed.index("Reprise 1.0, besides the library:")
        self.assertEqual(len(printed) - first - 1, len(self.NAMES) + 1)
        project = (HERE / "../../CMakeLists.txt").read_text().splitlines()
        self.assertEqual(project[-1], "reprise_print_parts()")


class Cuda(Case):
    def test_of_an_old_version_is_left_out(self):
        self.left_out(Configured(TOOLKIT | {"bin/nvcc": program(NVCC.format(release="12.8", status=0))}), "CUDA device",
                      "is of CUDA 12, and 13 is needed")

    def test_without_headers_is_left_out(self):
        self.left_out(Configured(GLSLC | {"bin/nvcc": program(NVCC.format(release="13.0", status=0))}), "CUDA device",
                      "has no cuda.h")

    def test_that_does_not_compile_is_left_out(self):
        self.left_out(Configured(TOOLKIT | {"bin/nvcc": program(NVCC.format(release="13.0", status=1))}), "CUDA device",
                      "does not compile a kernel")

    def test_libraries_that_were_asked_for_must_be_there_and_link(self):
        files = TOOLKIT | {"bin/nvcc": program(NVCC.format(release="13.0", status=0))}
        c = Configured(files, "-DREPRISE_CUBLASLT_STATIC=ON")
        self.assertNotEqual(c.status, 0)
        self.assertIn("needs cublasLt_static", c.output)
        archives = {f"lib64/lib{name}.a": EMPTY_ARCHIVE for name in ("cublasLt_static", "culibos", "cudart_static")}
        c = Configured(files | archives, "-DREPRISE_CUBLASLT_STATIC=ON")
        self.assertNotEqual(c.status, 0)
        self.assertIn("does not link", c.output)


class Others(Case):
    def test_protobuf_whose_messages_do_not_compile_is_left_out(self):
        writes = "for a; do case $a in --cpp_out=*) d=${a#*=};; esac; done; echo '#error' >\"$d/message.pb.cc\""
        self.left_out(Configured(BROKEN | {"bin/protoc": program(writes)}), "reprise::onnx", "does not link")

    def test_onnx_without_its_proto_is_left_out(self):
        files = {name: text for name, text in BROKEN.items() if not name.startswith("include/onnx")}
        self.left_out(Configured(files), "reprise::onnx", "onnx-ml.proto was not found")

    def test_window_without_dear_imgui_is_left_out(self):
        files = {name: text for name, text in BROKEN.items() if "imgui" not in name}
        self.left_out(Configured(files), "sample desktop", "not found: Dear ImGui")

    def test_glslc_without_the_extension_compiles_no_matrices(self):
        refuses = "case $1 in --version) echo glslc;; *) exit 1;; esac"
        c = Configured({"bin/glslc": program(refuses)})
        self.assertEqual(c.rows["cooperative matrices"][0], "OFF", c.output)
        self.assertEqual(Configured(GLSLC).rows["cooperative matrices"][0], "ON")

    def test_glslc_that_was_asked_for_must_work(self):
        c = Configured(GLSLC | {"bin/other": program("exit 1")}, "-DREPRISE_MATRIX_GLSLC={prefix}/bin/other")
        self.assertNotEqual(c.status, 0)
        self.assertIn("--version failed", c.output)
        c = Configured(GLSLC, "-DREPRISE_MATRIX_GLSLC={prefix}/bin/none")
        self.assertNotEqual(c.status, 0)
        self.assertIn("which does not exist", c.output)


if __name__ == "__main__":
    unittest.main()
