// Kernels that are made at run time are compiled once, kept on disk, and never taken from a damaged file.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <reprise/error.hpp>
#include <reprise/log.hpp>
#include <reprise/program.hpp>

#include "io/scratch.hpp"
#include "kernels/code_cache.hpp"

namespace reprise {
namespace {

namespace fs = std::filesystem;

const std::string text =
    "#version 460\n#define OPERANDS 1\n#define FLOATS 0\n#include \"common/abi.glsl\"\n"
    "layout(local_size_x = 8) in;\nvoid main() { Words(record.operand[0].address).v[0] = 7u; }\n";

class CodeCache : public testing::Test {
protected:
    CodeCache()
    {
        kernels::forget_codes();
        set_cache_directory(scratch / "cache");
    }
    ~CodeCache() override { set_cache_directory({}); }
    // Compilations that asking for the code takes.
    std::uint64_t compilations()
    {
        const std::uint64_t before = kernels::shader_compilations();
        words = kernels::code_of(text, capabilities).words;
        return kernels::shader_compilations() - before;
    }
    fs::path file() const
    {
        for (const auto& entry : fs::directory_iterator(scratch / "cache")) return entry.path();
        return {};
    }
    Scratch scratch;
    device::Capabilities capabilities{.name = "a device", .driver = "a driver 1.0"};
    std::shared_ptr<const kernels::SpirV> words;
};

TEST_F(CodeCache, CompilesOnceInAProcess)
{
    set_cache_directory({});
    EXPECT_EQ(compilations(), 1u);
    const auto first = words;
    EXPECT_EQ(compilations(), 0u);
    EXPECT_EQ(words, first);
    EXPECT_FALSE(fs::exists(scratch / "cache"));
}

TEST_F(CodeCache, TheDiskServesTheNextProcess)
{
    EXPECT_EQ(compilations(), 1u);
    const kernels::SpirV first = *words;
    kernels::forget_codes();
    EXPECT_EQ(compilations(), 0u);
    EXPECT_EQ(*words, first);
}

TEST_F(CodeCache, AnotherDriverIsAnotherFile)
{
    EXPECT_EQ(compilations(), 1u);
    kernels::forget_codes();
    capabilities.driver = "a driver 1.1";
    EXPECT_EQ(compilations(), 1u);
}

TEST_F(CodeCache, ADamagedFileIsCompiledAgain)
{
    EXPECT_EQ(compilations(), 1u);
    const kernels::SpirV first = *words;
    const auto size = fs::file_size(file());
    for (const auto& damage : {0, 1, 2}) {
        kernels::forget_codes();
        if (damage == 0) fs::resize_file(file(), size - 4);
        if (damage == 1) fs::resize_file(file(), 10);
        if (damage == 2) {
            std::fstream f(file(), std::ios::binary | std::ios::in | std::ios::out);
            f.seekp(static_cast<std::streamoff>(size) - 9);
            f.put('!');
        }
        EXPECT_EQ(compilations(), 1u) << damage;
        EXPECT_EQ(*words, first);
    }
}

TEST_F(CodeCache, WhatStandsInThePlaceOfAFileIsNoError)
{
    EXPECT_EQ(compilations(), 1u);
    const kernels::SpirV first = *words;
    const fs::path entry = file();
    fs::remove(entry);
    fs::create_directory(entry);
    for (int i = 0; i < 2; ++i) {
        kernels::forget_codes();
        EXPECT_EQ(compilations(), 1u);
        EXPECT_EQ(*words, first);
    }
    EXPECT_TRUE(fs::is_directory(entry));
}

TEST_F(CodeCache, LogsWhatCostsTime)
{
    std::vector<std::string> warnings;
    set_log([&](LogLevel, const std::string& message) { warnings.push_back(message); }, LogLevel::warning);
    compilations();
    EXPECT_TRUE(warnings.empty());
    kernels::forget_codes();
    fs::resize_file(file(), 10);
    compilations();
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("damaged"), std::string::npos) << warnings[0];
    kernels::forget_codes();
    std::ofstream(scratch / "file") << "no folder";
    set_cache_directory(scratch / "file");
    EXPECT_EQ(compilations(), 1u);
    kernels::forget_codes();
    EXPECT_EQ(compilations(), 1u); // and warns no more
    set_log({});
    ASSERT_EQ(warnings.size(), 2u);
    EXPECT_NE(warnings[1].find("cannot be written"), std::string::npos) << warnings[1];
}

TEST_F(CodeCache, AFolderThatCannotBeWrittenIsNoError)
{
    std::ofstream(scratch / "file") << "in the way";
    set_cache_directory(scratch / "file" / "cache");
    EXPECT_EQ(compilations(), 1u);
}

TEST_F(CodeCache, WhatDoesNotCompileSaysWhy)
{
    try {
        kernels::code_of("#version 460\nvoid main() { nonsense; }\n", capabilities);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::internal);
        EXPECT_NE(std::string(e.what()).find("nonsense"), std::string::npos);
    }
}

TEST_F(CodeCache, CodeThatDriversMayChangeIsRefused)
{
    try {
        kernels::code_of(
            "#version 460\n#define OPERANDS 1\n#define FLOATS 2\n#include \"common/abi.glsl\"\n"
            "void main() { Floats(record.operand[0].address).v[0] = record.f[0] * record.f[1]; }\n",
            capabilities);
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("NoContraction"), std::string::npos);
    }
}

} // namespace
} // namespace reprise
