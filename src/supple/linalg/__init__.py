"""Factorisations, conjugate gradients, sparsity patterns, small dense kernels."""
