__kernel void scale(__global REAL* y, REAL a) {
  for (int i = get_local_id(0); i < WIDTH; i += get_local_size(0)) y[get_group_id(0) * WIDTH + i] *= a;
}
