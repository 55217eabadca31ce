// y += a * x; each item does TILE elements.
kernel void axpy(global float* y, global const float* x, float a, int n) {
  for (int k = 0; k < TILE; ++k) {
    const int i = (get_group_id(0) * TILE + k) * get_local_size(0) + get_local_id(0);
    if (i < n) y[i] += a * x[i];
  }
}
