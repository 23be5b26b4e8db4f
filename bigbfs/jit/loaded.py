"""Machine code of kernels, loaded from the cache and called without Numba.

What Numba compiles of a kernel is an object file with a function that the interpreter can call: it takes the arguments
apart, lets go of the interpreter lock, runs the kernel and makes the result. It needs LLVM's linker
(``llvmlite.binding``, a tenth of Numba's time to import) and some C functions, which Numba's own extension modules
offer and which load without the rest of it. Numba's own parallel loops are left to it. An object file is used only
where all of that is the same as when it was made (:func:`place`, :func:`stamps`): the versions and files of Numba,
llvmlite, NumPy and Python, the processor, and every file of this package. Else, and for anything unknown here, the
kernel is Numba's.

Source: numba/core/codegen.py, numba/core/cpu.py (get_executable) and numba/core/runtime/nrt.py of Numba 0.68.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import sys
import threading
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

FORMAT = 1
"""Of what :class:`Code` holds."""
LOCK = threading.RLock()
"""Held while a kernel is loaded."""


def _locks() -> list[Any]:
    """Return Numba's own lock where Numba has been imported, then ours: in this order nobody waits in a circle."""
    module = sys.modules.get("numba.core.compiler_lock")
    return [LOCK] if module is None else [module.global_compiler_lock, LOCK]


_before: list[Any] = []


def _before_fork() -> None:
    """Wait until no thread compiles or loads: in a child nobody would ever give back the locks inside LLVM."""
    held = _locks()
    for lock in held:
        lock.acquire()
    _before[:] = held


def _after_fork() -> None:
    """Give the locks back, in the child too, where the only thread is the one that took them."""
    while _before:
        _before.pop().release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


class Code(NamedTuple):
    """The machine code of a kernel for one signature.

    Attributes
    ----------
    binary
        An object file.
    entry
        The function in it that the interpreter calls.
    environments
        Names of the variables in it that point to constants, with these; that of the kernel itself is the first.
    """

    binary: bytes
    entry: str
    environments: tuple[tuple[str, tuple[Any, ...]], ...]


def code_of(data: tuple[Any, ...]) -> Code | None:
    """Return what is kept of a kernel that Numba has compiled; None where it needs more than can be given it here.

    ``data`` is what Numba puts into its own cache: library, description, environment, signature, ...
    """
    (_, kind, binary), description, environment, _, objectmode, lifted, _, reload, referenced = data
    if kind != "object" or objectmode or lifted or reload:  # the last of these: parallel loops of Numba's own
        return None
    others = {each.env_name: each for each in referenced if each.env_name != environment.env_name}
    environments = tuple((each.env_name, tuple(each.consts)) for each in (environment, *others.values()))
    if not all(_simple(constant) for _, constants in environments for constant in constants):
        return None
    return Code(bytes(binary[0]), description.llvm_cpython_wrapper_name, environments)


def _simple(constant: Any) -> bool:
    """Tell whether a constant means the same in another process without Numba."""
    return isinstance(constant, np.dtype | int | float | str | bytes | None) or constant is np.ndarray


@cache
def _numba_folder() -> Path | None:
    spec = find_spec("numba")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


@cache
def place() -> tuple[Any, ...]:
    """Return what machine code is for: the Python, the processor, and where Numba is."""
    from llvmlite import binding

    processor = (binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    return (sys.version, str(_numba_folder()), processor)


@cache
def stamps() -> tuple[Any, ...]:
    """Return what machine code depends on there, beside the files of this package."""
    import llvmlite

    folder = _numba_folder()
    assert folder is not None
    files = [folder / "_version.py", *(folder / f"{name}{EXTENSION_SUFFIXES[0]}" for name in _EXTENSIONS.values())]
    found = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return (FORMAT, np.__version__, llvmlite.__version__, found)


_EXTENSIONS = {
    "numba._helperlib": "_helperlib",
    "numba._dynfunc": "_dynfunc",
    "numba.core.runtime._nrt_python": "core/runtime/_nrt_python",
}


def _extension(name: str) -> ModuleType:
    """Return an extension module of Numba's, under its name, so that Numba, imported later, takes the same one."""
    if name not in sys.modules:
        folder = _numba_folder()
        if folder is None:
            raise ImportError(name)
        path = str(folder / f"{_EXTENSIONS[name]}{EXTENSION_SUFFIXES[0]}")
        loader = ExtensionFileLoader(name, path)
        module = module_from_spec(ModuleSpec(name, loader, origin=path))
        loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]


@ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
def _unpickled(data: int, length: int, _: int) -> Any:
    """Return an object that machine code holds pickled, a class or what an exception is made of; Numba's own function
    of this name imports Numba first."""
    return pickle.loads(ctypes.string_at(data, length))


@cache
def _engine() -> Any:
    """Return the linker, with the functions of C that machine code calls."""
    from llvmlite import binding

    runtime, helpers = _extension("numba.core.runtime._nrt_python"), _extension("numba._helperlib")
    runtime.memsys_use_cpython_allocator()
    for name, address in runtime.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
    for name, address in helpers.c_helpers.items():
        binding.add_symbol(f"numba_{name}", address)
        binding.add_symbol(name, address)  # functions of mathematics
    if "numba" not in sys.modules:
        binding.add_symbol("numba_unpickle", ctypes.cast(_unpickled, ctypes.c_void_p).value)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(jit=True)
    empty = binding.parse_assembly(f'target triple = "{binding.get_default_triple()}"')
    return binding.create_mcjit_compiler(empty, machine)


def function_of(code: Code, name: str, module: str) -> Any:
    """Return the function that runs ``code``; None where something that it needs is not there.

    ``name`` and ``module`` are those of the kernel.
    """
    with LOCK:
        from llvmlite import binding

        engine, dynamic = _engine(), _extension("numba._dynfunc")
        engine.add_object_file(binding.ObjectFileRef.from_data(code.binary))
        engine.finalize_object()
        address = engine.get_function_address(code.entry)
        if not address:
            return None
        made = []
        for variable, constants in code.environments:
            environment = dynamic.Environment(vars(sys.modules[module]))
            environment.consts.extend(constants)
            place = engine.get_global_value_address(variable)
            if place:
                ctypes.c_void_p.from_address(place).value = id(environment)
            made.append(environment)
        return dynamic.make_function(sys.modules[module], name, "", address, made[0], (engine, *made[1:]))
