#include <fmt/format.h>

#include <deque>
#include <stdexcept>
#include <vector>

#include "backend/cuda/cuda_device.hpp"
#include "backend/cuda/cuda_error.hpp"

namespace wattune {

namespace {

/// The events before and after a replay.
struct EventPair {
  CudaEvent start = nullptr;
  CudaEvent stop = nullptr;
};

/// Steps that the device replays as one graph, or, where the driver has no graphs, that are queued one by one.
class CudaBatch final : public Batch {
 public:
  CudaBatch(std::shared_ptr<CudaSession> session, std::vector<PackedStep> steps, unsigned repetitions)
      : session_(std::move(session)), steps_(std::move(steps)), repetitions_(repetitions) {}
  ~CudaBatch() override;

  /// Makes the graph. Failure: what poisoned the context; anything else leaves the batch without a graph.
  std::optional<Failure> capture();

  [[nodiscard]] unsigned launches() const noexcept override { return repetitions_; }
  std::optional<Failure> enqueue() override;
  [[nodiscard]] unsigned outstanding() const noexcept override { return static_cast<unsigned>(queued_.size()); }
  tl::expected<std::optional<double>, Failure> poll() override;
  tl::expected<double, Failure> wait() override;

 private:
  CudaResult enqueue_all();
  CudaResult enqueue(const ResetCopy& reset);
  CudaResult instantiate(CudaGraph graph);
  CudaResult take_events(EventPair& events);
  tl::expected<double, Failure> take_oldest();

  std::shared_ptr<CudaSession> session_;
  std::vector<PackedStep> steps_;
  unsigned repetitions_;
  CudaGraphExec graph_ = nullptr;
  std::deque<EventPair> queued_;
  std::vector<EventPair> free_;
};

CudaBatch::~CudaBatch() {
  const CudaDriver& driver = session_->driver();
  session_->activate();
  if (!queued_.empty()) driver.stream_synchronize(session_->stream());
  free_.insert(free_.end(), queued_.begin(), queued_.end());
  for (const auto& events : free_) {
    if (events.start != nullptr) driver.event_destroy(events.start);
    if (events.stop != nullptr) driver.event_destroy(events.stop);
  }
  if (graph_ != nullptr) driver.graph_exec_destroy(graph_);
}

CudaResult CudaBatch::enqueue(const ResetCopy& reset) {
  if (reset.bytes == 0) return CudaResult::success;
  const CudaDriver& driver = session_->driver();
  const auto target = static_cast<CudaBuffer*>(reset.target)->range(reset.offset, reset.bytes);
  if (reset.source == nullptr) return driver.fill_bytes(target, 0, reset.bytes, session_->stream());
  const auto source = static_cast<CudaBuffer*>(reset.source)->range(reset.offset, reset.bytes);
  return driver.copy_on_device(target, source, reset.bytes, session_->stream());
}

CudaResult CudaBatch::enqueue_all() {
  for (unsigned i = 0; i < repetitions_; ++i) {
    for (auto& step : steps_) {
      auto* launch = std::get_if<PackedLaunch>(&step);
      const CudaResult result = launch != nullptr ? launch->enqueue(*session_) : enqueue(std::get<ResetCopy>(step));
      if (result != CudaResult::success) return result;
    }
  }
  return CudaResult::success;
}

CudaResult CudaBatch::instantiate(CudaGraph graph) {
  const CudaDriver& driver = session_->driver();
  const CudaResult result = driver.graph_instantiate != nullptr
                                ? driver.graph_instantiate(&graph_, graph, 0)
                                : driver.graph_instantiate_old(&graph_, graph, nullptr, nullptr, 0);
  if (result != CudaResult::success) {
    graph_ = nullptr;
    return result;
  }
  // Only an advance on the first launch's cost; that launch tells of errors.
  if (driver.graph_upload != nullptr) driver.graph_upload(graph_, session_->stream());
  return CudaResult::success;
}

std::optional<Failure> CudaBatch::capture() {
  const CudaDriver& driver = session_->driver();
  if (!driver.has_graphs()) return std::nullopt;
  CudaResult result = driver.stream_begin_capture(session_->stream(), cuda_capture_relaxed);
  if (result == CudaResult::success) {
    result = enqueue_all();
    CudaGraph graph = nullptr;
    // A capture that was begun must be ended, or the stream stays unusable.
    const CudaResult ended = driver.stream_end_capture(session_->stream(), &graph);
    if (result == CudaResult::success) result = ended;
    if (result == CudaResult::success) result = instantiate(graph);
    if (graph != nullptr) driver.graph_destroy(graph);
  }
  if (result == CudaResult::success) return std::nullopt;
  Failure failure = session_->failed(result, fmt::format("capturing {} launches as a graph", repetitions_));
  if (poisons(failure.outcome) || failure.outcome == Outcome::resources) return failure;
  return std::nullopt;
}

CudaResult CudaBatch::take_events(EventPair& events) {
  if (!free_.empty()) {
    events = free_.back();
    free_.pop_back();
    return CudaResult::success;
  }
  const CudaDriver& driver = session_->driver();
  const CudaResult result = driver.event_create(&events.start, cuda_event_default);
  return result != CudaResult::success ? result : driver.event_create(&events.stop, cuda_event_default);
}

std::optional<Failure> CudaBatch::enqueue() {
  if (session_->poisoned()) return session_->poisoned();
  const CudaDriver& driver = session_->driver();
  session_->activate();
  EventPair events;
  CudaResult result = take_events(events);
  if (result == CudaResult::success) result = driver.event_record(events.start, session_->stream());
  if (result == CudaResult::success) {
    result = graph_ != nullptr ? driver.graph_launch(graph_, session_->stream()) : enqueue_all();
  }
  if (result == CudaResult::success) result = driver.event_record(events.stop, session_->stream());
  if (result != CudaResult::success) {
    free_.push_back(events);
    return session_->failed(result, fmt::format("queueing {} launches", repetitions_));
  }
  queued_.push_back(events);
  return std::nullopt;
}

tl::expected<double, Failure> CudaBatch::take_oldest() {
  const EventPair events = queued_.front();
  queued_.pop_front();
  free_.push_back(events);
  float milliseconds = 0;
  const CudaResult result = session_->driver().event_elapsed_time(&milliseconds, events.start, events.stop);
  if (result != CudaResult::success) return tl::unexpected(session_->failed(result, "timing launches"));
  return static_cast<double>(milliseconds) * 1e-3;
}

tl::expected<std::optional<double>, Failure> CudaBatch::poll() {
  if (session_->poisoned()) return tl::unexpected(*session_->poisoned());
  if (queued_.empty()) return std::optional<double>();
  const CudaResult result = session_->driver().event_query(queued_.front().stop);
  if (result == CudaResult::not_ready) return std::optional<double>();
  if (result != CudaResult::success) {
    return tl::unexpected(session_->failed(result, fmt::format("running {} launches", repetitions_)));
  }
  const auto seconds = take_oldest();
  if (!seconds) return tl::unexpected(seconds.error());
  return std::optional<double>(*seconds);
}

tl::expected<double, Failure> CudaBatch::wait() {
  if (session_->poisoned()) return tl::unexpected(*session_->poisoned());
  if (queued_.empty()) throw std::logic_error("Batch::wait: nothing is outstanding");
  const CudaResult result = session_->driver().event_synchronize(queued_.front().stop);
  if (result != CudaResult::success) {
    return tl::unexpected(session_->failed(result, fmt::format("running {} launches", repetitions_)));
  }
  return take_oldest();
}

}  // namespace

tl::expected<std::unique_ptr<Batch>, Failure> make_cuda_batch(std::shared_ptr<CudaSession> session,
                                                              std::vector<PackedStep> steps, unsigned repetitions) {
  auto batch = std::make_unique<CudaBatch>(std::move(session), std::move(steps), repetitions);
  if (auto failure = batch->capture()) return tl::unexpected(std::move(*failure));
  return std::unique_ptr<Batch>(std::move(batch));
}

}  // namespace wattune
