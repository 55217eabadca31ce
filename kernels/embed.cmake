# Writes the source that holds the texts of some kernels' files: cmake -D output=F.cpp -D folder=D -D files=A;B -P embed.cmake
set(entries "")
foreach(file IN LISTS files)
  file(READ ${folder}/${file} text)
  string(APPEND entries "    {\"${file}\", R\"kernel(${text})kernel\"},\n")
endforeach()
file(WRITE ${output} "// Made by embed.cmake.
#include \"kernels/sources.hpp\"

namespace wattune {

namespace {
constexpr KernelFile files[] = {
${entries}};
}  // namespace

std::span<const KernelFile> embedded_kernel_files() { return files; }

}  // namespace wattune
")
