"""Reading bytes by address: one byte, eight bytes, or a mask over thirty-two.

Kernels address the input by a plain integer, so that the last bytes of a buffer can be read from
a padded copy under the same positions: every address may be read 64 bytes past the end.
A mask has bit i set where byte i is of the class; LLVM turns it into a few vector compares on
every processor, and into a loop on none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic as _intrinsic

from xstreamcast.kernels.kernel_cache import cached

WIDTH = 32  # bytes per mask
PADDING = 64  # bytes that must be readable after the end

_BYTE, _WORD, _HALF = ir.IntType(8), ir.IntType(64), ir.IntType(WIDTH)
_VECTOR = ir.VectorType(_BYTE, WIDTH)


# Without numba's reference counts: the kernels make no arrays, their callers keep them alive, and
# the counts of thirty arrays at every call would cost more than the work.
_BARE: Any = {"nogil": True, "error_model": "numpy", "_nrt": False}


def entry(function: Callable[..., Any]) -> Any:
    """`function`, compiled with all that it calls, and cached; Python calls it."""
    return cached(function, **_BARE)


def inlined(function: Callable[..., Any]) -> Any:
    """`function`, compiled into its callers."""
    return njit(forceinline=True, **_BARE)(function)


def helper(function: Callable[..., Any]) -> Any:
    """`function`, compiled once and called: for what is rare."""
    return njit(**_BARE)(function)


def intrinsic(function: Callable[..., Any]) -> Callable[..., int]:
    """A function whose instructions are written out; its first parameter is numba's."""
    return cast(Callable[..., int], _intrinsic(function))


def _at(builder: Any, address: Any, kind: Any) -> Any:
    return builder.load(builder.inttoptr(address, kind.as_pointer()), align=1)


@intrinsic
def byte(typingctx: Any, address: Any) -> Any:
    """The byte at `address`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(_at(builder, args[0], _BYTE), _WORD)

    return types.int64(types.int64), generate


@intrinsic
def eight(typingctx: Any, address: Any) -> Any:
    """The eight bytes at `address` as one little-endian integer."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _at(builder, args[0], _WORD)

    return types.int64(types.int64), generate


@intrinsic
def first(typingctx: Any, mask: Any) -> Any:
    """The number of the lowest bit that is set; 64 for none."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate


class _Class:
    """Builds the compares of one class of bytes."""

    def __init__(self, builder: Any, address: Any) -> None:
        self.builder = builder
        self.bytes = _at(builder, address, _VECTOR)

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
            ir.Constant(_VECTOR, ir.Undefined),
            self.builder.trunc(value, _BYTE),
            ir.Constant(ir.IntType(32), 0),
        )
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        spread = self.builder.shuffle_vector(single, ir.Constant(_VECTOR, ir.Undefined), lanes)
        return self.builder.icmp_unsigned("==", self.bytes, spread)

    def either(self, *masks: Any) -> Any:
        found = masks[0]
        for mask in masks[1:]:
            found = self.builder.or_(found, mask)
        return found

    def without(self, mask: Any, other: Any) -> Any:
        return self.builder.and_(mask, self.builder.not_(other))

    def bits(self, mask: Any) -> Any:
        return self.builder.zext(self.builder.bitcast(mask, _HALF), _WORD)

    @staticmethod
    def _all(value: int) -> Any:
        return ir.Constant(_VECTOR, [value] * WIDTH)


@intrinsic
def text_stops(typingctx: Any, address: Any) -> Any:
    """Where character data needs a look: `<`, `&`, `]`, controls but tab and LF, not ASCII."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        v = _Class(builder, args[0])
        odd = v.without(v.control_or_wide(), v.is_any("\t\n"))
        return v.bits(v.either(odd, v.is_any("<&]")))

    return types.int64(types.int64), generate


@intrinsic
def value_stops(typingctx: Any, address: Any, quote: Any) -> Any:
    """Where an attribute value needs a look: its quote, `<`, `&`, controls, not ASCII."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        v = _Class(builder, args[0])
        return v.bits(v.either(v.control_or_wide(), v.is_any("<&"), v.is_byte(args[1])))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def plain_stops(typingctx: Any, address: Any, stop: Any) -> Any:
    """Where a comment, PI or CDATA section needs a look: `stop`, controls but tab and LF, wide."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        v = _Class(builder, args[0])
        odd = v.without(v.control_or_wide(), v.is_any("\t\n"))
        return v.bits(v.either(odd, v.is_byte(args[1])))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def name_stops(typingctx: Any, address: Any) -> Any:
    """Where a name ends: white space or a control, `>`, `/`, `=`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        v = _Class(builder, args[0])
        return v.bits(v.either(v.below(0x21), v.is_any(">/=")))

    return types.int64(types.int64), generate


@intrinsic
def tag_stops(typingctx: Any, address: Any) -> Any:
    """Where the end of a tag may be, or a quote that hides it: `>`, `"`, `'`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        v = _Class(builder, args[0])
        return v.bits(v.is_any(">\"'"))

    return types.int64(types.int64), generate
