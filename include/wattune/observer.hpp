#pragma once
// Observers: a program's own instruments, which watch a kernel while it is measured. What they observe is kept like
// time and energy: in evaluations, journals and tables, for metrics and as objectives.
//
//   class TemperatureOfTheRoom : public wattune::Observer {
//    public:
//     Observations after(const wattune::Window&) override { return {{"room", read_thermometer()}}; }
//   };
//   wattune::register_observer("room", {{"room", "degC"}},
//                              [](const wattune::DeviceDescription&) { return std::make_unique<TemperatureOfTheRoom>();
//                              });
//
// A problem file names those it wants: "wattune": {"Observers": ["room"]}.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wattune/configuration.hpp"
#include "wattune/device.hpp"

namespace wattune {

/// A stretch of work on the device that an observer watches.
struct Window {
  const DeviceDescription& device;
  const Configuration& configuration;
  /// What was measured of the configuration before: time (s), and power (W) and energy (J) where there is a meter, ...
  const std::map<std::string, double>& measured;
  /// How often the kernel (or the launch function) has run in the window, and the device seconds that took. Both are 0
  /// in before(), and count what has ended so far in during().
  std::uint64_t launches = 0;
  double seconds = 0;
};

/// What a window is. The loop that observers watch is one of their own, after time and energy were measured, so that
/// they disturb neither.
enum class WindowKind {
  loop,    ///< the whole loop, once for each configuration; the device never waits in it
  batch,   ///< some milliseconds of launches; the device waits for before() and after()
  launch,  ///< one launch; likewise
};

class Observer {
 public:
  /// Values by the names of the quantities that the observer was registered with, in their units. One that could not be
  /// observed is left out.
  using Observations = std::map<std::string, double>;

  virtual ~Observer() = default;

  [[nodiscard]] virtual WindowKind window() const { return WindowKind::loop; }
  /// How long the loop must last at least, in seconds; 0: as long as timing takes (some 20 ms).
  [[nodiscard]] virtual double seconds() const { return 0; }

  /// Right before the window: nothing of it has been started.
  virtual void before(const Window& /*window*/) {}
  /// Again and again (about every 0.2 ms) while the device works.
  virtual void during(const Window& /*window*/) {}
  /// Right after the window: all of it has ended. What is returned for several windows is averaged, and their spread
  /// gives the standard error.
  virtual Observations after(const Window& window) = 0;
};

/// A quantity that an observer gives. `name` is an identifier, so that metrics may use it.
struct ObservedQuantity {
  std::string name;
  std::string unit;
};

/// Makes the observer, in the process that measures.
using ObserverFactory = std::function<std::unique_ptr<Observer>(const DeviceDescription& device)>;

/// Registers an observer by the name under which problem files ask for it. To be called before the Runtime is made.
/// An exception thrown by a method of an observer fails the configuration under way (outcome `measurement`), one thrown
/// by the factory ends the run.
/// @throws UsageError for a name that is taken, for no quantities or one whose name is no identifier or that wattune
/// measures itself, and where a Runtime exists already.
void register_observer(const std::string& name, std::vector<ObservedQuantity> quantities, ObserverFactory factory);

}  // namespace wattune
