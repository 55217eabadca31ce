#pragma once
// The progress of a run: one line that is rewritten on a terminal, a plain line now and then elsewhere.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "problem/problem.hpp"
#include "result/evaluation.hpp"

namespace wattune {

struct ProgressOptions {
  bool terminal = false;                        ///< rewrite one line
  std::function<std::size_t()> width;           ///< columns of the terminal
  std::function<void(std::string_view)> write;  ///< takes the text, unbuffered
  std::function<double()> clock;                ///< seconds, real time
  std::optional<std::uint64_t> evaluations;     ///< planned, reused ones included
  std::optional<double> seconds;                ///< that the run may take
  Objective objective;                          ///< whose best value is shown

  /// To stderr, as it is: a terminal or not.
  static ProgressOptions for_stderr();
};

/// "[ 45/200] 3 failed, best time 1.234 ms, 2.1/s, 1 min 14 s left".
class Progress {
 public:
  /// On a terminal it is drawn at most so often, in seconds; elsewhere a line comes at most so often.
  static constexpr double terminal_interval = 0.1;
  static constexpr double plain_interval = 5;
  /// And so often where nothing has finished since the last.
  static constexpr double idle_interval = 60;

  explicit Progress(ProgressOptions options);

  /// The plan may change under way.
  void plan(std::optional<std::uint64_t> evaluations) { options_.evaluations = evaluations; }

  /// Counts an evaluation. One that was reused from a journal does not count for the rate.
  void add(const Evaluation& evaluation, bool reused = false);

  /// Draws where it is due: to be called while nothing finishes.
  void tick();

  /// Prints a line (without its newline) that stays, above the progress line.
  void message(std::string_view line);

  /// Draws the last state and ends the line. Nothing more is drawn after it.
  void finish();

  /// The line as it stands.
  [[nodiscard]] std::string line() const;

 private:
  void draw(double now);
  [[nodiscard]] double rate(double now) const;
  [[nodiscard]] std::optional<double> seconds_left(double now) const;

  ProgressOptions options_;
  double began_;
  std::optional<double> drawn_;   ///< when; nothing before the first time
  std::uint64_t drawn_done_ = 0;  ///< what was done by then
  std::uint64_t done_ = 0;
  std::uint64_t failed_ = 0;
  std::optional<Quantity> best_;
  std::deque<double> recent_;  ///< when the last evaluations that were not reused finished
  bool on_screen_ = false;     ///< the cursor stands behind a progress line
  bool finished_ = false;
};

}  // namespace wattune
