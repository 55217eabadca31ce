#include "kernels/gemm/reference.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "base/subprocess.hpp"

namespace wattune {
namespace {

// One task is a tile of C; both panels of a block of K fit the second-level cache, a row of each the first.
constexpr int tile = 64;
constexpr int k_block = 256;
// Results held in vector registers at once.
constexpr int micro_m = 8;
constexpr int micro_n = 4;

using Panel = std::array<std::array<float, tile>, k_block>;
using Sums = std::array<std::array<double, tile>, tile>;  // [n][m]

struct Task {
  int m, n;  // the corner of the tile
};

/// Copies columns [first, first + tile) of `rows` rows, with zeros past the edge.
void pack(Panel& panel, const float* matrix, int columns, int first, int first_row, int rows) {
  const int count = std::min(tile, columns - first);
  for (int k = 0; k < rows; ++k) {
    auto& row = panel[static_cast<std::size_t>(k)];
    const float* source = matrix + static_cast<std::ptrdiff_t>(first_row + k) * columns + first;
    std::fill(std::copy_n(source, count, row.begin()), row.end(), 0.0F);
  }
}

/// Adds the product over one block of K to micro_n x micro_m sums.
void multiply_block(const Panel& a, const Panel& b, int rows, std::size_t m0, std::size_t n0, Sums& sums) {
  float part[micro_n][micro_m] = {};
  for (std::size_t k = 0; k < static_cast<std::size_t>(rows); ++k) {
    const float* a_row = a[k].data() + m0;
    const float* b_row = b[k].data() + n0;
    for (int n = 0; n < micro_n; ++n) {
      for (int m = 0; m < micro_m; ++m) {
        part[n][m] += a_row[m] * b_row[n];
      }
    }
  }
  for (std::size_t n = 0; n < micro_n; ++n) {
    for (std::size_t m = 0; m < micro_m; ++m) {
      sums[n0 + n][m0 + m] += static_cast<double>(part[n][m]);
    }
  }
}

struct Workspace {
  Panel a, b;
  Sums sums;
};

}  // namespace

void gemm_reference(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C) {
  const auto compute = [=](Task task, Workspace& work) {
    work.sums = {};
    for (int k = 0; k < K; k += k_block) {
      const int rows = std::min(k_block, K - k);
      pack(work.a, A, M, task.m, k, rows);
      pack(work.b, B, N, task.n, k, rows);
      for (std::size_t n = 0; n < tile; n += micro_n) {
        for (std::size_t m = 0; m < tile; m += micro_m) {
          multiply_block(work.a, work.b, rows, m, n, work.sums);
        }
      }
    }
    for (int n = 0; n < std::min(tile, N - task.n); ++n) {
      float* c = C + static_cast<std::ptrdiff_t>(task.n + n) * M + task.m;
      for (int m = 0; m < std::min(tile, M - task.m); ++m) {
        const double sum = work.sums[static_cast<std::size_t>(n)][static_cast<std::size_t>(m)];
        c[m] = static_cast<float>(double{alpha} * sum + double{beta} * double{c[m]});
      }
    }
  };

  const int tiles_m = (M + tile - 1) / tile;
  const int tiles_n = (N + tile - 1) / tile;
  std::atomic<int> next = 0;
  const auto work_on_tiles = [&] {
    const auto work = std::make_unique<Workspace>();
    for (int i = next++; i < tiles_m * tiles_n; i = next++) {
      compute({i % tiles_m * tile, i / tiles_m * tile}, *work);
    }
  };
  std::vector<std::jthread> helpers(std::min(available_cores(), static_cast<unsigned>(tiles_m * tiles_n)) - 1);
  for (auto& helper : helpers) {
    helper = std::jthread(work_on_tiles);
  }
  work_on_tiles();
}

}  // namespace wattune
