"""Repairs the run path of the prebuilt libraries.

They are shipped with the run path "$ORIGIN:". Its empty second entry means the current directory,
so a library planted there would be loaded. The colon is overwritten by the string's end: an edit in
place that moves nothing and needs no tool.
"""
import struct

PT_LOAD = 1
PT_DYNAMIC = 2
DT_NULL = 0
DT_STRTAB = 5
DT_RPATH = 15
DT_RUNPATH = 29


def program_headers(data):
    """(type, file offset, address, bytes in the file) of every segment of a 64-bit ELF file."""
    offset, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        fields = struct.unpack_from("<IIQQQQ", data, offset + i * size)
        yield fields[0], fields[2], fields[3], fields[5]


def dynamic_entries(data):
    for kind, offset, _, size in program_headers(data):
        if kind == PT_DYNAMIC:
            for at in range(offset, offset + size, 16):
                tag, value = struct.unpack_from("<QQ", data, at)
                if tag == DT_NULL:
                    return
                yield tag, value


def run_path(data):
    """(file offset, text) of the run path; None when the file has none or is no 64-bit ELF file."""
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    entries = dict(dynamic_entries(data))
    value = entries.get(DT_RUNPATH, entries.get(DT_RPATH))
    if value is None:
        return None
    table = entries[DT_STRTAB]
    for kind, offset, address, size in program_headers(data):
        if kind == PT_LOAD and address <= table < address + size:
            start = table - address + offset + value
            return start, bytes(data[start:data.index(b"\0", start)])
    return None


def remove_empty_entries(path):
    """Cuts colons off the end of the run path of `path`. True when something was changed."""
    data = bytearray(path.read_bytes())
    found = run_path(data)
    if found is None or not found[1].endswith(b":"):
        return False
    start, text = found
    kept = text.rstrip(b":")
    data[start + len(kept):start + len(text)] = b"\0" * (len(text) - len(kept))
    path.write_bytes(data)
    return True
