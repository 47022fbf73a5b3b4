"""One kernel as object code. Runs in a process of its own, for one level of a processor.

For another machine numba compiles for the baseline of this one; LLVM then makes that machine's code
of what numba made. Both are little-endian, with pointers of 64 bits and the same layout of structs.
"""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xstreamcast.kernels.ahead.finding import Called
from xstreamcast.kernels.ahead.forms import (
    Array,
    Form,
    NoFormError,
    Record,
    Scalar,
    parameter_forms,
)
from xstreamcast.kernels.ahead.stamps import LEVELS

_OF_ONE_MACHINE = ("x86", "aarch64")  # instructions that LLVM has for one machine alone
# The one of these that numba's reference counts become: subtract, and whether nothing is left.
_X86_RELEASE = re.compile(r"@llvm\.x86\.atomic\.sub\.cc\.i64\((ptr [^,]*, i64 [^,]*), i32 4\)")
_RELEASE = """
define linkonce_odr i8 @xsc_release(ptr %count, i64 %less) {
  %before = atomicrmw sub ptr %count, i64 %less seq_cst
  %last = icmp eq i64 %before, %less
  %found = zext i1 %last to i8
  ret i8 %found
}
"""


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of machine, and a level of its processors by LLVM's name."""

    machine: str
    level: str

    @property
    def is_here(self) -> bool:
        """Whether it is the kind of machine that compiles."""
        return self.machine == platform.machine()

    @property
    def triple(self) -> str:
        """LLVM's name for the machine with its system."""
        return f"{self.machine}-unknown-linux-gnu"


@dataclass(frozen=True, slots=True)
class Compiled:
    """What became of one kernel: an object file and its slots, or why there is none."""

    kernel: Called
    slots: list[list[str]]
    problem: str | None = None


def prepare(target: Target) -> None:
    """Let numba compile for a level in this process, and keep nothing."""
    level = target.level if target.is_here else list(LEVELS[platform.machine()])[-1]
    os.environ["NUMBA_CPU_NAME"], os.environ["NUMBA_CPU_FEATURES"] = level, ""
    os.environ.pop("XSC_BOUNDSCHECK", None)
    from xstreamcast.kernels import kernel_cache

    kernel_cache.compile_for_library()


def compile_kernel(called: Called, target: Target, symbol: str, path: Path) -> Compiled:
    """Compile a kernel into an object file."""
    from numba.core.errors import NumbaError

    from xstreamcast.kernels.ahead.wrapping import NoWrapperError

    try:
        return Compiled(called, _object(called, target, symbol, path))
    except (NoFormError, NoWrapperError, NumbaError) as problem:
        return Compiled(called, [], str(problem))


def _object(called: Called, target: Target, symbol: str, path: Path) -> list[list[str]]:
    import llvmlite.binding as llvm  # type: ignore[import-untyped]

    from xstreamcast.kernels.ahead.only_read import LlvmModule
    from xstreamcast.kernels.ahead.runtime import RUNTIME

    forms = parameter_forms(called.kernel.function)
    compiled = _compiled(called, forms)
    machine = _machine(target)
    module = llvm.parse_assembly(_aimed(compiled.library.get_llvm_str(), target, machine))
    native = compiled.fndesc.llvm_func_name
    only_read = LlvmModule(module).arrays_only_read(native, forms)
    wrapper, slots = _wrapper(compiled, forms, only_read, symbol)
    module.link_in(llvm.parse_assembly(_aimed(wrapper, target, machine)))
    module.link_in(llvm.parse_assembly(RUNTIME))
    _hide(module, machine, {f"xsc_{symbol}", f"xsc_slots_{symbol}"})
    _refuse_unknown(module, target)
    path.write_bytes(machine.emit_object(module))
    return slots


def _compiled(called: Called, forms: tuple[Form, ...]) -> Any:
    """What numba makes of the kernel for arguments of these forms."""
    dispatcher = called.kernel.made()
    signature = tuple(_numba_type(form) for form in forms)
    dispatcher.compile(signature)
    return dispatcher.overloads[signature]


def _numba_type(form: Form) -> Any:
    from numba import types
    from numba.np.numpy_support import from_dtype

    match form:
        case Scalar():
            return getattr(types, "boolean" if form.name == "bool" else form.name)
        case Array():
            return types.Array(from_dtype(form.dtype), form.dimensions, "C")
        case Record():
            make: Any = types.BaseTuple.from_types
            return make([_numba_type(field) for field in form.fields], form.of)


def _wrapper(
    compiled: Any, forms: tuple[Form, ...], only_read: list[bool], symbol: str
) -> tuple[str, list[list[str]]]:
    from xstreamcast.kernels.ahead.wrapping import Wrapper

    context = compiled.target_context
    module = compiled.library.codegen._create_empty_module(symbol)
    kernel = context.declare_function(module, compiled.fndesc)
    slots = Wrapper(context, module, kernel, symbol).write(compiled.fndesc, forms, only_read)
    return str(module), slots


def _machine(target: Target) -> Any:
    import llvmlite.binding as llvm

    if target.is_here:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    else:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.level, opt=3, reloc="pic", codemodel="small"
    )


def _aimed(assembly: str, target: Target, machine: Any) -> str:
    """What numba made, as it is for this machine, or with the names of the target's parts."""
    if target.is_here:
        return assembly
    assembly, found = _X86_RELEASE.subn(r"@xsc_release(\1)", assembly)
    assembly += _RELEASE if found else ""
    assembly = re.sub(r'"target-(cpu|features)"="[^"]*"', "", assembly)
    layout = f'target datalayout = "{machine.target_data}"'
    assembly = re.sub(r"^target datalayout = .*$", layout, assembly, flags=re.MULTILINE)
    triple = f'target triple = "{target.triple}"'
    return re.sub(r"^target triple = .*$", triple, assembly, flags=re.MULTILINE)


def _hide(module: Any, machine: Any, shown: set[str]) -> None:
    """Let only `shown` be seen from outside, and drop what nothing shown leads to."""
    import llvmlite.binding as llvm

    for one in (*module.functions, *module.global_variables):
        if not one.is_declaration and one.name not in shown:
            one.linkage = "internal"
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))


def _refuse_unknown(module: Any, target: Target) -> None:
    from xstreamcast.kernels.ahead.runtime import ALLOWED
    from xstreamcast.kernels.ahead.wrapping import NoWrapperError

    everything = (*module.functions, *module.global_variables)
    needed = {one.name for one in everything if one.is_declaration}
    own = tuple(f"llvm.{one}." for one in _OF_ONE_MACHINE)
    unknown = sorted(
        name for name in needed - ALLOWED
        if not name.startswith("llvm.") or (not target.is_here and name.startswith(own))
    )  # fmt: skip
    if unknown:
        raise NoWrapperError(f"it calls {', '.join(unknown)}")
