#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/recorded.hpp"
#include "cli/results_commands.hpp"
#include "cli/say.hpp"
#include "result/trials.hpp"
#include "store/formats/results.hpp"

namespace wattune::cli {

int run_convert(const ConvertArguments& arguments) {
  const ResultFormat format = arguments.to.empty() ? format_for(arguments.output) : result_format_from(arguments.to);
  // A journal holds every trial; who reads the others expects a configuration's result.
  Results results = read_recorded(arguments.input, Trials::each);
  const std::size_t less = format == ResultFormat::journal ? 0 : replace_final_trials(results.evaluations);
  if (less > 0) say("wattune: note: trials of finalists are written as their means, {} evaluations less\n", less);
  for (const auto& note : write_results(results, arguments.output, format)) say("wattune: note: {}\n", note);
  say("{} evaluations: {} ({}) -> {} ({})\n", results.evaluations.size(), arguments.input, to_string(results.format),
      arguments.output, to_string(format));
  return static_cast<int>(ExitCode::done);
}

}  // namespace wattune::cli
