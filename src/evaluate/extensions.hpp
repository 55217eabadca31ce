#pragma once
// What a program has registered by name: host references, observers and launch functions; and what a problem uses of
// it.

#include <memory>
#include <string>
#include <vector>

#include "problem/problem.hpp"
#include "wattune/launch_function.hpp"
#include "wattune/observer.hpp"

namespace wattune {

/// An observer as registered.
struct ObserverKind {
  std::string name;
  std::vector<ObservedQuantity> quantities;
  ObserverFactory factory;
};

/// The observers that a problem names, in its order.
/// @throws UsageError that lists those there are, and where two give the same quantity or a metric takes its name.
std::vector<ObserverKind> observers_of(const Problem& problem);
/// The launch function that a problem names; null where it names none. @throws UsageError that lists those there are.
LaunchFunction launch_function_of(const Problem& problem);

/// Checks, before anything is opened, that all that a problem names is there: observers, launch function, and that its
/// metrics use no quantity that nothing gives. @throws UsageError.
void check_extensions(const Problem& problem);

/// From now on nothing may be registered any more: worker processes would not know it.
void close_registration();

}  // namespace wattune
