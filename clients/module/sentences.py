"""Commands that change filters: stories that every command of ours appears in, and random ones."""

LAYOUTS = ("native", "redisbloom")


def items(start, count):
    return [f"item-{number}" for number in range(start, start + count)]


# Each is told to one key, `K`; another key `O` may be needed beside. A refusal is a part of a story too.
STORIES = {
    "reserve and add": [
        "BF.RESERVE K 0.01 50",
        "BF.RESERVE K 0.02 60",
        "BF.ADD K apple",
        "BF.ADD K apple",
        ["BF.MADD", "K", *items(0, 40)],
        ["BF.MADD", "K", *items(20, 300)],
        "BF.RESERVE K x y",
        "CF.ADD K apple",
        "EXPIRE K 100000",
        "BF.ADD K pear",
    ],
    "made by BF.ADD": ["BF.ADD K apple", "BF.ADD K pear", ["BF.MADD", "K", *items(0, 500)], "DEL K", "BF.ADD K plum"],
    "made by BF.MADD": [["BF.MADD", "K", *items(0, 300)], "BF.MADD K item-1 new"],
    "full": [
        "BF.RESERVE K 0.01 20 NONSCALING",
        ["BF.MADD", "K", *items(0, 15)],
        ["BF.MADD", "K", *items(10, 30)],
        "BF.ADD K another",
        "BF.ADD K item-1",
    ],
    "made by BF.INSERT": [
        "BF.INSERT K NOCREATE ITEMS apple",
        "BF.INSERT K CAPACITY 30 ERROR 0.001 EXPANSION 3 ITEMS apple pear",
        ["BF.INSERT", "K", "CAPACITY", "7", "ITEMS", *items(0, 200)],
        "BF.INSERT K NONSCALING NOCREATE ITEMS plum",
        "BF.INSERT K JUNK",
    ],
    "a window": [
        "BF.WINDOW K 0.01 50 1000",
        "BF.ADD K apple",
        "BF.ADD K apple",
        ["BF.MADD", "K", *items(0, 200)],
        "BF.INSERT K ITEMS plum",
        "BF.WINDOW K 0.01 50 1000",
        "MAYHAP.AT 1000 BF.ADD K late",
    ],
    "merged": [
        "BF.MERGE K O",
        ["BF.INSERT", "O", "CAPACITY", "40", "ITEMS", *items(0, 90)],
        "BF.MERGE K O",
        "BF.ADD K apple",
        ["BF.MADD", "O", *items(90, 5)],
        "BF.MERGE K O O K",
        ["BF.MADD", "K", *items(300, 200)],
        "BF.MERGE K O",
    ],
    "cuckoo": [
        "CF.RESERVE K 64",
        "CF.RESERVE K 64",
        "CF.ADD K apple",
        "CF.ADD K apple",
        "CF.ADDNX K apple",
        "CF.ADDNX K pear",
        ["CF.INSERT", "K", "ITEMS", *items(0, 100)],
        ["CF.INSERTNX", "K", "ITEMS", *items(50, 200)],
        "CF.DEL K apple",
        "CF.DEL K never",
        "CF.DEL K item-1",
        "CF.COMPACT K",
        "BF.ADD K apple",
    ],
    "made by CF.ADD": ["CF.ADD K apple", ["CF.INSERT", "K", "ITEMS", *items(0, 3000)], "CF.DEL K item-7", "CF.COMPACT K"],
    "made by CF.ADDNX": ["CF.ADDNX K apple", "CF.ADDNX K apple", "CF.DEL K apple", "CF.DEL K apple"],
    "made by CF.INSERT": [
        "CF.INSERT K NOCREATE ITEMS apple",
        "CF.INSERT K CAPACITY 100 ITEMS apple apple",
        ["CF.INSERT", "K", "CAPACITY", "50", "NOCREATE", "ITEMS", *items(0, 200)],
    ],
    "made by CF.INSERTNX": [["CF.INSERTNX", "K", "CAPACITY", "80", "ITEMS", *items(0, 60), *items(0, 60)]],
    "a full cuckoo": [
        "CF.RESERVE K 16 EXPANSION 0 BUCKETSIZE 1 MAXITERATIONS 5",
        ["CF.INSERT", "K", "ITEMS", *items(0, 40)],
        "CF.ADD K apple",
        "CF.DEL K item-0",
        "CF.ADD K apple",
    ],
    "a cuckoo with a rate": ["CF.RESERVE K 100 ERROR 0.0001 EXPANSION 2", ["CF.INSERT", "K", "ITEMS", *items(0, 400)]],
    "counting": [
        "CBF.RESERVE K 0.01 60",
        "CBF.RESERVE K 0.01 60",
        "CBF.ADD K apple",
        "CBF.ADD K apple",
        ["CBF.MADD", "K", *items(0, 80)],
        "CBF.DEL K apple",
        "CBF.DEL K never",
        ["CBF.MADD", "K", *["much"] * 20],
        "CBF.DEL K much",
        "BF.ADD K apple",
    ],
    "made by CBF.ADD": ["CBF.ADD K apple", "CBF.DEL K apple"],
    "made by CBF.MADD": ["CBF.MADD K apple apple pear"],
    "another type": ["SET K text", "BF.ADD K apple", "CF.ADD K apple", "CBF.ADD K apple", "DEL K", "BF.ADD K apple"],
}


def words_of(line, key, other):
    words = line.split(" ") if isinstance(line, str) else line
    return [{"K": key, "O": other}.get(word, word) for word in words]


def random_line(random, keys):
    """Something that may be said: most of it is accepted, some refused."""
    key, other = random.choice(keys), random.choice(keys)
    one = f"item-{random.randrange(400)}"
    many = [f"item-{random.randrange(400)}" for _ in range(random.choice((1, 3, 20, 200)))]
    capacity = str(random.randrange(1, random.choice((5, 100, 3000))))
    rate = random.choice(("0.01", "0.1", "0.0001", "0.5"))
    expansion = random.choice(([], [], ["EXPANSION", "0"], ["EXPANSION", "1"], ["EXPANSION", "4"]))
    return random.choice(
        (
            ["BF.RESERVE", key, rate, capacity, *expansion],
            ["BF.RESERVE", key, rate, capacity, "NONSCALING"],
            ["BF.ADD", key, one],
            ["BF.MADD", key, *many],
            ["BF.MADD", key, *many],
            ["BF.INSERT", key, "ERROR", rate, "CAPACITY", capacity, *expansion, "ITEMS", *many],
            ["BF.WINDOW", key, rate, capacity, str(random.randrange(1, 5))],
            ["BF.MERGE", key, other],
            ["CF.RESERVE", key, capacity, *expansion],
            ["CF.RESERVE", key, capacity, "ERROR", rate],
            ["CF.ADD", key, one],
            ["CF.ADDNX", key, one],
            ["CF.INSERT", key, "CAPACITY", capacity, "ITEMS", *many],
            ["CF.INSERTNX", key, "ITEMS", *many],
            ["CF.DEL", key, one],
            ["CF.DEL", key, one],
            ["CF.COMPACT", key],
            ["CBF.RESERVE", key, rate, capacity],
            ["CBF.ADD", key, one],
            ["CBF.MADD", key, *many],
            ["CBF.DEL", key, one],
            ["DEL", key],
            ["UNLINK", key],
            ["RENAME", key, other],
            ["COPY", key, other, "REPLACE"],
            ["PEXPIRE", key, random.choice(("0", "1000000000"))],
            ["EVAL", "return redis.call('BF.ADD', KEYS[1], ARGV[1])", "1", key, one],
            ["EVAL", "redis.call('CF.ADD', KEYS[1], ARGV[1]) return redis.call('CF.DEL', KEYS[1], ARGV[2])", "1", key, one, "item-3"],
            ["CONFIG", "SET", "mayhap.layout", random.choice(LAYOUTS)],
            ["CONFIG", "SET", "mayhap.bf-initial-size", random.choice(("1", "10", "1000"))],
            ["CONFIG", "SET", "mayhap.cf-initial-size", random.choice(("8", "64", "1024"))],
            ["CONFIG", "SET", "mayhap.cf-max-expansions", random.choice(("1", "3", "32"))],
            ["CONFIG", "SET", "mayhap.max-filter-bytes", random.choice(("300", "2000", "1000000000"))],
        )
    )
