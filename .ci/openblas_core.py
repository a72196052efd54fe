"""Prints the core type whose routines OpenBLAS runs here, or "none" where NumPy and SciPy have no OpenBLAS.

With OPENBLAS_CORETYPE set to routines that the processor lacks instructions for, the process dies: nothing is printed.
"""

import numpy as np
import scipy.linalg
import threadpoolctl

size = 300
A = np.random.default_rng(0).standard_normal((size, size))
scipy.linalg.cho_factor(A @ A.T + size * np.eye(size))
scipy.linalg.svd(A)
np.linalg.eigh(A + A.T)
found = {str(pool["architecture"]) for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"}
print(" and ".join(sorted(found)) or "none")
