"""Reading bytes by address: one byte, eight bytes, or a mask over thirty-two.

Kernels address the input by a plain integer, so that the last bytes of a buffer can be read from
a padded copy under the same positions: every address may be read 64 bytes past the end.
A mask has bit i set where byte i is of the class; LLVM turns it into a few vector compares on
every processor, and into a loop on none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from xstreamcast.kernels.compiled import bare_helper, bare_inlined, bare_kernel, written_out
from xstreamcast.tape.layout import WIDTH as WIDTH

PADDING = 64  # bytes that must be readable after the end

entry, inlined, helper = bare_kernel, bare_inlined, bare_helper


def intrinsic(function: Callable[..., Any]) -> Callable[..., int]:
    """A function whose instructions are written out; its first parameter is numba's."""
    return cast(Callable[..., int], written_out(function))


@intrinsic
def byte(typingctx: Any, address: Any) -> Any:
    """The byte at `address`."""
    from xstreamcast.tape.tokenize.byte_classes import BYTE, WORD, at, integers

    return integers(lambda builder, address: builder.zext(at(builder, address, BYTE), WORD))


@intrinsic
def eight(typingctx: Any, address: Any) -> Any:
    """The eight bytes at `address` as one little-endian integer."""
    from xstreamcast.tape.tokenize.byte_classes import WORD, at, integers

    return integers(lambda builder, address: at(builder, address, WORD))


@intrinsic
def first(typingctx: Any, mask: Any) -> Any:
    """The number of the lowest bit that is set; 64 for none."""
    from llvmlite import ir  # type: ignore[import-untyped]

    from xstreamcast.tape.tokenize.byte_classes import integers

    return integers(lambda builder, mask: builder.cttz(mask, ir.Constant(ir.IntType(1), 0)))


@intrinsic
def text_stops(typingctx: Any, address: Any) -> Any:
    """Where character data needs a look: `<`, `&`, `]`, controls but tab and LF, not ASCII."""
    from xstreamcast.tape.tokenize.byte_classes import ByteClass, mask

    def stops(v: ByteClass) -> Any:
        odd = v.without(v.control_or_wide(), v.is_any("\t\n"))
        return v.either(odd, v.is_any("<&]"))

    return mask(stops)


@intrinsic
def value_stops(typingctx: Any, address: Any, quote: Any) -> Any:
    """Where an attribute value needs a look: its quote, `<`, `&`, controls, not ASCII."""
    from xstreamcast.tape.tokenize.byte_classes import ByteClass, mask

    def stops(v: ByteClass, quote: Any) -> Any:
        return v.either(v.control_or_wide(), v.is_any("<&"), v.is_byte(quote))

    return mask(stops, 2)


@intrinsic
def plain_stops(typingctx: Any, address: Any, stop: Any) -> Any:
    """Where a comment, PI or CDATA section needs a look: `stop`, controls but tab and LF, wide."""
    from xstreamcast.tape.tokenize.byte_classes import ByteClass, mask

    def stops(v: ByteClass, stop: Any) -> Any:
        odd = v.without(v.control_or_wide(), v.is_any("\t\n"))
        return v.either(odd, v.is_byte(stop))

    return mask(stops, 2)


@intrinsic
def name_stops(typingctx: Any, address: Any) -> Any:
    """Where a name ends: white space or a control, `>`, `/`, `=`."""
    from xstreamcast.tape.tokenize.byte_classes import mask

    return mask(lambda v: v.either(v.below(0x21), v.is_any(">/=")))


@intrinsic
def tag_stops(typingctx: Any, address: Any) -> Any:
    """Where the end of a tag may be, or a quote that hides it: `>`, `"`, `'`."""
    from xstreamcast.tape.tokenize.byte_classes import mask

    return mask(lambda v: v.is_any(">\"'"))


@intrinsic
def tag_starts(typingctx: Any, address: Any) -> Any:
    """Where markup begins: `<`."""
    from xstreamcast.tape.tokenize.byte_classes import mask

    return mask(lambda v: v.is_any("<"))
