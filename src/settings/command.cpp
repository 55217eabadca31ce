#include "settings/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"

extern char** environ;

namespace wattune {

namespace {

constexpr std::size_t most_output = std::size_t{1} << 16;
constexpr double turn_seconds = 0.005;

/// A pipe of which the program gets the writing end.
struct Pipe {
  Pipe() {
    int fds[2] = {-1, -1};
    if (::pipe2(fds, O_CLOEXEC) != 0) throw RunError("cannot make a pipe: " + system_error_text(errno));
    reading = FileDescriptor(fds[0]);
    writing = FileDescriptor(fds[1]);
    ::fcntl(reading.get(), F_SETFL, O_NONBLOCK);
  }
  /// Takes what there is. @return false at the end.
  bool drain(std::string& text) const {
    char chunk[4096];
    while (true) {
      const ssize_t n = ::read(reading.get(), chunk, sizeof chunk);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return true;
      if (n == 0) return false;
      text.append(chunk, std::min(static_cast<std::size_t>(n), most_output - std::min(most_output, text.size())));
    }
  }
  FileDescriptor reading;
  FileDescriptor writing;
};

/// @return 0, or what posix_spawn failed with.
int start(const std::vector<std::string>& words, const Pipe& output, const Pipe& errors, pid_t& pid) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_init(&actions);
  // A group of its own, to be killed together with what it starts; none of our signal settings.
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t set;
  ::sigemptyset(&set);
  ::posix_spawnattr_setsigmask(&attributes, &set);
  ::sigfillset(&set);
  ::posix_spawnattr_setsigdefault(&attributes, &set);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output.writing.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors.writing.get(), STDERR_FILENO);
  std::vector<std::string> own = words;
  std::vector<char*> arguments;
  for (auto& word : own) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int error = ::posix_spawnp(&pid, arguments.front(), &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

std::string first_line(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  constexpr std::size_t longest = 200;
  std::string line = text.substr(begin, std::min(text.find('\n', begin) - begin, longest));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  return line;
}

std::string problem_of(int status, const std::string& errors, const std::string& output) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string said = first_line(errors).empty() ? first_line(output) : first_line(errors);
  return (WIFSIGNALED(status) ? fmt::format("was killed by signal {}", WTERMSIG(status))
                              : fmt::format("exited with code {}", WEXITSTATUS(status))) +
         (said.empty() ? "" : ": " + said);
}

}  // namespace

std::vector<std::string> split_command(const std::string& text, const std::string& option) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char c : text) {
    const bool white = c == ' ' || c == '\t' || c == '\n';
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        words.back() += c;
      }
      continue;
    }
    if (white) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '\'' || c == '"') {
      quote = c;
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) throw UsageError(fmt::format("{}: a quotation mark ({}) is not closed", option, quote));
  if (words.empty() || words.front().empty()) throw UsageError(option + ": names no program");
  return words;
}

std::vector<std::string> fill_in(std::vector<std::string> words, const std::map<std::string, std::string>& values) {
  for (auto& word : words) {
    std::string filled;
    for (std::size_t at = 0; at < word.size();) {
      const auto end = word[at] == '{' ? word.find('}', at) : std::string::npos;
      const auto found = end == std::string::npos ? values.end() : values.find(word.substr(at + 1, end - at - 1));
      if (found == values.end()) {
        filled += word[at++];
      } else {
        filled += found->second;
        at = end + 1;
      }
    }
    word = std::move(filled);
  }
  return words;
}

bool has_placeholder(const std::vector<std::string>& words, const std::string& name) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return word.find("{" + name + "}") != std::string::npos; });
}

CommandResult run_command(const std::vector<std::string>& words, double limit_seconds,
                          const std::function<void()>& meanwhile) {
  Pipe output;
  Pipe errors;
  CommandResult result;
  std::string said;
  pid_t pid = 0;
  if (const int error = start(words, output, errors, pid); error != 0) {
    result.problem = "cannot be run: " + system_error_text(error);
    return result;
  }
  output.writing.reset();
  errors.writing.reset();
  const double deadline = monotonic_seconds() + limit_seconds;
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid, &status, WNOHANG)) == 0 && monotonic_seconds() < deadline) {
    const bool more_output = output.drain(result.output);
    const bool more_errors = errors.drain(said);
    if (meanwhile) meanwhile();
    pollfd entries[2] = {{more_output ? output.reading.get() : -1, POLLIN, 0},
                         {more_errors ? errors.reading.get() : -1, POLLIN, 0}};
    ::poll(entries, 2, static_cast<int>(turn_seconds * 1e3));
  }
  if (ended == 0) {
    ::kill(-pid, SIGKILL);
    // What runs as another user (sudo) may not be killed: it is not waited for then.
    const double patience = monotonic_seconds() + 1;
    while (::waitpid(pid, &status, WNOHANG) == 0 && monotonic_seconds() < patience) {
      real_clock().sleep_until(real_clock().now() + turn_seconds);
    }
    result.problem = fmt::format("did not end within {:g} s", limit_seconds);
    return result;
  }
  output.drain(result.output);
  errors.drain(said);
  result.problem = problem_of(status, said, result.output);
  result.ok = result.problem.empty();
  return result;
}

}  // namespace wattune
