#pragma once
// Isolation for a program that tunes: its workers and compilers are processes of their own.

namespace wattune {

/// Made first thing in main, once observers, references and launch functions are registered:
///
///   int main(int argc, char** argv) {
///     wattune::register_reference("axpy", axpy);
///     const wattune::Runtime runtime(argc, argv);
///     ...
///
/// A run then starts the program again, as its own worker and compile processes, under a hidden command line. In such a
/// process the constructor serves the run and ends the process; in any other it does nothing else. A kernel, observer
/// or launch function that crashes or hangs costs its configuration, not the program. Without a Runtime everything
/// happens in the program's own process.
class Runtime {
 public:
  /// @param argc, argv as main gets them.
  Runtime(int argc, char** argv);
};

}  // namespace wattune
