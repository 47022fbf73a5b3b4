"""One kernel as object code. Runs in a process of its own, for one level of the processor."""

from __future__ import annotations

import os
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


@dataclass(frozen=True, slots=True)
class Compiled:
    """What became of one kernel: an object file and its slots, or why there is none."""

    kernel: Called
    slots: list[list[str]]
    problem: str | None = None


def prepare(level: str) -> None:
    """Let numba compile for a level in this process, and keep nothing."""
    os.environ["NUMBA_CPU_NAME"], os.environ["NUMBA_CPU_FEATURES"] = level, ""
    os.environ.pop("XSC_BOUNDSCHECK", None)
    from xstreamcast.kernels import kernel_cache

    kernel_cache.compile_for_library()


def compile_kernel(called: Called, level: str, symbol: str, target: Path) -> Compiled:
    """Compile a kernel into the object file `target`."""
    from numba.core.errors import NumbaError

    from xstreamcast.kernels.ahead.wrapping import NoWrapperError

    try:
        return Compiled(called, _object(called, level, symbol, target))
    except (NoFormError, NoWrapperError, NumbaError) as problem:
        return Compiled(called, [], str(problem))


def _object(called: Called, level: str, symbol: str, target: Path) -> list[list[str]]:
    import llvmlite.binding as llvm  # type: ignore[import-untyped]

    from xstreamcast.kernels.ahead.only_read import LlvmModule
    from xstreamcast.kernels.ahead.runtime import RUNTIME

    forms = parameter_forms(called.kernel.function)
    compiled = _compiled(called, forms)
    module = llvm.parse_assembly(compiled.library.get_llvm_str())
    machine = _machine(module.triple, level)
    native = compiled.fndesc.llvm_func_name
    only_read = LlvmModule(module).arrays_only_read(native, forms)
    wrapper, slots = _wrapper(compiled, forms, only_read, symbol)
    module.link_in(llvm.parse_assembly(wrapper))
    module.link_in(llvm.parse_assembly(RUNTIME))
    _hide(module, machine, {f"xsc_{symbol}", f"xsc_slots_{symbol}"})
    _refuse_unknown(module)
    target.write_bytes(machine.emit_object(module))
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


def _machine(triple: str, level: str) -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(triple)
    return target.create_target_machine(cpu=level, opt=3, reloc="pic", codemodel="small")


def _hide(module: Any, machine: Any, shown: set[str]) -> None:
    """Let only `shown` be seen from outside, and drop what nothing shown leads to."""
    import llvmlite.binding as llvm

    for one in (*module.functions, *module.global_variables):
        if not one.is_declaration and one.name not in shown:
            one.linkage = "internal"
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))


def _refuse_unknown(module: Any) -> None:
    from xstreamcast.kernels.ahead.runtime import ALLOWED
    from xstreamcast.kernels.ahead.wrapping import NoWrapperError

    everything = (*module.functions, *module.global_variables)
    needed = {one.name for one in everything if one.is_declaration}
    unknown = sorted(n for n in needed - ALLOWED if not n.startswith("llvm."))
    if unknown:
        raise NoWrapperError(f"it calls {', '.join(unknown)}")
