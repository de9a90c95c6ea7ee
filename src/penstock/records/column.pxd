# The types of `column.py` for the compiler; the source stays plain Python.
cimport cython

cdef long long _VIEW_WORDS, _INLINE_BYTES_MAX, _TIME_MS_MAX
cdef unsigned long long _UINT64_MAX

@cython.final
cdef class ColumnReader:
    cdef public long long capacity, count
    cdef long long[::1] _offsets
    cdef long long[::1] _times
    cdef unsigned int[::1] _keys
    cdef unsigned char[::1] _key_bits
    cdef unsigned int[::1] _values
    cdef unsigned char[::1] _value_bits
    cdef Py_ssize_t _pos

    @cython.locals(
        end=Py_ssize_t, length=cython.longlong, record_end=Py_ssize_t, time=cython.longlong,
        offset=cython.longlong,
    )
    cpdef object read(
        self, const unsigned char[::1] data, long long records, long long base_offset,
        long long base_time, long long append_time, long long first, long long last,
        unsigned int buffer
    )

    @cython.locals(raw=cython.ulonglong, byte=cython.ulonglong, shift=cython.int)
    cdef inline Py_ssize_t _number(
        self, const unsigned char[::1] data, Py_ssize_t end
    ) except? -1

    @cython.locals(
        size=cython.longlong, index=cython.longlong, start=cython.longlong, at=cython.longlong,
        word=cython.uint,
    )
    cdef inline void _view(
        self, const unsigned char[::1] data, Py_ssize_t end, unsigned int[::1] views,
        unsigned char[::1] bits, unsigned int buffer
    ) except *
