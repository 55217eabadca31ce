# Writes the source that holds the texts of some files: cmake -D output=F.cpp -D files=A;B -P embed.cmake
set(entries "")
foreach(file IN LISTS files)
  file(READ ${file} text)
  get_filename_component(name ${file} NAME)
  string(APPEND entries "    {\"${name}\", R\"json(${text})json\"},\n")
endforeach()
file(WRITE ${output} "// Made by embed.cmake.
#include \"board/embedded.hpp\"

namespace wattune::simgpu {

namespace {
constexpr EmbeddedFile files[] = {
${entries}};
}  // namespace

std::span<const EmbeddedFile> embedded_descriptions() { return files; }

}  // namespace wattune::simgpu
")
