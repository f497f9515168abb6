"""HDF5 files, opened so that a reader disturbs no writer, and an error becomes one clear line."""

from __future__ import annotations

import builtins
import errno
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np
from numpy.typing import NDArray

from simview.errors import DamagedError, MissingToolError, NotFoundError, SimviewError

Array = NDArray[Any]


# Seal (io/seal.h): magic, version (u32), 4 bytes, length (u64), XXH3-128 with these 16 bytes zero. Version 1: digest of
# the whole file; version 2: of the list of XXH3-128 of each MiB before the seal, and of the seal.
_SEAL = struct.Struct("<8sI4xQ16s")
_SEAL_AT = 24  # position of the digest


_BLOCK = 512  # bytes of the seal, which is at the end of a file; earlier versions have it at the beginning


def _seal_at(file: BinaryIO, path: Path) -> int | None:
    """Position of the seal in an open file, None without one; the length in the seal must be the file's length."""
    size = os.fstat(file.fileno()).st_size
    for at in (max(size - _BLOCK, 0), 0):
        file.seek(at)
        head = file.read(_SEAL.size)
        if len(head) == _SEAL.size and head.startswith(b"SIMSEAL\n"):
            length = int(_SEAL.unpack(head)[2])
            if length != size:
                raise DamagedError(f"{path}: cut short or damaged: {size} bytes long, not {length}")
            return at
    return None


def _hdf5_end(path: Path) -> int:
    """End of the HDF5 part, from its superblock; a program that writes to the file cuts off what is behind."""
    with builtins.open(path, "rb") as file:
        head = file.read(48)
    return int.from_bytes(head[40:48] if head[8] < 2 else head[28:36], "little")


def _unsealed(path: Path) -> bool:
    """False if a file without a seal never had one. Otherwise the file is cut short, or another program wrote to it."""
    with reading(path) as file:
        if "seal" in file.attrs:
            raise DamagedError(f"{path}: its seal is gone: cut short, or changed by another program")
    return False


def verify(path: Path) -> bool:
    """Compares all bytes of a file with the digest in its seal; False where it never had a seal.

    Raises
    ------
    DamagedError
        They differ, or the seal is gone.
    MissingToolError
        The package xxhash is not installed.
    """
    try:
        import xxhash
    except ImportError:
        raise MissingToolError("--verify needs the package xxhash: pip install xxhash") from None
    try:
        with builtins.open(path, "rb") as file:
            place = _seal_at(file, path)
            if place is None:
                return _unsealed(path)
            file.seek(place)
            seal = file.read(_BLOCK)
            _, version, _, stored = _SEAL.unpack(seal[: _SEAL.size])
            file.seek(0)
            digest = xxhash.xxh3_128()
            left = place
            while left and (block := file.read(min(left, 1 << 20))):
                digest.update(block if version == 1 else xxhash.xxh3_128_digest(block))
                left -= len(block)
            digest.update(seal[:_SEAL_AT] + bytes(len(stored)) + seal[_SEAL.size :])
            file.seek(place + _BLOCK)
            while block := file.read(1 << 20):  # in version 1 the seal may be the first block
                digest.update(block)
    except FileNotFoundError:
        raise NotFoundError(f"{path}: no such file (a run that goes on may have replaced it)") from None
    except OSError as error:
        raise NotFoundError(f"{path}: {error.strerror or error}") from None
    if digest.digest() != stored:
        raise DamagedError(f"{path}: damaged: its digest does not match its content")
    return True


def _reason(error: Exception) -> str:
    """The message of Python or HDF5 for an error, as one line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _open(path: Path) -> Any:
    try:
        return h5py.File(path, "r", locking=False)
    except OSError as error:
        if "file locking" not in str(error):
            raise
    return h5py.File(path, "r")  # open in this process with a lock; HDF5 wants all readers alike


@contextmanager
def reading(path: Path) -> Iterator[Any]:
    """Opens a file without a lock; any error of HDF5 becomes a `SimviewError`.

    Parameters
    ----------
    path
        The file. It may be replaced by rename while it is open: the open file stays whole.

    Yields
    ------
    h5py.File
    """
    try:
        with builtins.open(path, "rb") as plain_file:
            sealed = _seal_at(plain_file, path) is not None
        file = _open(path)
    except FileNotFoundError:
        raise NotFoundError(f"{path}: no such file (a run that goes on may have replaced it)") from None
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM):
            raise NotFoundError(f"{path}: no permission to read it") from None
        raise DamagedError(f"{path}: cut short or damaged (HDF5 cannot open it: {_reason(error)})") from None
    try:
        with file:
            if not sealed and "seal" in file.attrs and _hdf5_end(path) != path.stat().st_size:
                raise DamagedError(f"{path}: cut short or damaged: its seal is gone")
            yield file
    except SimviewError:
        raise
    except KeyError as error:
        raise DamagedError(f"{path}: not as sim writes it: {str(error.args[0]).splitlines()[0]}") from None
    except (OSError, RuntimeError, ValueError, TypeError, StopIteration, AttributeError, IndexError, OverflowError) as error:
        raise DamagedError(f"{path}: cut short or damaged: {_reason(error)}") from None


def text(value: Any) -> str:
    """A string of a file, of fixed or variable length, as `str`."""
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def plain(value: Any) -> Any:
    """An attribute as a plain Python value."""
    if isinstance(value, bytes):
        return text(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value]
    return value


@dataclass(frozen=True)
class Values:
    """Source of the values of a component: a dataset in the file, or one constant for all."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    unit_si: float
    constant: Any = None

    @classmethod
    def of(cls, item: Any) -> Values:
        """Source of an openPMD component: a dataset, or a group with the attributes ``value`` and ``shape``."""
        unit_si = float(item.attrs.get("unitSI", 1.0))
        if isinstance(item, h5py.Dataset):
            return cls(tuple(item.shape), item.dtype, unit_si)
        value = np.asarray(item.attrs["value"])
        shape = tuple(int(n) for n in np.atleast_1d(item.attrs["shape"]))
        return cls(shape, value.dtype, unit_si, value[()] if value.shape == () else value.flat[0])

    def read(self, item: Any, key: Any = ...) -> Array:
        """Reads the values; a constant becomes a read-only view that takes no memory."""
        if self.constant is not None:
            values: Array = np.broadcast_to(np.asarray(self.constant), self.shape)
            return np.asarray(values[key])
        return np.asarray(item[key])


def extent_in_file(dataset: Any) -> tuple[int, int] | None:
    """A new file descriptor and an offset for a contiguous dataset, to be read without HDF5's lock.

    The caller closes the descriptor. None where the values are in chunks or not in the file itself.
    """
    if not isinstance(dataset, h5py.Dataset) or dataset.chunks is not None or dataset.is_virtual:
        return None
    offset = dataset.id.get_offset()
    if offset is None or dataset.size == 0 or dataset.dtype.hasobject:
        return None
    return os.dup(dataset.file.id.get_vfd_handle()), int(offset)


def read_extent(descriptor: int, offset: int, out: Array, path: Path) -> None:
    """Fills `out` from a descriptor of `extent_in_file`, and closes it. Many threads may do this at the same time."""
    try:
        view = memoryview(out.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
        while len(view):
            got = os.preadv(descriptor, [view], offset)
            if got <= 0:
                raise DamagedError(f"{path}: cut short")
            view, offset = view[got:], offset + got
    finally:
        os.close(descriptor)
