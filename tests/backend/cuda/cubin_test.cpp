#include "backend/cuda/cubin.hpp"

#include <gmock/gmock.h>

#include <utility>

#include "elf_builder.hpp"

namespace wattune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Cubin, holds_kernels_and_variables_and_nothing_else) {
  const auto symbols = read_cubin(ElfBuilder()
                                      .kernel("_Z4gemmPf")
                                      .device_function("helper")
                                      .constant("weights")
                                      .constant("$str")
                                      .variable("history")
                                      .parameters("not_a_variable")
                                      .build());
  ASSERT_TRUE(symbols) << symbols.error();
  EXPECT_THAT(symbols->kernels, ElementsAre("_Z4gemmPf"));
  EXPECT_THAT(symbols->variables, ElementsAre("weights", "history"));
}

TEST(Cubin, that_is_cut_or_no_elf_file_is_refused_or_empty_but_never_read_beyond_its_end) {
  auto binary = ElfBuilder().kernel("_Z4gemmPf").constant("weights").build();
  EXPECT_FALSE(read_cubin({}));
  EXPECT_FALSE(read_cubin(std::vector<std::uint8_t>(100, 'x')));
  for (std::size_t size = 0; size < binary.size(); ++size) {
    const std::vector<std::uint8_t> cut(binary.begin(), binary.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(read_cubin(cut)) << size;
  }
  for (std::size_t i = 0; i < binary.size(); ++i) {
    const auto old = std::exchange(binary[i], std::uint8_t{0xff});
    (void)read_cubin(binary);
    binary[i] = old;
  }
}

TEST(Cubin, names_are_those_of_the_source) {
  EXPECT_EQ(source_name("gemm"), "gemm");
  EXPECT_EQ(source_name("_Z4gemmPfi"), "gemm");
  EXPECT_EQ(source_name("_ZN2ns4gemmILi16EfEEvPT0_i"), "ns::gemm<16, float>");
  EXPECT_EQ(source_name("_ZN35_INTERNAL_09ca6b34_4_u_cu_acc5a52f_2ns2scE"), "ns::sc");
  EXPECT_EQ(source_name("_ZN12_GLOBAL__N_16hiddenEPf"), "hidden");
}

CubinSymbols kernels(std::vector<std::string> names) {
  return {std::move(names), {}};
}

TEST(FindKernel, takes_what_is_written_before_what_may_be_meant) {
  const auto symbols = kernels({"gemm", "_ZN2ns4gemmEPf", "_ZN2ns4copyEPf"});
  EXPECT_EQ(find_kernel(symbols, "gemm"), "gemm");
  EXPECT_EQ(find_kernel(symbols, "ns::gemm"), "_ZN2ns4gemmEPf");
  EXPECT_EQ(find_kernel(symbols, "::ns::gemm"), "_ZN2ns4gemmEPf");
  EXPECT_EQ(find_kernel(symbols, "copy"), "_ZN2ns4copyEPf");
  EXPECT_EQ(find_kernel(symbols, "_ZN2ns4copyEPf"), "_ZN2ns4copyEPf");
}

TEST(FindKernel, takes_the_only_instance_of_a_template_and_lists_several) {
  EXPECT_EQ(find_kernel(kernels({"_ZN2ns4gemmILi16EfEEvPT0_i"}), "gemm"), "_ZN2ns4gemmILi16EfEEvPT0_i");
  const auto several = find_kernel(kernels({"_ZN2ns4gemmILi16EfEEvPT0_i", "_ZN2ns4gemmILi4EdEEvPT0_i"}), "gemm");
  ASSERT_FALSE(several);
  EXPECT_THAT(several.error(), HasSubstr("more than one"));
  EXPECT_THAT(several.error(), HasSubstr("ns::gemm<16, float>"));
}

TEST(FindKernel, lists_the_kernels_there_are_where_none_is_meant) {
  const auto none = find_kernel(kernels({"_Z4copyPf"}), "gemm");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error(), HasSubstr("no kernel 'gemm'"));
  EXPECT_THAT(none.error(), HasSubstr("copy"));
  EXPECT_THAT(find_kernel({}, "gemm").error(), HasSubstr("no __global__ function"));
}

TEST(VariableNames, give_the_last_part_where_it_is_unique) {
  const CubinSymbols symbols{{}, {"_ZN1a1wE", "_ZN1b1wE", "_ZN1a1vE", "u"}};
  const auto names = variable_names(symbols);
  EXPECT_EQ(names.at("a::w"), "_ZN1a1wE");
  EXPECT_EQ(names.at("b::w"), "_ZN1b1wE");
  EXPECT_EQ(names.count("w"), 0U);
  EXPECT_EQ(names.at("v"), "_ZN1a1vE");
  EXPECT_EQ(names.at("u"), "u");
}

}  // namespace
}  // namespace wattune
