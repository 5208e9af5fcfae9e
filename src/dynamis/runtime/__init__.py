"""Running kernels: host arrays, arguments, backends, threads, pictures."""
