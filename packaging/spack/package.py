# Not built where it was written, for want of Spack: checked as Python only.
# To use: mkdir -p REPO/packages/sim-engine && cp package.py there; spack repo add REPO; spack install sim-engine +cuda
from spack.package import *


class SimEngine(CMakePackage, CudaPackage):
    """Simulations of particles, grids and random paths, from a Lua scenario to HDF5 files."""

    license("BSD-3-Clause")
    version("main", branch="main")

    variant("cuda", default=False, description="Kernels for NVIDIA GPUs")
    variant("mpi", default=True, description="A plugin by which mpirun and srun start the ranks of one run")

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("hdf5@1.10: ~mpi")
    depends_on("jansson")
    depends_on("lua@5.4")
    depends_on("libpng")
    depends_on("random123", type="build")
    depends_on("xxhash")
    depends_on("cuda@12.4:", when="+cuda")
    depends_on("mpi", when="+mpi")

    def cmake_args(self):
        args = [
            self.define("SIM_TESTS", False),
            self.define("SIM_BENCH", False),
            self.define("SIM_CUDA", "+cuda" in self.spec),
            self.define("SIM_MPICC", self.spec["mpi"].mpicc if "+mpi" in self.spec else "none"),
        ]
        if "+cuda" in self.spec and self.spec.variants["cuda_arch"].value[0] != "none":
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args
