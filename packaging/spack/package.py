# For Spack 1.0 or later. Never run, for want of a Spack that could be fetched where it was written: its names of packages,
# versions, variants and build systems were compared with those of spack-packages (of July 2026) alone.
# To use, from the folder of the sources:
#   spack repo create REPO own && mkdir REPO/spack_repo/own/packages/sim_engine
#   cp packaging/spack/package.py REPO/spack_repo/own/packages/sim_engine/ && spack repo add REPO/spack_repo/own
#   spack env create sim && spack env activate sim && spack develop --path "$PWD" sim-engine@main
#   spack add sim-engine@main +cuda cuda_arch=90 && spack install
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class SimEngine(CMakePackage, CudaPackage):
    """Simulations of particles, grids and random paths, from a Lua scenario to HDF5 files."""

    license("BSD-3-Clause")
    version("main", branch="main")

    variant("mpi", default=True, description="A plugin by which mpirun and srun start the ranks of one run")

    generator("ninja")
    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")  # nvcc's host compiler
    depends_on("cmake@3.25:", type="build")
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
            args.append(self.define("SIM_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args
