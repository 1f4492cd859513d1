/* Not Javadoc. */
package depot.parcels;

import java.util.*;
import static java.lang.Math.max;

/**
 * A shop that keeps parcels. It is a sample.
 *
 * @param <T> what is kept
 */
@Deprecated(since = "2") @SuppressWarnings({"unchecked", "rawtypes"})
public abstract sealed class Shop<T extends Comparable<T> & Cloneable> extends Base<T> implements Keeper<T>, AutoCloseable
        permits Corner, Market {

    /** How many fit. */
    public static final int LIMIT = 12, LEAST = 1;

    static int opened;
    private final @Nullable String name, nicknames[];
    protected volatile boolean open = true; // not doc

    /** Compares by name. */

    // blank lines and comments may stand between
    /* of any sort */
    @VisibleForTesting
    static final Comparator<Map.Entry<String, ?>> ORDER = new Comparator<Map.Entry<String, ?>>() {
        private int calls;

        @Override
        public int compare(Map.Entry<String, ?> a, Map.Entry<String, ?> b) {
            return a == null ? -1 : b == null && calls > 0 ? 1 : 0;
        }
    };

    private static final Function<Integer, Integer> HALF = n -> n > 1 ? n / 2 : n;

    static {
        opened = 0;
        int notAField = 1;
        class InStatic { void m() {} }
    }

    {
        open = opened > 0;
    }

    /** Opens a shop. */
    @Inject
    protected Shop(@Named("x") String name) throws IllegalStateException {
        super(name);
        this.name = name;
    }

    <E> Shop(E other, int... more) { this(String.valueOf(other)); }

    /**
     * Takes one in.
     * Says whether it did.
     */
    @Override
    @CheckReturnValue public final synchronized <R extends T> @Nullable R take(R thing, final int... numbers) throws Exception {
        if (thing == null || numbers.length == 0) {
            return null;
        } else if (numbers[0] > 3) {
            throw new IllegalArgumentException("no");
        }
        for (int n : numbers) { for (;;) break; }
        while (open) { do { opened++; } while (opened < 3); }
        try (var in = open()) {
            in.read();
        } catch (IOException | RuntimeException e) {
            switch (numbers.length) {
                case 1:
                case 2: break;
                default: break;
            }
        } finally {
            open = false;
        }
        int size = switch (thing) {
            case String s when s.isEmpty() -> 0;
            case Point(int x, var y) -> x;
            case null, default -> 1;
        };
        numbers.forEach(n -> { if (n > 0) opened++; });
        record Pair(int left, int right) {}
        enum Local { A, B }
        interface Quick { int go(); }
        class Counter {
            int count;
            int next() { return count > 9 ? 0 : count++; }
        }
        Runnable run = new Thread.Builder<String>(() -> {}) {
            int ticks = 0;
            @Override public void run() {
                new Object() { void deep() { if (open) return; } }.deep();
            }
            class Inner { void within() {} }
        };
        return thing;
    }

    abstract int weigh();

    int weigh(int a) { return a; }

    int weigh(int a, String... b) { return a; }

    int[] matrix()[] { return null; }

    native void assembled();

    /***/ void banner() {}

    /** On the same line. */ int same;

    @interface Marker {
        /** What it says. */
        String value() default "";
        int[] numbers() default {1, 2};
        int CONST = 3;
    }

    /** One of few. */
    public enum Op implements IntBinaryOperator {
        /** Adds. */
        PLUS("+") {
            @Override int apply(int a, int b) { return a + b; }
        },
        @Deprecated MINUS("-") { int apply(int a, int b) { return a - b; } },
        NONE;

        private final String sign;

        Op() { this(""); }
        Op(String sign) { this.sign = sign; }

        abstract int apply(int a, int b);
    }

    static class Nested {
        class Deeper { interface Deepest { int X = 1; } }
    }

    public interface Visitor<R> extends Base<R>, Other permits A {
        int DEFAULT = 1;
        R visit(Shop<?> shop);
        default R twice(Shop<?> shop) { return shop != null ? visit(shop) : null; }
        static void none() {}
        private void hidden() {}
    }

    /** Where it is. */
    public record Place(@NonNull String street, int number, String... more) implements Comparable<Place> {
        static int made;
        /** Checks. */
        public Place {
            if (number < 0) throw new IllegalArgumentException();
        }
        Place(String street) { this(street, 0); }
        public int compareTo(Place other) { return 0; }
    }

    void broken(int a { 
        int x = ;
        return a +
    }

    /** After the error. */
    public int after() { return 1; }

    String text = """
        class NotHere { "quoted" }
        """;
}

@FunctionalInterface
interface Small { void run(); }

enum Empty {}

record Unit() {}

non-sealed class Corner extends Shop<String> {}
