#include "strategy/entry.hpp"
#include "strategy/record.hpp"

namespace wattune {

namespace {

constexpr const char* switch_option = "model_until";
constexpr const char* initial_option = "initial";

/// Models while evaluations are few; after that, when there is little left that a model can add and its time begins to
/// count, a search that costs nothing, which begins with all that is known. docs/strategies.md has the evidence.
class Auto : public Strategy {
 public:
  explicit Auto(const StrategyInputs& inputs) : record_(inputs.space), switch_(inputs.options.whole(switch_option)) {
    const bool is_single = inputs.objectives.size() == 1;
    StrategySetup setup;
    setup.objectives = inputs.objectives;
    setup.kinds = inputs.kinds;
    setup.options = {{initial_option, std::to_string(inputs.options.whole(initial_option))}};
    model_ = make_strategy(is_single ? "bayesian" : "expected_hypervolume", inputs.space, inputs.seed, setup);
    setup.options.clear();
    search_ = make_strategy(is_single ? "iterated_local_search" : "nsga2", inputs.space, inputs.seed, setup);
  }

  std::vector<Point> ask(std::size_t n) override {
    Strategy& current = record_.told() < switch_ ? *model_ : *search_;
    std::vector<Point> points;
    while (points.size() < n) {
      auto proposed = current.ask(n - points.size());
      if (proposed.empty()) break;
      // What is under way since before the switch is news to the search.
      for (auto& point : proposed) {
        if (record_.propose(point)) points.push_back(std::move(point));
      }
    }
    return points;
  }

  void tell(const Point& point, const Evaluation& evaluation) override {
    record_.tell(point, 0);
    if (record_.told() <= switch_) model_->tell(point, evaluation);
    search_->tell(point, evaluation);
  }

 private:
  Record record_;
  std::size_t switch_;
  std::unique_ptr<Strategy> model_;
  std::unique_ptr<Strategy> search_;
};

}  // namespace

StrategyEntry auto_entry() {
  return {{"auto",
           "bayesian, then iterated_local_search; for several objectives expected_hypervolume, then nsga2",
           {whole_option(switch_option, "1000", "evaluations after which it goes over", 1, 1e9),
            whole_option(initial_option, "20", "Latin-hypercube configurations at first", 1, 100000)},
           true},
          &make_of<Auto>};
}

}  // namespace wattune
