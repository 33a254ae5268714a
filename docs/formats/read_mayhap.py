#!/usr/bin/env python3
"""Prints the lines of its input that may be in a mayhap filter; those that it leaves out certainly are not.

    python3 read_mayhap.py FILE [SECRET] < keys

SECRET, in hexadecimal, is for files that do not contain their secret key. Needs the package xxhash. Written after mayhap.md, the
page beside this file, to show that the page is enough; what it says of ribbons and exceptions is in read_mayhap_equations.py.
"""
import struct
import sys

from xxhash import xxh3_64_intdigest as xxh3

U64 = 2**64 - 1
FIRST, SECOND, PLACE = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xF1357AEA2E62A9C5
PATTERNS = 0b1, 0b11, 0b1011, 0b10111, 0b101111, 0b111111, 0b1111111, 0b11111111

def check(holds, complaint):
    if not holds:
        sys.exit(f"read_mayhap: {complaint}")

def scale(number, count):
    return number * count >> 64

def fold(number, factor):
    return (number * factor ^ number * factor >> 64) & U64

def item(section, at, width, skipped=0):
    begin = 8 * skipped + at * width
    return int.from_bytes(section[begin // 8:begin // 8 + 8], "little") >> begin % 8 & (1 << width) - 1

def siphash13(secret, key):
    k0, k1 = struct.unpack("<2Q", secret)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    def stir():
        for a, b, turn in (0, 1, 13), (2, 3, 16), (2, 1, 17), (0, 3, 21):
            v[a] = v[a] + v[b] & U64
            v[b] = (v[b] << turn | v[b] >> 64 - turn) & U64 ^ v[a]
            if turn in (13, 17):
                v[a] = (v[a] << 32 | v[a] >> 32) & U64
    rest = len(key) % 8
    for (word,) in struct.iter_unpack("<Q", key + bytes(7 - rest) + bytes([len(key) % 256])):
        v[3] ^= word
        stir()
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(3):
        stir()
    return v[0] ^ v[1] ^ v[2] ^ v[3]

# Kinds take the fields of their plan and their sections one by one, and give a function that asks about a hash.

def bloom(field, section):
    _, _, lines, words, each = (field() for _ in range(5))
    reach, bits, pattern = lines // each, section(), PATTERNS[words - 1]
    def contains(h):
        product = h * FIRST & U64
        row = product >> 32 & 7
        used = pattern << row | pattern >> 8 - row
        both = scale(product, reach), reach + scale(h * SECOND & U64, reach)
        return all(item(bits, 512 * line + 64 * word + (h >> 8 * word & 63), 1)
                   for line in both[:each] for word in range(8) if used >> word & 1)
    return contains

def walk(field):
    _, _, _, bits, probes, number, _, _ = (field() for _ in range(8))
    check(number in (1, 2), f"its walk is number {number}, another system's: this program knows 1 and 2")
    def positions(h):
        step = fold(h, FIRST) | 1
        for _ in range(3 if number == 1 else 0):
            step = step + 2 & U64 if step % bits in (0, 2**64 % bits) else step
        bend = number - 1
        return ((h + i * step + bend * (i**3 - i) // 6 & U64) % bits for i in range(probes))
    return positions

def classic(field, section):
    positions, bits = walk(field), section()
    return lambda h: all(item(bits, at, 1) for at in positions(h))

def counting(field, section):
    positions, width, counters = walk(field), field(), section()
    return lambda h: all(item(counters, at, width) for at in positions(h))

def any_of(filters):
    return lambda h: any(contains(h) for contains in filters)

def growing(field, section):
    *_, layers = (field() for _ in range(6))
    return any_of([bloom(field, section) for _ in range(layers)])

def window(field, section):
    _, _, slice_ms, slices, _, start, newest, early = (field() for _ in range(8))
    now, live = (newest - start) // slice_ms + early, []
    for _ in range(slices + 1):
        number, _, count = field(), field(), field()
        layers = [bloom(field, section) for _ in range(count)]
        live += layers if number + slices >= now else []
    return any_of(live)

def cuckoo(field, section):
    grows = field()
    *_, tables = (field() for _ in range(4)) if grows else [1]
    return any_of([table(field, section, grows) for _ in range(tables)])

def table(field, section, grows):
    _, _, cells, width = (field() for _ in range(4))
    bits, windows = section(), cells - 1
    if grows:
        field(), section()  # Its number and its extra copies, which only removing needs.
    def contains(h):
        product = (h ^ h >> 32) * PLACE & U64
        swapped = int.from_bytes(product.to_bytes(8, "little"), "big")
        first, fingerprint = scale(product, windows), 1 + scale(swapped, 2**width - 1)
        mixed = fingerprint * FIRST & U64
        distance = 1 + scale((mixed ^ mixed >> 32) * 0xBEA225F9EB34556D & U64, windows - 1)
        second = (first + distance) % windows
        return any(item(bits, at + offset, width + 2) == fingerprint << 2 | choice << 1 | offset
                   for choice, at in enumerate((first, second)) for offset in (0, 1))
    return contains

def fuse(field, section):
    keys, _, width, shards, segment_bits, starts, seed = (field() for _ in range(7))
    cells, segment = section(), 1 << segment_bits
    def contains(h):
        x = (h ^ seed ^ (h ^ seed) >> 32) * 0xC2B2AE3D27D4EB4F & U64
        x ^= x >> 32
        shard, x = scale(x, shards), x * shards & U64 - 63
        first = (shard * (starts + 2) << segment_bits) + scale(x, starts << segment_bits)
        second = (first + segment) ^ (x >> 22 & segment - 1)
        third = (first + 2 * segment) ^ (x >> 6 & segment - 1)
        found = item(cells, first, width) ^ item(cells, second, width) ^ item(cells, third, width)
        return found == (x * FIRST & U64) >> 32 & (1 << width) - 1
    return contains if keys else lambda h: False

def ribbon(field, section):
    import read_mayhap_equations
    return read_mayhap_equations.ribbon(field, section)

def excepting(base, field, section):
    import read_mayhap_equations
    return read_mayhap_equations.excepting(base, field, section)

def of_slices(contains, field):
    bits, tables, _ = (field() for _ in range(3))
    def of_slice(h, number):
        unused = 64 - bits - 6 * number
        x = (h * 0x9FB21C651E98DF25 & U64) >> unused << unused | number + 1
        for factor in 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53:
            x = (x ^ x >> 33) * factor & U64
        return contains(x ^ x >> 33)
    return lambda h: any(of_slice(h, number) for number in range(tables))

def retouched(field, section):
    contains = classic(field, section)
    for _ in range(3):
        field(), section()  # What was cleared, and lists that only further clearing needs.
    return contains

def growing_cuckoo(field, section, counts=False):
    *_, tables = (field() for _ in range(4))
    def table():
        field()
        contains = slices(field, section, counts)
        section()  # Extra copies, which only counting and removing need.
        return contains
    return any_of([table() for _ in range(tables)])

def counting_cuckoo(field, section):
    return growing_cuckoo(field, section, counts=True)

def window_cuckoo(field, section):
    _, _, epoch_ms, epochs, start, newest, tables = (field() for _ in range(7))
    now = (newest - start) // epoch_ms
    live = {epoch % 16 for epoch in range(max(now - epochs, 0), now + 1)}
    return any_of([slices(field, section, live=live) for _ in range(tables)])

def slices(field, section, counts=False, live=None):
    e, shape, moved = (field() for _ in range(3))
    payload_bits = 4 if live else 0
    payload_bits, moved_shape, moved_bits = (field() for _ in range(3)) if counts else (payload_bits, shape + 1, payload_bits)
    cells_moved, cells, stash = (section() for _ in range(3))
    stash = {number for number, payload in struct.iter_unpack("<2Q", stash) if not live or payload - 1 in live}
    def place(x, shape, payload_bits, cells, groups_before):
        d, r = divmod(shape, 4)
        level, windows, t = max(d - 10, 0), 10 + 2 * r << min(d, 10), e - d - (4 if r == 3 else 3)
        group, rest = x >> e - level, x & (1 << e - level) - 1
        width = t + 2 + payload_bits
        start = (group - groups_before) * -(-(windows + 1) * width // 8)
        first = (rest << 32 >> e - level) * windows >> 32
        tag = rest & (1 << t) - 1
        second = (first + 1 + ((tag * 0x9E3779B1 & 0xFFFFFFFF) * (windows - 1) >> 32)) % windows
        wanted = [(at + offset, tag << 2 | choice << 1 | offset)
                  for choice, at in enumerate((first, second)) for offset in (0, 1)]
        found = ((item(cells, at, width, start), cell) for at, cell in wanted if cell)
        return any(value & (1 << t + 2) - 1 == cell and (not live or value >> t + 2 in live) for value, cell in found)
    def contains(h):
        x = (h * 0x9FB21C651E98DF25 & U64) >> 64 - e
        has_moved = x >> e - max(shape // 4 - 10, 0) < moved
        in_cells = (place(x, moved_shape, moved_bits, cells_moved, 0) if has_moved
                    else place(x, shape, payload_bits, cells, moved))
        return in_cells or x << 64 - e | 1 in stash
    return contains

KINDS = (bloom, classic, counting, growing, window, cuckoo, fuse, ribbon, retouched, growing_cuckoo, counting_cuckoo,
         window_cuckoo)

def read(file, secret=b""):
    """The function that says whether a key may be in the filter of a file."""
    check(file[:8] == b"\x89MAY\r\n\x1a\n" and len(file) >= 128, "this is no file of mayhap's")
    version, _, header, length, features, _, kind, scheme, place = struct.unpack_from("<HHIQQQHHH", file, 8)
    check(version == 1, f"it has version {version}, and this program reads version 1")
    check(128 <= header <= len(file), "it is cut, or its header is damaged")
    (checksum,) = struct.unpack_from("<Q", file, header - 8)
    check(xxh3(file[:header - 8]) == checksum, "its header is damaged")
    check(length == len(file), f"it has {len(file)} bytes and should have {length}")
    check(features < 4, f"it needs features that this program does not know: {features:#x}")
    check(1 <= kind <= len(KINDS) and KINDS[kind - 1], f"it is of kind {kind}, which this program does not know")

    self_test, page_bytes, count, plan_bytes = struct.unpack_from("<QIII", file, 64)
    sections, end = [], header
    for size in struct.unpack_from(f"<{count}Q", file, 88 + plan_bytes):
        begin = end + -end % 64
        end = begin + size
        sections.append(file[begin:end])
    pages = [file[at:min(at + page_bytes, end)] for at in range(header, end, page_bytes)]
    *sums, of_table = struct.unpack_from(f"<{len(pages) + 1}Q", file, end)
    check(xxh3(file[end:-8], checksum) == of_table, "its table of checksums is damaged")
    for number, page in enumerate(pages):
        check(xxh3(page, number) == sums[number], f"its page {number} is damaged")

    check(scheme in (1, 2), "it is for hashes that its user computes, not for keys")
    secret = file[48:64] if place == 1 else secret
    check(scheme == 1 or len(secret) == 16, f"its secret key is kept elsewhere: give the one of id {file[55:47:-1].hex()}")
    hash_of = xxh3 if scheme == 1 else lambda key: siphash13(secret, key)
    check(hash_of(b"mayhap self-test") == self_test, "its keys are hashed in another way, or with another secret key")
    field = iter(struct.unpack_from(f"<{plan_bytes // 8}Q", file, 88)).__next__
    section = iter(sections).__next__
    contains = KINDS[kind - 1](field, section)
    if features & 2:
        contains = of_slices(contains, field)
    if features & 1:
        contains = excepting(contains, field, section)
    return lambda key: contains(hash_of(key))

if __name__ == "__main__":
    with open(sys.argv[1], "rb") as opened:
        may_contain = read(opened.read(), bytes.fromhex("".join(sys.argv[2:])))
    for line in sys.stdin.buffer:
        if may_contain(line.removesuffix(b"\n")):
            sys.stdout.buffer.write(line)
