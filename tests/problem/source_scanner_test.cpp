#include "problem/source_scanner.hpp"

#include "problem_fixture.hpp"

namespace wattune {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> identifiers(std::string_view text) {
  const SourceTokens tokens = scan_source(text);
  return {tokens.identifiers.begin(), tokens.identifiers.end()};
}

TEST(SourceScannerTest, identifiers_in_comments_and_literals_do_not_count) {
  EXPECT_THAT(identifiers("a // b\n/* c \n d */ \"e \\\" f\" 'g' h_1"), ElementsAre("a", "h_1"));
}

TEST(SourceScannerTest, unterminated_comments_and_literals_end_with_the_file_or_line) {
  EXPECT_THAT(identifiers("a /* b"), ElementsAre("a"));
  EXPECT_THAT(identifiers("\"a\nb"), ElementsAre("b"));
  EXPECT_THAT(identifiers("#error don't\nb"), ElementsAre("b", "don", "error"));
  EXPECT_THAT(identifiers("'\\"), IsEmpty());
  EXPECT_THAT(identifiers("//"), IsEmpty());
}

TEST(SourceScannerTest, numbers_hold_no_identifiers) {
  EXPECT_THAT(identifiers("1.0f 0x1FUL 1'000'000 1e10 x 7'"), ElementsAre("x"));
  EXPECT_THAT(identifiers("int n = 1'000; TILE 'c'"), ElementsAre("TILE", "int", "n"));
}

TEST(SourceScannerTest, raw_strings_end_at_their_own_delimiter) {
  EXPECT_THAT(identifiers("R\"x(a )\" b )x\" c uR\"(d\n)\" e"), ElementsAre("c", "e"));
  EXPECT_THAT(identifiers("LABELR \"a\" b"), ElementsAre("LABELR", "b"));
}

TEST(SourceScannerTest, continued_lines_are_joined) {
  EXPECT_THAT(identifiers("// a \\\nb\nc\\\r\nd"), ElementsAre("cd"));
}

TEST(SourceScannerTest, macros_and_pragmas_use_their_names) {
  EXPECT_THAT(identifiers("#define A (B + 1)\n#pragma unroll C\n#if D\n"), testing::IsSupersetOf({"A", "B", "C", "D"}));
}

TEST(SourceScannerTest, includes_are_found_where_they_are_directives) {
  const SourceTokens tokens = scan_source(
      "#include \"a.h\"\n  #  include <b/c.h> // x\n#/**/include/**/\"d.h\"\n// #include \"no1.h\"\n/*\n#include "
      "\"no2.h\"\n*/\n"
      "x #include \"no3.h\"\n\"\n#include \\\n\"e.h\"\n#include MACRO_H\n#include \"broken\n#include_next <f>\n");
  EXPECT_THAT(tokens.includes, ElementsAre("a.h", "b/c.h", "d.h", "e.h"));
  EXPECT_THAT(tokens.computed_includes, ElementsAre("MACRO_H"));
}

TEST(SourceScannerTest, token_pasting_is_seen_outside_of_comments_and_strings) {
  EXPECT_TRUE(scan_source("#define F(a) a ## _x").pastes);
  EXPECT_TRUE(scan_source("#define F(a) \\\n##a").pastes);
  EXPECT_FALSE(scan_source("// ##\n\"##\" #define S(a) #a").pastes);
}

TEST(SourceScannerTest, any_bytes_are_accepted) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_NO_THROW(scan_source(all + all));
  EXPECT_NO_THROW(scan_source("#"));
  EXPECT_NO_THROW(scan_source("#include"));
  EXPECT_NO_THROW(scan_source("#include \""));
  EXPECT_NO_THROW(scan_source("R\""));
}

class ScanKernelTest : public ProblemTest {
 protected:
  KernelSource scan(const std::string& text, std::vector<std::string> options = {}) {
    KernelSource source;
    source.file = write("src/kernel.cu", text);
    source.text = text;
    source.options = std::move(options);
    warnings.clear();
    scan_kernel(source, folder, warnings);
    return source;
  }
  std::vector<std::string> names(const KernelSource& source) const {
    std::vector<std::string> result;
    for (const auto& [file, hash] : source.includes) result.push_back(file.lexically_relative(folder).string());
    return result;
  }
  std::vector<std::string> warnings;
};

TEST_F(ScanKernelTest, includes_are_followed_from_the_including_file_and_along_the_options) {
  write("src/a.h", "#include \"sub/b.h\"\n in_a");
  write("src/sub/b.h", "#include \"c.h\"\n");
  write("src/sub/c.h", "in_c");
  write("inc/d.h", "in_d");
  write("src/inc2/e.h", "in_e");
  const KernelSource source = scan("#include \"a.h\"\n#include <d.h>\n#include <e.h>\n#include <cuda_fp16.h>\n",
                                   {"-I", "inc", "-Iinc2", "-O3"});
  EXPECT_THAT(names(source), ElementsAre("src/a.h", "inc/d.h", "src/inc2/e.h", "src/sub/b.h", "src/sub/c.h"));
  EXPECT_THAT(source.identifiers, testing::IsSupersetOf({"in_a", "in_c", "in_d", "in_e"}));
  EXPECT_THAT(source.options, ElementsAre("-O3"));
  EXPECT_THAT(source.include_paths, ElementsAre(folder / "src", folder / "inc", folder / "src/inc2"));
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(ScanKernelTest, circles_of_includes_end) {
  write("src/a.h", "#include \"b.h\"\n#include \"kernel.cu\"");
  write("src/b.h", "#include \"a.h\"\n#include \"./b.h\"");
  std::filesystem::create_directory_symlink(".", folder / "src/self");
  write("src/c.h", "#include \"self/c.h\"");
  EXPECT_THAT(names(scan("#include \"a.h\"\n#include \"c.h\"")), ElementsAre("src/a.h", "src/c.h", "src/b.h"));
}

TEST_F(ScanKernelTest, a_toolkit_named_by_an_option_is_not_followed) {
  write("toolkit/cuda_runtime.h", "a ## b");
  const KernelSource source = scan("#include <cuda_runtime.h>", {"-Itoolkit"});
  EXPECT_THAT(source.includes, IsEmpty());
  EXPECT_FALSE(source.pastes);
  EXPECT_THAT(source.include_paths, Contains(folder / "toolkit"));
}

TEST_F(ScanKernelTest, missing_include_folders_and_computed_includes_are_told) {
  scan("#include CONFIG", {"-Inowhere"});
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("include path 'nowhere' is no folder"),
                                    HasSubstr("cannot follow '#include CONFIG'")));
}

TEST_F(ScanKernelTest, long_options_name_folders_and_files_too) {
  write("inc/d.h", "in_d");
  write("src/first.h", "in_first");
  const KernelSource source =
      scan("#include <d.h>\n", {"--include-path=inc", "-include", "first.h", "-include-pch", "x"});
  EXPECT_THAT(names(source), ElementsAre("inc/d.h", "src/first.h"));
  EXPECT_THAT(source.options, ElementsAre("-include", "first.h", "-include-pch", "x")) << "only folders are taken out";
}

TEST_F(ScanKernelTest, options_use_names_too) {
  const KernelSource source = scan("x", {"-DSIZE=TILE*2", "-D", "WIDTH=1", "-Wno-x"});
  EXPECT_THAT(source.identifiers, testing::IsSupersetOf({"SIZE", "TILE", "WIDTH"}));
}

TEST_F(ScanKernelTest, a_folder_with_the_name_of_an_include_is_not_read) {
  std::filesystem::create_directories(folder / "src/vector");
  EXPECT_THAT(scan("#include <vector>").includes, IsEmpty());
}

}  // namespace
}  // namespace wattune
