"""What numba's runtime does for a kernel, in LLVM's assembly: memory that is counted, and boxes.

A kernel's object code calls these by numba's names; they keep numba's layout of a counted block:
count, destructor, its argument, data, size, allocator.
"""

RUNTIME = """
declare ptr @malloc(i64)
declare void @free(ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyCapsule_New(ptr, ptr, ptr)
declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare ptr @PyObject_CallFunction(ptr, ptr, ...)

@xsc_format = internal constant [4 x i8] c"iKi\\00"

define linkonce_odr noalias ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %head = add i64 %wide, 48
  %total = add i64 %head, %size
  %over = icmp ult i64 %total, %size
  br i1 %over, label %none, label %get
get:
  %block = call ptr @malloc(i64 %total)
  %full = icmp eq ptr %block, null
  br i1 %full, label %none, label %fill
none:
  ret ptr null
fill:
  %address = ptrtoint ptr %block to i64
  %behind = add i64 %address, 47
  %far = add i64 %behind, %wide
  %rest = urem i64 %far, %wide
  %place = sub i64 %far, %rest
  %data = inttoptr i64 %place to ptr
  %p1 = getelementptr i8, ptr %block, i64 8
  %p2 = getelementptr i8, ptr %block, i64 16
  %p3 = getelementptr i8, ptr %block, i64 24
  %p4 = getelementptr i8, ptr %block, i64 32
  %p5 = getelementptr i8, ptr %block, i64 40
  store i64 1, ptr %block
  store ptr null, ptr %p1
  store ptr null, ptr %p2
  store ptr %data, ptr %p3
  store i64 %size, ptr %p4
  store ptr null, ptr %p5
  ret ptr %block
}

define linkonce_odr noalias ptr @NRT_MemInfo_alloc_safe_aligned(i64 %size, i32 %align) {
  %block = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align)
  ret ptr %block
}

define linkonce_odr noalias ptr @NRT_MemInfo_alloc(i64 %size) {
  %block = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  ret ptr %block
}

define linkonce_odr noalias ptr @NRT_Allocate(i64 %size) {
  %block = call ptr @malloc(i64 %size)
  ret ptr %block
}

define linkonce_odr void @NRT_Free(ptr %block) {
  call void @free(ptr %block)
  ret void
}

define linkonce_odr void @NRT_MemInfo_call_dtor(ptr %block) {
  call void @free(ptr %block)
  ret void
}

define internal void @xsc_returned(ptr %capsule) {
  %block = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr null)
  %before = atomicrmw sub ptr %block, i64 1 acq_rel
  %last = icmp eq i64 %before, 1
  br i1 %last, label %release, label %kept
release:
  call void @NRT_MemInfo_call_dtor(ptr %block)
  ret void
kept:
  ret void
}

define linkonce_odr ptr @xsc_array(ptr %type, ptr %dtype, ptr %new, ptr %base,
                                   ptr %block, ptr %data, i64 %size) {
  %capsule = call ptr @PyCapsule_New(ptr %block, ptr null, ptr @xsc_returned)
  %unowned = icmp eq ptr %capsule, null
  br i1 %unowned, label %failed, label %make
failed:
  ret ptr null
make:
  %shape = alloca i64
  store i64 %size, ptr %shape
  call void @Py_IncRef(ptr %dtype)
  %array = call ptr %new(ptr %type, ptr %dtype, i32 1, ptr %shape, ptr null, ptr %data,
                         i32 1281, ptr null)
  %unmade = icmp eq ptr %array, null
  br i1 %unmade, label %drop, label %own
drop:
  call void @Py_DecRef(ptr %capsule)
  ret ptr null
own:
  %ignored = call i32 %base(ptr %array, ptr %capsule)
  ret ptr %array
}

define linkonce_odr ptr @xsc_failed(ptr %handler, i32 %code, ptr %at, i32 %size) {
  %address = ptrtoint ptr %at to i64
  %answer = call ptr (ptr, ptr, ...) @PyObject_CallFunction(ptr %handler, ptr @xsc_format,
                                                           i32 %code, i64 %address, i32 %size)
  ret ptr %answer
}
"""

# What object code may call beyond the runtime: of the C library, and of the interpreter.
_OF_C = """
malloc free memcpy memmove memset memcmp bcmp strlen
pow exp log log2 log10 floor ceil trunc rint fmod ldexp frexp fma
"""
_OF_PYTHON = """
PyBool_FromLong PyCapsule_GetPointer PyCapsule_New PyErr_SetString PyEval_RestoreThread
PyEval_SaveThread PyExc_RuntimeError PyFloat_AsDouble PyFloat_FromDouble PyFloat_Type
PyLong_AsLongLongAndOverflow PyLong_FromLongLong PyLong_FromUnsignedLongLong PyLong_Type
PyNumber_Index PyObject_CallFunction PyObject_CallObject PyObject_Hash PyObject_IsTrue
PyObject_RichCompareBool PyTuple_GetItem PyTuple_New PyTuple_Pack PyTuple_SetItem
PyUnicode_FromKindAndData Py_DecRef Py_IncRef
_Py_FalseStruct _Py_NoneStruct _Py_NotImplementedStruct _Py_TrueStruct
"""
ALLOWED = frozenset((_OF_C + _OF_PYTHON).split())
