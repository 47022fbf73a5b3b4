"""Which arrays a kernel never writes to, proved over its LLVM code.

A read-only array may be given where that is proved, so that one compiled form serves both kinds.
What a pointer becomes is followed through the function and into those it calls; whatever is not
known to leave the memory as it is counts as writing.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from xstreamcast.kernels.ahead.forms import Array, Form, Record, Scalar

_DATA = 4  # an array is passed as: memory, parent, items, width, data, shape, strides
_DERIVES = frozenset(("getelementptr", "phi", "select", "freeze", "bitcast"))
# Addresses as numbers: how LLVM asks whether two arrays overlap. None becomes a pointer again.
_NUMBERS = frozenset(("ptrtoint", "add", "sub", "and"))
_READS = frozenset(("load", "icmp"))
_PROVED = frozenset((b"readonly", b"readnone"))  # by LLVM itself
_FREES = "NRT_Free"  # a copy, made where what is copied overlaps; never what was given
_COPIES = ("llvm.memcpy.", "llvm.memmove.")  # to the first argument, from the second


@dataclass(frozen=True, slots=True)
class _Instruction:
    opcode: str
    result: int
    operands: tuple[int, ...]
    callee: str  # of a call


class LlvmModule:
    """The functions of a module, as far as pointers go."""

    def __init__(self, module: Any) -> None:
        self._functions = {f.name: f for f in module.functions if not f.is_declaration}
        self._read: dict[str, list[_Instruction]] = {}

    def arrays_only_read(self, name: str, forms: tuple[Form, ...]) -> list[bool]:
        """For each array among the arguments of a kernel, in order."""
        at, found = 2, list[bool]()  # after the answer and the error
        for width in [width for form in forms for width in _widths(form)]:
            if width > 1:
                found.append(self._only_read(name, at + _DATA, frozenset()))
            at += width
        assert at == len(list(self._functions[name].arguments))
        return found

    def _only_read(self, name: str, index: int, above: frozenset[tuple[str, int]]) -> bool:
        """Whether a function leaves alone what its argument of that number points to."""
        if (name, index) in above:  # it calls itself: as good as its other instructions are
            return True
        argument = list(self._functions[name].arguments)[index]
        if not _PROVED.isdisjoint(argument.attributes):
            return True
        instructions = self._instructions(name)
        derived = _derived(_identity(argument), instructions)
        above |= {(name, index)}
        return all(self._harmless(one, derived, above) for one in instructions)

    def _harmless(
        self, one: _Instruction, derived: set[int], above: frozenset[tuple[str, int]]
    ) -> bool:
        places = [i for i, operand in enumerate(one.operands) if operand in derived]
        if not places or one.opcode in _DERIVES | _NUMBERS | _READS:
            return True
        if one.opcode != "call":
            return False
        if one.callee.startswith(_COPIES):
            return places == [1]
        if one.callee == _FREES:
            return True
        if one.callee not in self._functions:
            return False
        return all(self._only_read(one.callee, place, above) for place in places)

    def _instructions(self, name: str) -> list[_Instruction]:
        if name not in self._read:
            blocks = self._functions[name].blocks
            self._read[name] = [_instruction(i) for block in blocks for i in block.instructions]
        return self._read[name]


def _instruction(one: Any) -> _Instruction:
    operands = list(one.operands)
    callee = operands.pop().name if one.opcode == "call" else ""
    return _Instruction(one.opcode, _identity(one), tuple(map(_identity, operands)), callee)


def _identity(value: Any) -> int:
    return ctypes.cast(value._ptr, ctypes.c_void_p).value or 0


def _derived(pointer: int, instructions: list[_Instruction]) -> set[int]:
    """All pointers that are made from one."""
    found, size = {pointer}, 0
    while size != len(found):
        size = len(found)
        for one in instructions:
            if one.opcode in _DERIVES | _NUMBERS and not found.isdisjoint(one.operands):
                found.add(one.result)
    return found


def _widths(form: Form) -> list[int]:
    """How many arguments of the compiled function each part of a form takes."""
    match form:
        case Scalar():
            return [1]
        case Array():
            return [5 + 2 * form.dimensions]
        case Record():
            return [width for field in form.fields for width in _widths(field)]
