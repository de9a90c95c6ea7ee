# The types of `walk.py` for the compiler; the source stays plain Python.
cimport cython

cdef int _LENGTH, _TIMESTAMP, _OFFSET, _KEY, _VALUE, _HEADERS, _HEADER_KEY, _HEADER_VALUE
cdef int _FAULT_LENGTH, _FAULT_NUMBER, _FAULT_OFFSET, _FAULT_FIELD, _FAULT_HEADERS, _FAULT_END
cdef long long _FIELDS_BYTES_MIN, _INT64_MAX
cdef unsigned long long _UINT32_MAX, _UINT64_MAX

@cython.final
cdef class Walk:
    cdef public long long count, base, earliest, latest, index, fields, newest
    cdef public bint keyed, timed, times_rejected
    cdef public int fault
    cdef public list rejected
    cdef int _stage
    cdef bint _outside
    cdef long long _inside, _skip, _headers

    @cython.locals(
        limit=cython.longlong, raw=cython.ulonglong, byte=cython.ulonglong, size=cython.int,
        longest=cython.int,
    )
    cpdef Py_ssize_t step(
        self, const unsigned char[::1] data, Py_ssize_t pos, Py_ssize_t end, long long fields
    ) except -1

    @cython.locals(stage=cython.int)
    cdef inline int _take(self, long long value) except -1

    cdef inline int _take_length(self, int stage, long long value) except -1

    cdef inline void _go_on_or_end(self) noexcept

    @cython.locals(fits=cython.bint, timestamp=cython.longlong)
    cdef inline void _note_time(self, long long delta) noexcept

    @cython.locals(rejected=cython.bint)
    cdef int _note_key(self, long long length) except -1
