#pragma once
// Stages of a method, and the frame that runs them one after the other.

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "method/axes.hpp"
#include "method/method.hpp"
#include "method/reach.hpp"
#include "method/subspace.hpp"
#include "strategy/record.hpp"

namespace wattune {

/// What a method was told, in order.
class History {
 public:
  struct Entry {
    Point point;
    Evaluation evaluation;
  };

  /// @return false where the point was told before.
  bool add(const Point& point, const Evaluation& evaluation);
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const Evaluation* find(const Point& point) const;
  /// Seconds that the evaluations took, as far as they say.
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  std::vector<Entry> entries_;
  std::unordered_map<Point, std::size_t, PointHash> numbers_;
  double seconds_ = 0;
};

class Stage {
 public:
  virtual ~Stage() = default;
  /// A point of the whole space to evaluate next, which may be known or under way; nothing where the stage waits for
  /// results or has no more.
  virtual std::optional<Point> ask(const History& history) = 0;
};

/// These points.
class ListStage : public Stage {
 public:
  explicit ListStage(std::vector<Point> points) : points_(std::move(points)) {}
  std::optional<Point> ask(const History& history) override;

 private:
  std::vector<Point> points_;
  std::size_t next_ = 0;
};

/// A strategy in a part of the space. It is told of everything there that is known.
class SearchStage : public Stage {
 public:
  SearchStage(Subspace subspace, const std::string& strategy, std::uint64_t seed, const StrategySetup& setup);
  std::optional<Point> ask(const History& history) override;

 private:
  std::unique_ptr<Subspace> subspace_;  ///< the strategy refers to it
  std::unique_ptr<Strategy> strategy_;
  std::size_t seen_ = 0;  ///< entries of the history that the strategy was told
};

/// What the stages of all methods are made from.
struct MethodInputs {
  const SearchSpace& space;
  std::uint64_t seed;
  MethodSetup setup;
  SettingAxes axes;
};

/// Finds the greatest value of the main setting at which the device works: a clock that it does not reach fails,
/// whatever runs, unless the power cap holds the clock below anyway, which tells nothing. One evaluation tells where
/// the greatest value works; else a variant that fails there, and works at a middle value, is tried at values between.
/// Values that no configuration may have, are left out.
class TopSearch {
 public:
  /// @param inputs must outlive this object. @throws UsageError where no configuration is valid at the greatest values,
  /// the main one aside.
  explicit TopSearch(const MethodInputs& inputs);
  /// The point whose result is needed next; nothing where the top is known.
  std::optional<Point> next(const History& history);
  /// Every setting at its greatest value, the main one at the greatest that works; the greatest where none was seen to.
  [[nodiscard]] SettingPoint top() const;

 private:
  /// The value to try, by its rank on the axis.
  [[nodiscard]] std::size_t rank() const;
  [[nodiscard]] SettingPoint settings_at(std::size_t rank) const;
  /// What an evaluation at rank() tells.
  [[nodiscard]] Reach reach_of(const Evaluation& evaluation) const;
  void learn(Reach reach);
  /// The variants in a sample at the greatest settings at which there are some.
  void choose_variants();

  const MethodInputs& inputs_;
  std::vector<Point> variants_;  ///< to try, the first one first
  std::size_t variant_ = 0;
  std::size_t values_ = 1;            ///< of the main axis, up to the greatest that is valid
  std::optional<std::size_t> works_;  ///< the greatest rank that is known to work
  std::size_t fails_ = 1;             ///< the least that is known not to; values_: none
};

/// A stage begins when everything that was proposed before it has been told, so that it depends on results alone.
class StagedMethod : public Strategy {
 public:
  /// @param from_top the method begins at the greatest settings: top() is found before its first stage
  StagedMethod(MethodInputs inputs, bool from_top);
  StagedMethod(const StagedMethod&) = delete;
  StagedMethod& operator=(const StagedMethod&) = delete;
  std::vector<Point> ask(std::size_t n) final;
  void tell(const Point& point, const Evaluation& evaluation) final;

 protected:
  /// Called when all is told: the stage to go on with; null at the end.
  virtual std::shared_ptr<Stage> next_stage() = 0;
  /// Whether the stage is to end although it would go on.
  [[nodiscard]] virtual bool stage_is_over() const { return false; }

  /// Of methods that begin there.
  [[nodiscard]] SettingPoint top() const { return top_search_->top(); }

  /// How many more evaluations the budget allows; nothing where it has no limit.
  [[nodiscard]] std::optional<double> left() const;
  [[nodiscard]] std::size_t proposed() const { return record_.proposed(); }
  [[nodiscard]] const History& history() const { return history_; }

  /// A search for an objective in a part of the space.
  [[nodiscard]] std::shared_ptr<Stage> search(Subspace subspace, const Objective& objective) const;
  /// @param options of the strategy, in place of those of the setup
  [[nodiscard]] std::shared_ptr<Stage> search(Subspace subspace, const Objective& objective,
                                              StrategyOptions options) const;
  /// At one combination of settings. @throws UsageError where no configuration is valid there.
  [[nodiscard]] std::shared_ptr<Stage> search_at(const SettingPoint& settings, const Objective& objective) const;
  /// The best point told at these settings, one that meets the conditions of the run if there is one; nothing where
  /// none succeeded.
  [[nodiscard]] std::optional<Point> best_at(const SettingPoint& settings, const Objective& objective) const;

  const MethodInputs inputs_;

 private:
  std::optional<TopSearch> top_search_;
  History history_;
  Record record_;
  std::shared_ptr<Stage> stage_;
  std::size_t awaited_ = 0;
  bool is_ended_ = false;
};

}  // namespace wattune
