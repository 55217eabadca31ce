#pragma once
// Makes a program able to serve as its own worker and compile processes.

namespace wattune {

/// First thing in main, after host references are registered. A run starts the program again under a hidden command;
/// in such a process this constructor serves the coordinator and ends the process. In any other it does nothing.
class Runtime {
 public:
  Runtime(int argc, char** argv);
};

}  // namespace wattune
