#include "tune/evaluator.hpp"

namespace wattune {

std::optional<Evaluator::Done> evaluate_alone(Evaluator& evaluator, Proposal proposal, int wake_fd,
                                              const std::function<bool()>& interrupted) {
  constexpr double between_looks = 1.0;  // s
  evaluator.submit(std::move(proposal));
  while (evaluator.held() > 0) {
    if (auto done = evaluator.next(between_looks, wake_fd)) return done;
    if (interrupted && interrupted()) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace wattune
