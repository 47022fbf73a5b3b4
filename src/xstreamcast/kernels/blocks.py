"""Runs of rows copied from one array to another, as memory."""

from __future__ import annotations

from typing import Any

from xstreamcast.kernels.compiled import written_out


@written_out
def copy_block(typing: Any, out: Any, at: Any, source: Any, first: Any, count: Any) -> Any:
    """out[at : at + count] = source[first : first + count], where both are sure to be there."""
    from numba import types
    from numba.core import cgutils, config
    from numba.np import arrayobj

    write: Any = cgutils
    arrays: Any = arrayobj

    def place(context: Any, builder: Any, kind: Any, array: Any, index: Any, count: Any) -> Any:
        made = arrays.make_array(kind)(context, builder, array)
        if config.BOUNDSCHECK:  # type: ignore[attr-defined]
            (size,) = write.unpack_tuple(builder, made.shape)
            with write.if_likely(builder, write.is_not_null(builder, count)):
                last = builder.sub(builder.add(index, count), count.type(1))
                write.do_boundscheck(context, builder, index, size)
                write.do_boundscheck(context, builder, last, size)
        return builder.gep(made.data, [index])

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds, n = signature.args, args[4]
        to = place(context, builder, kinds[0], args[0], args[1], n)
        begin = place(context, builder, kinds[2], args[2], args[3], n)
        width = context.get_abi_sizeof(context.get_data_type(kinds[0].dtype))
        write.raw_memcpy(builder, to, begin, n, width)
        return context.get_dummy_value()

    return types.void(out, types.intp, source, types.intp, types.intp), generate
