// Streams, events and graphs of the simulated CUDA driver.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "cuda/objects.hpp"
#include "export.hpp"
#include "hash.hpp"

namespace wattune {

namespace {

bool equal(const simgpu::Work& a, const simgpu::Work& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

void CudaGraphOpaque::add(const SimulatedNode& node) {
  if (node.is_kernel) {
    if (!steps.empty() && steps.back().is_kernel && equal(steps.back().work, node.work)) {
      ++steps.back().repeats;
    } else {
      steps.push_back({node.work, true, 1});
    }
    return;
  }
  if (std::find(effects.begin(), effects.end(), node.effect) == effects.end()) effects.push_back(node.effect);
  if (steps.empty() || steps.back().is_kernel) {
    steps.push_back({node.work, false, 1});
    return;
  }
  // Copies in a row are one.
  simgpu::Work& work = steps.back().work;
  work.memory_seconds += node.work.memory_seconds;
  work.fixed_seconds += node.work.fixed_seconds;
  work.memory_activity = std::max(work.memory_activity, node.work.memory_activity);
}

namespace simgpu {

namespace {

/// Relative standard deviation of a launch's duration.
constexpr double launch_noise = 0.001;

/// Launches differ a little from each other, in the same way in each run.
void disturb(Submission& submission, const CudaContextOpaque& context, std::uint64_t number) {
  const std::uint64_t seed = hash_of(Machine::instance().board_name(context.board)) + number;
  const std::string_view text(reinterpret_cast<const char*>(&seed), sizeof seed);
  double sum = 0;
  for (std::uint64_t i = 0; i < 4; ++i) sum += uniform(hash_of(text, i + 1));
  // Four uniform numbers make a bell with a deviation of the square root of a third.
  const double factor = 1 + launch_noise * (sum - 2) * std::sqrt(3.0);
  for (auto& step : submission.steps) {
    step.work.sm_cycles *= factor;
    step.work.memory_seconds *= factor;
  }
}

/// Errors that a launch gives at once, leaving the context as it is. All others come when the kernel runs, and stay.
bool comes_at_once(CudaResult result) {
  switch (result) {
    case CudaResult::launch_out_of_resources:
    case CudaResult::out_of_memory:
    case CudaResult::invalid_value:
    case CudaResult::invalid_image:
    case CudaResult::no_device:
    case CudaResult::device_unavailable:
      return true;
    default:
      return false;
  }
}

/// The fault that a launch is to have, put into its submission. Errors that come at once are the result.
CudaResult take_fault(Submission& submission, std::uint32_t board) {
  const auto fault = Machine::instance().pass("launch", board);
  if (!fault) return CudaResult::success;
  if (fault->action == Action::hang) submission.hangs = true;
  if (fault->action == Action::lost) return CudaResult::unknown;
  if (fault->action != Action::result) return CudaResult::success;
  const auto result = static_cast<CudaResult>(fault->result);
  if (comes_at_once(result)) return result;
  submission.error = fault->result;
  return CudaResult::success;
}

void submit(CudaStream stream, const Submission& submission) {
  stream->last_ticket = Machine::instance().submit(stream->context->slot, submission);
}

CudaResult submit_launch(CudaStream stream, Submission submission) {
  const CudaContextOpaque& context = *stream->context;
  if (const CudaResult fault = take_fault(submission, context.board); fault != CudaResult::success) return fault;
  disturb(submission, context, stream->last_ticket.value_or(0));
  submit(stream, submission);
  return CudaResult::success;
}

/// As few entries of a queue as a graph needs: batches repeat the same few steps.
std::vector<Submission> submissions_of(const CudaGraphOpaque& graph) {
  const auto& steps = graph.steps;
  const auto repeats_after = [&](std::size_t period) {
    for (std::size_t i = period; i < steps.size(); ++i) {
      const auto& earlier = steps[i % period];
      if (steps[i].repeats != earlier.repeats || !equal(steps[i].work, earlier.work)) return false;
    }
    return steps.size() % period == 0;
  };
  std::vector<Submission> result;
  for (std::size_t period = 1; period <= std::min(most_steps, steps.size()); ++period) {
    if (!repeats_after(period)) continue;
    Submission& all = result.emplace_back();
    for (std::size_t i = 0; i < period; ++i) all.steps[i] = {steps[i].work, steps[i].repeats};
    all.step_count = static_cast<std::uint32_t>(period);
    all.repeats = steps.size() / period;
    return result;
  }
  for (const auto& step : steps) {
    Submission& own = result.emplace_back();
    own.steps[0] = {step.work, step.repeats};
    own.step_count = 1;
  }
  return result;
}

CudaResult wait_for(CudaContext context, std::optional<std::uint64_t> ticket) {
  Machine& machine = Machine::instance();
  if (ticket) machine.wait(context->slot, *ticket);
  if (machine.lost(context->board)) return CudaResult::unknown;
  return static_cast<CudaResult>(machine.context_error(context->slot));
}

}  // namespace

CudaResult enqueue(CudaStream stream, const SimulatedNode& node) {
  stream = stream_or_default(stream);
  if (stream->captured != nullptr) {
    stream->captured->add(node);
    return CudaResult::success;
  }
  node.effect.happen();
  Submission submission;
  submission.steps[0] = {node.work, 1};
  submission.step_count = 1;
  if (!node.is_kernel) {
    submit(stream, submission);
    return CudaResult::success;
  }
  Machine::instance().spend(stream->context->board, call_seconds::launch);
  return submit_launch(stream, submission);
}

}  // namespace simgpu
}  // namespace wattune

using namespace wattune;
using namespace wattune::simgpu;

// ---- streams

WATTUNE_SIM_EXPORT CudaResult cuStreamCreate(CudaStream* stream, unsigned) {
  return in_context([&](CudaContext context) {
    *stream = new CudaStreamOpaque;
    (*stream)->context = context;
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuStreamDestroy_v2(CudaStream stream) {
  return guarded([&] {
    if (stream == nullptr) return CudaResult::invalid_handle;
    delete stream->captured;
    delete stream;
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuStreamSynchronize(CudaStream stream) {
  return in_context([&](CudaContext context) { return wait_for(context, stream_or_default(stream)->last_ticket); });
}

WATTUNE_SIM_EXPORT CudaResult cuStreamBeginCapture_v2(CudaStream stream, int) {
  return in_context([&](CudaContext) {
    if (stream == nullptr || stream->captured != nullptr) return CudaResult::invalid_value;
    stream->captured = new CudaGraphOpaque;
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuStreamEndCapture(CudaStream stream, CudaGraph* graph) {
  return in_context([&](CudaContext) {
    if (stream == nullptr || stream->captured == nullptr) return CudaResult::invalid_value;
    *graph = std::exchange(stream->captured, nullptr);
    return CudaResult::success;
  });
}

// ---- events

WATTUNE_SIM_EXPORT CudaResult cuEventCreate(CudaEvent* event, unsigned) {
  return in_context([&](CudaContext context) {
    const auto slot = Machine::instance().open_event(context->slot);
    if (!slot) return CudaResult::out_of_memory;
    *event = new CudaEventOpaque{context, *slot, std::nullopt};
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuEventDestroy_v2(CudaEvent event) {
  return guarded([&] {
    const std::unique_ptr<CudaEventOpaque> own(event);
    if (!own) return CudaResult::invalid_handle;
    Machine::instance().close_event(own->slot);
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuEventRecord(CudaEvent event, CudaStream stream) {
  return in_context([&](CudaContext context) {
    stream = stream_or_default(stream);
    if (event == nullptr) return CudaResult::invalid_handle;
    if (stream->captured != nullptr) return CudaResult::not_supported;
    Machine::instance().spend(context->board, call_seconds::record);
    Submission submission;
    submission.event = event->slot;
    submit(stream, submission);
    event->ticket = stream->last_ticket;
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuEventQuery(CudaEvent event) {
  return in_context([&](CudaContext context) {
    if (event == nullptr) return CudaResult::invalid_handle;
    if (!event->ticket) return CudaResult::success;
    Machine& machine = Machine::instance();
    machine.spend(context->board, call_seconds::query);
    if (machine.finished(context->board, *event->ticket)) {
      return static_cast<CudaResult>(machine.context_error(context->slot));
    }
    return CudaResult::not_ready;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuEventSynchronize(CudaEvent event) {
  return in_context([&](CudaContext context) {
    if (event == nullptr) return CudaResult::invalid_handle;
    return wait_for(context, event->ticket);
  });
}

WATTUNE_SIM_EXPORT CudaResult cuEventElapsedTime(float* milliseconds, CudaEvent start, CudaEvent stop) {
  return in_context([&](CudaContext context) {
    if (start == nullptr || stop == nullptr || !start->ticket || !stop->ticket) return CudaResult::invalid_handle;
    Machine& machine = Machine::instance();
    if (!machine.finished(context->board, *start->ticket) || !machine.finished(context->board, *stop->ticket)) {
      return CudaResult::not_ready;
    }
    *milliseconds = static_cast<float>(1e3 * (machine.event_time(stop->slot) - machine.event_time(start->slot)));
    return CudaResult::success;
  });
}

// ---- graphs

WATTUNE_SIM_EXPORT CudaResult cuGraphInstantiateWithFlags(CudaGraphExec* executable, CudaGraph graph,
                                                          unsigned long long) {
  return in_context([&](CudaContext) {
    if (graph == nullptr) return CudaResult::invalid_value;
    *executable = new CudaGraphExecOpaque{submissions_of(*graph), graph->effects};
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuGraphLaunch(CudaGraphExec executable, CudaStream stream) {
  return in_context([&](CudaContext context) {
    if (executable == nullptr) return CudaResult::invalid_value;
    stream = stream_or_default(stream);
    for (const auto& effect : executable->effects) effect.happen();
    executable->effects.clear();
    Machine::instance().spend(context->board, call_seconds::graph_launch);
    for (const auto& submission : executable->submissions) {
      if (const CudaResult result = submit_launch(stream, submission); result != CudaResult::success) return result;
    }
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuGraphUpload(CudaGraphExec, CudaStream) {
  return in_context([](CudaContext) { return CudaResult::success; });
}

WATTUNE_SIM_EXPORT CudaResult cuGraphExecDestroy(CudaGraphExec executable) {
  delete executable;
  return CudaResult::success;
}

WATTUNE_SIM_EXPORT CudaResult cuGraphDestroy(CudaGraph graph) {
  delete graph;
  return CudaResult::success;
}
