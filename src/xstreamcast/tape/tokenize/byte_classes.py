"""What a class of bytes is made of: the vector compares that an intrinsic of the tokeniser writes.

Imported while a kernel is compiled and not before: it needs numba and LLVM.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from xstreamcast.tape.layout import WIDTH

BYTE, WORD, HALF = ir.IntType(8), ir.IntType(64), ir.IntType(WIDTH)
VECTOR = ir.VectorType(BYTE, WIDTH)

Written = tuple[Any, Callable[..., Any]]


def at(builder: Any, address: Any, kind: Any) -> Any:
    """What is at an address, aligned or not."""
    return builder.load(builder.inttoptr(address, kind.as_pointer()), align=1)


def integers(build: Callable[..., Any], arguments: int = 1) -> Written:
    """An intrinsic from int64 to int64: `build` gets the builder and the arguments."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return build(builder, *args)

    return types.int64(*[types.int64] * arguments), generate


def mask(build: Callable[..., Any], arguments: int = 1) -> Written:
    """A mask over the bytes at the first argument: `build` gets their class, then the others."""
    return integers(lambda builder, first, *others: _bits(builder, first, build, others), arguments)


def _bits(builder: Any, first: Any, build: Callable[..., Any], others: tuple[Any, ...]) -> Any:
    found = ByteClass(builder, first)
    return found.bits(build(found, *others))


class ByteClass:
    """Builds the compares of one class of bytes."""

    def __init__(self, builder: Any, address: Any) -> None:
        self.builder = builder
        self.bytes = at(builder, address, VECTOR)

    def is_any(self, characters: str) -> Any:
        found = [
            self.builder.icmp_unsigned("==", self.bytes, self._all(ord(c))) for c in characters
        ]
        return self.either(*found)

    def below(self, limit: int) -> Any:
        return self.builder.icmp_unsigned("<", self.bytes, self._all(limit))

    def control_or_wide(self) -> Any:
        """Below a space or not ASCII: as a signed number, below 32."""
        return self.builder.icmp_signed("<", self.bytes, self._all(0x20))

    def is_byte(self, value: Any) -> Any:
        """Equal to a byte that is known only when the kernel runs."""
        single = self.builder.insert_element(
            ir.Constant(VECTOR, ir.Undefined),
            self.builder.trunc(value, BYTE),
            ir.Constant(ir.IntType(32), 0),
        )
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        spread = self.builder.shuffle_vector(single, ir.Constant(VECTOR, ir.Undefined), lanes)
        return self.builder.icmp_unsigned("==", self.bytes, spread)

    def either(self, *masks: Any) -> Any:
        found = masks[0]
        for mask in masks[1:]:
            found = self.builder.or_(found, mask)
        return found

    def without(self, mask: Any, other: Any) -> Any:
        return self.builder.and_(mask, self.builder.not_(other))

    def bits(self, mask: Any) -> Any:
        return self.builder.zext(self.builder.bitcast(mask, HALF), WORD)

    @staticmethod
    def _all(value: int) -> Any:
        return ir.Constant(VECTOR, [value] * WIDTH)
