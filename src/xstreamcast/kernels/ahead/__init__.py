"""Kernels compiled ahead: object code of all of them in one library, called without numba.

    forms      the types of a kernel's parameters, from its annotations
    stamps     what a library must agree with: sources, processor, layout of objects
    finding    the kernels of the package that Python calls, and the files each is made from
    only_read  the arrays that a kernel never writes to, so that read-only ones may be given
    wrapping   the function that Python calls: checks arguments, calls the kernel, boxes its answer
    runtime    what numba's runtime does for a kernel, without numba
    compiling  one kernel → object code (imports numba)
    building   all kernels → one library and its manifest, two kernels at a time
    loading    the library → functions (imports neither numba nor LLVM)

`xstreamcast kernels` builds; `make install` and `make wheel` call it.
"""
