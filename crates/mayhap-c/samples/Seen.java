import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/// A filter from Java, through the foreign function interface (Java 22 and later): no JNI and no generated code.
///
///     java --enable-native-access=ALL-UNNAMED Seen.java libmayhap_c.so.0 seen.mayhap
///
/// It creates a filter, inserts and queries keys, one by one and in batches, saves it, maps the file, and shows an error.
class Seen {
    /// The functions of `mayhap.h` that the sample calls. On the platforms of Java 22, `size_t` has 64 bits.
    static final class Mayhap {
        private final Linker linker = Linker.nativeLinker();
        private final SymbolLookup library;
        private final MethodHandle newFilter;
        private final MethodHandle insert;
        private final MethodHandle contains;
        private final MethodHandle insertIntegers;
        private final MethodHandle containsIntegers;
        private final MethodHandle save;
        private final MethodHandle map;
        private final MethodHandle free;
        private final MethodHandle errorMessage;

        Mayhap(Path path) {
            library = SymbolLookup.libraryLookup(path, Arena.global());
            newFilter = function("mayhap_new", ADDRESS, JAVA_LONG, JAVA_DOUBLE, ADDRESS, ADDRESS);
            insert = function("mayhap_insert", ADDRESS, ADDRESS, JAVA_LONG);
            contains = function("mayhap_contains", ADDRESS, ADDRESS, JAVA_LONG);
            insertIntegers = function("mayhap_insert_each_u64", ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
            containsIntegers = function("mayhap_contains_each_u64", ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
            save = function("mayhap_save", ADDRESS, ADDRESS);
            map = function("mayhap_map", ADDRESS, JAVA_BOOLEAN, ADDRESS, ADDRESS);
            free = linker.downcallHandle(library.findOrThrow("mayhap_free"), FunctionDescriptor.ofVoid(ADDRESS));
            errorMessage = linker.downcallHandle(library.findOrThrow("mayhap_error_message"), FunctionDescriptor.of(ADDRESS));
        }

        private MethodHandle function(String name, ValueLayout... arguments) {
            return linker.downcallHandle(library.findOrThrow(name), FunctionDescriptor.of(JAVA_INT, arguments));
        }

        /// The answer of a function, or an exception with its message if it is negative.
        int call(MethodHandle function, Object... arguments) {
            try {
                int answer = (int) function.invokeWithArguments(arguments);
                if (answer >= 0) {
                    return answer;
                }
                MemorySegment message = (MemorySegment) errorMessage.invokeExact();
                throw new MayhapException(message.reinterpret(Long.MAX_VALUE).getString(0));
            } catch (MayhapException error) {
                throw error;
            } catch (Throwable error) {
                throw new IllegalStateException(error);
            }
        }
    }

    static final class MayhapException extends RuntimeException {
        MayhapException(String message) {
            super(message);
        }
    }

    /// A filter, freed by `close`.
    static final class Filter implements AutoCloseable {
        private final Mayhap mayhap;
        private final MemorySegment filter;

        private Filter(Mayhap mayhap, MemorySegment filter) {
            this.mayhap = mayhap;
            this.filter = filter;
        }

        static Filter create(Mayhap mayhap, String kind, long capacity, double rate) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment out = arena.allocate(ADDRESS);
                mayhap.call(mayhap.newFilter, arena.allocateFrom(kind), capacity, rate, MemorySegment.NULL, out);
                return new Filter(mayhap, out.get(ADDRESS, 0));
            }
        }

        static Filter map(Mayhap mayhap, Path path) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment out = arena.allocate(ADDRESS);
                mayhap.call(mayhap.map, arena.allocateFrom(path.toString()), true, MemorySegment.NULL, out);
                return new Filter(mayhap, out.get(ADDRESS, 0));
            }
        }

        private int withKey(MethodHandle function, String key) {
            byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
            try (Arena arena = Arena.ofConfined()) {
                return mayhap.call(function, filter, arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes), (long) bytes.length);
            }
        }

        /// True if the key is definitely new.
        boolean insert(String key) {
            return withKey(mayhap.insert, key) == 1;
        }

        /// False is certain.
        boolean contains(String key) {
            return withKey(mayhap.contains, key) == 1;
        }

        void insert(long[] keys) {
            try (Arena arena = Arena.ofConfined()) {
                mayhap.call(mayhap.insertIntegers, filter, arena.allocateFrom(JAVA_LONG, keys), (long) keys.length, MemorySegment.NULL);
            }
        }

        boolean[] contains(long[] keys) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment found = arena.allocate(JAVA_BOOLEAN, keys.length);
                mayhap.call(mayhap.containsIntegers, filter, arena.allocateFrom(JAVA_LONG, keys), (long) keys.length, found);
                boolean[] answers = new boolean[keys.length];
                for (int i = 0; i < keys.length; i++) {
                    answers[i] = found.get(JAVA_BOOLEAN, i);
                }
                return answers;
            }
        }

        void save(Path path) {
            try (Arena arena = Arena.ofConfined()) {
                mayhap.call(mayhap.save, filter, arena.allocateFrom(path.toString()));
            }
        }

        @Override
        public void close() {
            try {
                mayhap.free.invokeExact(filter);
            } catch (Throwable error) {
                throw new IllegalStateException(error);
            }
        }
    }

    public static void main(String[] arguments) {
        Mayhap mayhap = new Mayhap(Path.of(arguments[0]).toAbsolutePath());
        Path path = Path.of(arguments[1]);
        long[] keys = new long[10_000];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = 2L * i;
        }
        try (Filter seen = Filter.create(mayhap, "bloom", 20_000, 0.001)) {
            System.out.println("apple is new: " + seen.insert("apple"));
            System.out.println("apple is new: " + seen.insert("apple"));
            System.out.println("pear is found: " + seen.contains("pear"));
            seen.insert(keys);
            seen.save(path);
        }
        try (Filter seen = Filter.map(mayhap, path)) {
            int found = 0;
            for (boolean answer : seen.contains(keys)) {
                found += answer ? 1 : 0;
            }
            System.out.println("integers found in the file: " + found);
            System.out.println("apple is found: " + seen.contains("apple"));
            seen.insert("plum");
        } catch (MayhapException error) {
            System.out.println("error: " + error.getMessage());
        }
        try {
            Filter.create(mayhap, "bloom", 1000, 2.0);
        } catch (MayhapException error) {
            System.out.println("error: " + error.getMessage());
        }
    }
}
