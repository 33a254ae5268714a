"""Ribbons and exceptions for read_mayhap.py: filters whose answers are sums of slots."""
import struct

from read_mayhap import SECOND, U64, fold, item, scale

SPREAD, START, MORE = 0xA24BAED4963EE407, 0xE7037ED1A0B428DB, 0x9FB21C651E98DF25

def numbers(section, form):
    return [number for (number,) in struct.iter_unpack(form, section)]

def rows(directory, width, mean):
    """For a hash: its first slot, coefficients and fingerprint. And the number of slots."""
    entries = numbers(directory, "<I")
    begins = [shard * mean + entry % 2**24 - 2**23 for shard, entry in enumerate(entries)]
    def row(h):
        spread = h * SPREAD & U64
        shard = scale(spread, len(entries) - 1)
        slots = begins[shard + 1] - begins[shard]
        placed = spread * START * (2 * (entries[shard] >> 24) + 1) & U64
        start = max(0, min(scale(placed, slots) - width // 2, slots - width))
        coefficients = fold(placed, SECOND) | 1 | fold(placed, MORE) << 64
        return begins[shard] + start, coefficients & (1 << min(width, slots)) - 1, spread >> 16 & 2**32 - 1
    return row, begins[-1]

def parity(bits, slot, coefficients, place):
    """The sum of a column over a row, where `place` says at which bit a slot is."""
    return sum(item(bits, place(slot + i), 1) for i in range(coefficients.bit_length()) if coefficients >> i & 1) & 1

def ribbon(field, section):
    keys, _, columns, _, _, _, wide = (field() for _ in range(7))
    (row, _), bits = rows(section(), 64, 1403), section()
    def contains(h):
        slot, coefficients, fingerprint = row(h)
        def sum_of(column):
            words = lambda block: block * columns + min(block, wide) + column
            return parity(bits, slot, coefficients, lambda at: 64 * words(at // 64) + at % 64)
        mine = columns + (slot + 63 < 64 * wide)
        return all(sum_of(column) == fingerprint >> column & 1 for column in range(mine))
    return contains if keys else lambda h: False

def level(section, columns):
    """For a hash: the bits that it has there, and its fingerprint of as many bits."""
    (row, slots), bits = rows(section(), 128, 5012), section()
    def get(h):
        slot, coefficients, fingerprint = row(h)
        def sum_of(column):
            def place(at):
                stride = min(64, slots - at // 64 * 64)
                return at // 64 * 64 * columns + stride * column + at % 64
            return parity(bits, slot, coefficients, place)
        value = sum(sum_of(column) << column for column in range(columns))
        return value, fingerprint & (1 << columns) - 1
    return get

def excepting(base, field, section):
    _, _, _, _, _, form, columns = (field() for _ in range(7))
    levels = [level(section, bits) for bits in ([], [1], [columns, 1], [columns, 1])[form]]
    listed = set(numbers(section(), "<Q")) if form == 0 else ()
    overrides = set(numbers(section(), "<Q"))
    def is_denied(h):
        if form == 0:
            return h in listed
        value, fingerprint = levels[0](h)
        if form > 1 and value != fingerprint:
            return form == 3
        return levels[-1](h)[0] == 0
    return lambda h: base(h) and (h in overrides or not is_denied(h))
