"""Conan 2 recipe.

    conan create packaging/conan                     builds the package, with its dependencies from ConanCenter
    conan export-pkg packaging/conan -o "reprise/*:system_libraries=True"    packages the build tree build/release

With `system_libraries` the headers and libraries are those of the system (scripts/setup build), and no other recipe is
needed: scripts/check_package tests this.  The other way needs ConanCenter and has not been run."""
import pathlib
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy, save

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = ("CMakeLists.txt", "LICENSE", "cmake/*", "cuda/*", "include/*", "shaders/*", "src/*", "tools/*")
VARIABLES = "share/reprise/variables.cmake" # those of repriseConfig.cmake
# Archives of Debian's shaderc, in the order of the linker (cmake/FindShaderc.cmake).
SYSTEM_SHADERC = ("shaderc_combined", "glslang", "MachineIndependent", "OSDependent", "OGLCompiler", "GenericCodeGen", "SPIRV",
                  "SPIRV-Tools-opt", "SPIRV-Tools")


class Reprise(ConanFile):
    name = "reprise"
    description = "Trains neural networks on any Vulkan GPU"
    topics = ("vulkan", "machine-learning", "training")
    license = "Apache-2.0"
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"fuser": [True, False], "system_libraries": [True, False]}
    default_options = {"fuser": True, "system_libraries": False}

    def set_version(self):
        text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        self.version = re.search(r"project\(reprise VERSION ([0-9.]+)", text)[1]

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, str(ROOT), self.export_sources_folder)

    def layout(self):
        # export-pkg reads the build tree of the preset `release`; in Conan's cache the sources are beside it.
        self.folders.root = "../.." if (pathlib.Path(self.recipe_folder).resolve() / "../../CMakePresets.json").exists() else None
        self.folders.build = "build/release"
        self.folders.generators = "build/release/generators"

    def requirements(self):
        if self.options.system_libraries:
            return
        self.requires("zlib/[>=1.2.11 <2]")
        for headers in ("nlohmann_json/[>=3.10 <4]", "boost/[>=1.70]", "stb/cci.20230920", "vulkan-headers/[>=1.3.239]",
                        "volk/[>=1.3.239]"):
            self.requires(headers, visible=False)
        if self.options.fuser:
            self.requires("shaderc/[>=2023.2]")

    def build_requirements(self):
        if not self.options.system_libraries:
            self.tool_requires("cmake/[>=3.25]")
            self.tool_requires("shaderc/[>=2023.2]") # glslc

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False # the sources are not for Conan alone
        toolchain.cache_variables["REPRISE_FUSER"] = bool(self.options.fuser)
        toolchain.cache_variables["REPRISE_ONNX"] = False
        toolchain.cache_variables["REPRISE_MPI"] = False
        toolchain.cache_variables["REPRISE_CUDA"] = False # the package may not depend on the machine's nvcc
        toolchain.cache_variables["REPRISE_SAMPLES"] = False
        toolchain.cache_variables["REPRISE_TOOLS"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        save(self, str(pathlib.Path(self.package_folder) / VARIABLES),
             'set(reprise_SHADER_DIR "${CMAKE_CURRENT_LIST_DIR}/shaders")\n')

    def package_info(self):
        core = self.cpp_info.components["reprise"]
        core.set_property("cmake_target_name", "reprise::reprise")
        core.libs = ["reprise"]
        self.cpp_info.set_property("cmake_build_modules", [VARIABLES])
        if self.settings.os == "Linux":
            core.system_libs = ["dl", "pthread"]
        if self.options.system_libraries:
            core.system_libs.append("z")
        else:
            core.requires = ["zlib::zlib"]
        if not self.options.fuser:
            return
        fuser = self.cpp_info.components["fuser"]
        fuser.set_property("cmake_target_name", "reprise::fuser")
        fuser.libs = ["reprise_fuser"]
        fuser.requires = ["reprise"]
        keep = "-Wl,-u,_reprise_link_fuser" if self.settings.os == "Macos" else "-Wl,-u,reprise_link_fuser"
        if self.settings.get_safe("compiler") == "msvc":
            keep = "/INCLUDE:reprise_link_fuser"
        fuser.exelinkflags = fuser.sharedlinkflags = [keep]
        if self.options.system_libraries:
            fuser.system_libs = list(SYSTEM_SHADERC)
        else:
            fuser.requires.append("shaderc::shaderc")
