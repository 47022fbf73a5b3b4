"""The function that Python calls: it checks the arguments, calls the kernel, boxes the answer.

    PyObject *entry(PyObject *self, PyObject *const *args, Py_ssize_t count)

Arguments of another form than the kernel was compiled for → NotImplemented, before anything was
done. What differs from process to process (types, dtypes, functions of numpy) is in `slots`,
an array that `loading` fills. Offsets are those of CPython's and numpy 2's objects, which their
binary interfaces fix. The arrays are borrowed: no reference is counted while the kernel runs.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types

from xstreamcast.kernels.ahead.forms import Array, Form, Record, Scalar

_cg: Any = cgutils
_PTR, _I8, _I32, _I64 = ir.IntType(8).as_pointer(), ir.IntType(8), ir.IntType(32), ir.IntType(64)
# In an object: its type. In an array: data, number of dimensions, dimensions, dtype, flags.
_TYPE, _DATA, _NDIM, _SHAPE, _STRIDES, _DTYPE, _FLAGS = 8, 16, 24, 32, 40, 56, 64
_BYTE_ORDER, _TYPE_NUMBER = 26, 28  # in a dtype
_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
_EQUAL = 2  # Py_EQ

Slot = list[str]  # what `loading` puts there, in words of the manifest


class NoWrapperError(Exception):
    """An answer of a type that cannot be boxed here."""


class Wrapper:
    """Writes the function that Python calls into a module of LLVM."""

    def __init__(self, context: Any, module: Any, kernel: Any, symbol: str) -> None:
        self._context, self._module, self._kernel = context, module, kernel
        self.slots: list[Slot] = []
        self._symbol = symbol
        signature = ir.FunctionType(_PTR, [_PTR, _PTR.as_pointer(), _I64])
        self._entry = ir.Function(module, signature, name=f"xsc_{symbol}")
        self._b = ir.IRBuilder(self._entry.append_basic_block("entry"))
        self._miss = self._entry.append_basic_block("miss")
        self._table = ir.GlobalVariable(module, ir.ArrayType(_PTR, 64), f"xsc_slots_{symbol}")
        self._table.initializer = ir.Constant(self._table.type.pointee, None)

    def write(self, fndesc: Any, forms: tuple[Form, ...], read_only: list[bool]) -> list[Slot]:
        """Write all of it → what the slots must hold."""
        _self, given, count = self._entry.args
        self._demand(self._b.icmp_unsigned("==", count, _I64(len(forms))))
        objects = [self._b.load(self._b.gep(given, [_I64(i)])) for i in range(len(forms))]
        unwritten = iter(read_only)
        native = [
            self._native(obj, form, kind, unwritten)
            for obj, form, kind in zip(objects, forms, fndesc.argtypes, strict=True)
        ]
        state = self._call("PyEval_SaveThread", _PTR, [])
        status, answer = self._context.call_conv.call_function(
            self._b, self._kernel, fndesc.restype, fndesc.argtypes, native
        )
        self._call("PyEval_RestoreThread", ir.VoidType(), [state])
        with _cg.if_unlikely(self._b, self._b.not_(status.is_ok)):
            self._b.ret(self._failed(status))
        self._b.ret(self._boxed(fndesc.restype, answer))
        self._b.position_at_end(self._miss)
        self._b.ret(self._new_reference(self._global("_Py_NotImplementedStruct")))
        return self.slots

    # arguments

    def _native(self, obj: Any, form: Form, kind: Any, unwritten: Any) -> Any:
        match form:
            case Scalar():
                return self._scalar(obj, form.name)
            case Array():
                return self._array(obj, form, kind, next(unwritten))
            case Record():
                self._demand(
                    self._same(self._at(obj, _TYPE, _PTR), self._slot("class", _path(form.of)))
                )
                parts = [
                    self._native(self._item(obj, i), field, kind.types[i], unwritten)
                    for i, field in enumerate(form.fields)
                ]
                return self._context.make_tuple(self._b, kind, parts)

    def _item(self, obj: Any, index: int) -> Any:
        return self._call("PyTuple_GetItem", _PTR, [obj, _I64(index)])

    def _array(self, obj: Any, form: Array, kind: Any, only_read: bool) -> Any:
        self._demand(self._same(self._at(obj, _TYPE, _PTR), self._slot("ndarray")))
        self._demand(self._b.icmp_signed("==", self._at(obj, _NDIM, _I32), _I32(form.dimensions)))
        needed = _I32(_CONTIGUOUS | _ALIGNED | (0 if only_read else _WRITEABLE))
        flags = self._b.and_(self._at(obj, _FLAGS, _I32), needed)
        self._demand(self._b.icmp_signed("==", flags, needed))
        self._demand(self._is_dtype(self._at(obj, _DTYPE, _PTR), form.dtype))
        made = _cg.create_struct_proxy(kind)(self._context, self._b)
        shape = self._each(self._at(obj, _SHAPE, _I64.as_pointer()), form.dimensions)
        strides = self._each(self._at(obj, _STRIDES, _I64.as_pointer()), form.dimensions)
        made.meminfo = ir.Constant(made.meminfo.type, None)
        made.parent = ir.Constant(made.parent.type, None)
        made.nitems, made.itemsize = reduce(self._b.mul, shape), _I64(form.dtype.itemsize)
        made.data = self._b.bitcast(self._at(obj, _DATA, _PTR), made.data.type)
        made.shape = _cg.pack_array(self._b, shape)
        made.strides = _cg.pack_array(self._b, strides)
        return made._getvalue()

    def _each(self, numbers: Any, count: int) -> list[Any]:
        return [self._b.load(self._b.gep(numbers, [_I64(i)])) for i in range(count)]

    def _is_dtype(self, obj: Any, dtype: Any) -> Any:
        """Whether a dtype is ours: by its number, as copies of it are; by value if it has none."""
        if dtype.fields is not None:
            ours = self._slot("dtype", *(f"{name}:{kind}" for name, kind in dtype.descr))
            same = self._call("PyObject_RichCompareBool", _I32, [obj, ours, _I32(_EQUAL)])
            return self._b.icmp_signed("==", same, _I32(1))
        number = self._at(obj, _TYPE_NUMBER, _I32)
        right = self._b.icmp_signed("==", number, _I32(dtype.num))
        if dtype.kind in "iu" and dtype.itemsize == 8:  # long and long long are one
            other = np.dtype("q" if dtype.char == "l" else "Q").num
            right = self._b.or_(right, self._b.icmp_signed("==", number, _I32(other)))
        order = self._at(obj, _BYTE_ORDER, _I8)
        return self._b.and_(right, self._b.icmp_signed("!=", order, _I8(ord(">"))))

    def _scalar(self, obj: Any, name: str) -> Any:
        match name:
            case "bool":
                return self._truth(obj)
            case "float64":
                self._demand(self._is_type(obj, "PyFloat_Type"))
                return self._call("PyFloat_AsDouble", ir.DoubleType(), [obj])
            case "int64":
                return self._integer(obj)
            case _:
                raise NoWrapperError(f"an argument of type {name}")

    def _truth(self, obj: Any) -> Any:
        truth = self._same(obj, self._global("_Py_TrueStruct"))
        untruth = self._same(obj, self._global("_Py_FalseStruct"))
        numpys = self._same(self._at(obj, _TYPE, _PTR), self._slot("bool"))
        self._demand(self._b.or_(numpys, self._b.or_(truth, untruth)))
        return self._b.icmp_signed("==", self._call("PyObject_IsTrue", _I32, [obj]), _I32(1))

    def _integer(self, obj: Any) -> Any:
        """An integer of Python or numpy that fits; True and False are none."""
        plain = self._is_type(obj, "PyLong_Type")
        kind = self._at(obj, _TYPE, _PTR)
        for name in ("int64", "int32", "uint8", "uint16"):
            plain = self._b.or_(plain, self._same(kind, self._slot("scalar", name)))
        self._demand(plain)
        number = self._call("PyNumber_Index", _PTR, [obj])
        over = _cg.alloca_once(self._b, _I32)
        value = self._call("PyLong_AsLongLongAndOverflow", _I64, [number, over])
        self._call("Py_DecRef", ir.VoidType(), [number])
        self._demand(self._b.icmp_signed("==", self._b.load(over), _I32(0)))
        return value

    # answers

    def _boxed(self, kind: Any, value: Any) -> Any:
        match kind:
            case types.NoneType():
                return self._new_reference(self._global("_Py_NoneStruct"))
            case types.Boolean():
                return self._call("PyBool_FromLong", _PTR, [self._b.zext(value, _I64)])
            case types.Integer():
                return self._boxed_integer(kind, value)
            case types.Float() if kind.bitwidth == 64:
                return self._call("PyFloat_FromDouble", _PTR, [value])
            case types.Array() if kind.ndim == 1 and kind.layout == "C" and kind.mutable:
                return self._boxed_array(kind, value)
            case types.BaseTuple():
                return self._boxed_tuple(kind, value)
            case _:
                raise NoWrapperError(f"an answer of type {kind}")

    def _boxed_integer(self, kind: Any, value: Any) -> Any:
        if kind.signed:
            return self._call("PyLong_FromLongLong", _PTR, [_widened(self._b.sext, value)])
        return self._call("PyLong_FromUnsignedLongLong", _PTR, [_widened(self._b.zext, value)])

    def _boxed_tuple(self, kind: Any, value: Any) -> Any:
        parts = _cg.unpack_tuple(self._b, value, len(kind))
        boxed = [self._boxed(one, part) for one, part in zip(kind.types, parts, strict=True)]
        packed = self._call("PyTuple_New", _PTR, [_I64(len(boxed))])
        for i, one in enumerate(boxed):
            self._call("PyTuple_SetItem", _I32, [packed, _I64(i), one])
        if not hasattr(kind, "instance_class"):
            return packed
        of = self._slot("class", _path(kind.instance_class))
        made = self._call("PyObject_CallObject", _PTR, [of, packed])
        self._call("Py_DecRef", ir.VoidType(), [packed])
        return made

    def _boxed_array(self, kind: Any, value: Any) -> Any:
        """A numpy array over the memory that the kernel made; the array gives it back."""
        from numba.np.numpy_support import as_dtype

        got = _cg.create_struct_proxy(kind)(self._context, self._b, value=value)
        dtype = self._slot("dtype", as_dtype(kind.dtype).str)
        given = [self._slot("ndarray"), dtype, self._slot("new array"), self._slot("set base")]
        memory = [self._b.bitcast(one, _PTR) for one in (got.meminfo, got.data)]
        return self._call("xsc_array", _PTR, [*given, *memory, got.nitems])

    def _failed(self, status: Any) -> Any:
        """The error that a kernel raised, raised again: `loading` reads what numba wrote down."""
        nothing = ir.Constant(_PTR, None)
        raised = _cg.alloca_once_value(self._b, nothing)
        size = _cg.alloca_once_value(self._b, _I32(0))
        with self._b.if_then(status.is_user_exc):
            told = self._b.load(status.excinfoptr)
            self._b.store(self._b.bitcast(self._b.extract_value(told, 0), _PTR), raised)
            self._b.store(self._b.extract_value(told, 1), size)
        at, length = self._b.load(raised), self._b.load(size)
        return self._call("xsc_failed", _PTR, [self._slot("failed"), status.code, at, length])

    # what both are made of

    def _demand(self, fits: Any) -> None:
        """Go on if it is so; else the arguments are not for this kernel."""
        following = self._entry.append_basic_block()
        self._b.cbranch(fits, following, self._miss)
        self._b.position_at_end(following)

    def _at(self, obj: Any, offset: int, kind: Any) -> Any:
        place = self._b.gep(obj, [_I64(offset)])
        return self._b.load(self._b.bitcast(place, kind.as_pointer()))

    def _same(self, left: Any, right: Any) -> Any:
        left, right = (self._b.ptrtoint(one, _I64) for one in (left, right))
        return self._b.icmp_unsigned("==", left, right)

    def _is_type(self, obj: Any, name: str) -> Any:
        return self._same(self._at(obj, _TYPE, _PTR), self._global(name))

    def _global(self, name: str) -> Any:
        """The address of an object that the interpreter exports."""
        known = self._module.globals.get(name)
        return known or ir.GlobalVariable(self._module, _I8, name)

    def _slot(self, *what: str) -> Any:
        """What `loading` puts into the slot of that description."""
        if list(what) not in self.slots:
            self.slots.append(list(what))
        place = self._b.gep(self._table, [_I64(0), _I64(self.slots.index(list(what)))])
        return self._b.load(place)

    def _call(self, name: str, answer: Any, given: list[Any]) -> Any:
        signature = ir.FunctionType(answer, [one.type for one in given])
        function = _cg.get_or_insert_function(self._module, signature, name)
        return self._b.call(function, given)

    def _new_reference(self, obj: Any) -> Any:
        self._call("Py_IncRef", ir.VoidType(), [obj])
        return obj


def _widened(extend: Any, value: Any) -> Any:
    return value if value.type.width == 64 else extend(value, _I64)


def _path(of: type) -> str:
    return f"{of.__module__}:{of.__qualname__}"
