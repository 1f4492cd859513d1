// Questions about a Java project with javac's own answers, for ask.py.
//
//     java --add-exports jdk.compiler/com.sun.tools.javac.tree=ALL-UNNAMED ask_javac.java FOLDER questions.json LIMIT CLASSPATH SOURCES...
//
// A definition's references are the lines on which the compiler binds its name. Names that it could not bind count neither
// way, nor do uses of a method that overrides the one in question or is overridden by it. Constructors are not asked for.
import com.sun.source.tree.*;
import com.sun.source.util.*;
import com.sun.tools.javac.tree.JCTree;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import javax.lang.model.element.*;
import javax.lang.model.type.TypeKind;
import javax.tools.*;

class Ask {
    record Place(String file, long line) {
        public String toString() { return "[" + quoted(file) + "," + line + "]"; }
    }
    record Definition(Element element, Place at, String name, String kind) {}

    static final Map<Element, TreeSet<Place>> used = new HashMap<>();
    static final List<Definition> defined = new ArrayList<>();
    static final Map<String, Integer> written = new HashMap<>();
    static final Map<String, Set<String>> dropped = new TreeMap<>();

    static TreeSet<Place> places() { return new TreeSet<>(Comparator.comparing(Place::file).thenComparing(Place::line)); }

    static String quoted(String text) { return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""; }

    static String kind(Element element) {
        return switch (element.getKind()) {
            case CLASS, INTERFACE, ENUM, RECORD, ANNOTATION_TYPE -> "class";
            case METHOD -> "method";
            case FIELD -> "field";
            case ENUM_CONSTANT -> "constant";
            default -> null;
        };
    }

    static class Scanner extends TreePathScanner<Void, Void> {
        final Trees trees;
        final CompilationUnitTree unit;
        final String file, text;

        Scanner(Trees trees, CompilationUnitTree unit, String file, String text) {
            this.trees = trees; this.unit = unit; this.file = file; this.text = text;
        }
        Place place(long at) { return new Place(file, unit.getLineMap().getLineNumber(at)); }
        Element element() { return trees.getElement(getCurrentPath()); }

        void use(Tree tree, CharSequence name) {
            long at = trees.getSourcePositions().getEndPosition(unit, tree) - name.length();
            // The compiler writes names of its own: a constant's class, a parent's constructor.
            if (at < 0 || !text.startsWith(name.toString(), (int) at)) return;
            written.merge(name.toString(), 1, Integer::sum);
            Element element = element();
            if (element == null || element.asType().getKind() == TypeKind.ERROR) {
                dropped.computeIfAbsent(file, f -> new TreeSet<>()).add("[" + place(at).line + "," + quoted(name.toString()) + "]");
            } else {
                used.computeIfAbsent(element, e -> places()).add(place(at));
            }
        }
        void define(Tree tree, CharSequence name) {
            Element element = element();
            int at = element == null || name.isEmpty() ? -1 : text.indexOf(name.toString(), ((JCTree) tree).pos);
            if (at < 0 || kind(element) == null) return;
            written.merge(name.toString(), 1, Integer::sum);
            if (Character.isJavaIdentifierStart(name.charAt(0))) defined.add(new Definition(element, place(at), name.toString(), kind(element)));
        }

        @Override public Void visitIdentifier(IdentifierTree tree, Void v) { use(tree, tree.getName()); return super.visitIdentifier(tree, v); }
        @Override public Void visitMemberSelect(MemberSelectTree tree, Void v) { use(tree, tree.getIdentifier()); return super.visitMemberSelect(tree, v); }
        @Override public Void visitMemberReference(MemberReferenceTree tree, Void v) { use(tree, tree.getName()); return super.visitMemberReference(tree, v); }
        @Override public Void visitClass(ClassTree tree, Void v) { define(tree, tree.getSimpleName()); return super.visitClass(tree, v); }
        @Override public Void visitMethod(MethodTree tree, Void v) { define(tree, tree.getName()); return super.visitMethod(tree, v); }
        @Override public Void visitVariable(VariableTree tree, Void v) { define(tree, tree.getName()); return super.visitVariable(tree, v); }
    }

    static boolean related(JavacTask task, Element a, Element b) {
        return a instanceof ExecutableElement one && b instanceof ExecutableElement other && one != other && one.getSimpleName().equals(other.getSimpleName())
            && (task.getElements().overrides(one, other, (TypeElement) one.getEnclosingElement()) || task.getElements().overrides(other, one, (TypeElement) other.getEnclosingElement()));
    }

    public static void main(String[] args) throws Exception {
        Path root = Path.of(args[0]).toRealPath();
        List<Path> files = new ArrayList<>();
        for (String source : Arrays.asList(args).subList(4, args.length))
            try (Stream<Path> all = Files.walk(root.resolve(source))) { all.filter(f -> f.toString().endsWith(".java")).sorted().forEach(files::add); }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
        JavacTask task = (JavacTask) compiler.getTask(null, manager, said, List.of("-proc:none", "-XDshould-stop.ifError=FLOW", "-cp", args[3]), null, manager.getJavaFileObjectsFromPaths(files));
        List<CompilationUnitTree> units = new ArrayList<>();
        task.parse().forEach(units::add);
        task.analyze();
        Set<String> judged = new TreeSet<>();
        for (CompilationUnitTree unit : units) {
            Path path = Path.of(unit.getSourceFile().toUri());
            String file = root.relativize(path).toString();
            judged.add(file);
            new Scanner(Trees.instance(task), unit, file, unit.getSourceFile().getCharContent(true).toString()).scan(unit, null);
        }
        List<Definition> asked = defined.stream().filter(d -> written.get(d.name) > 1).collect(Collectors.toCollection(ArrayList::new));
        int all = asked.size(), lines = 0;
        Collections.shuffle(asked, new Random(7));
        asked = asked.subList(0, Math.min(Integer.parseInt(args[2]), all));
        List<String> questions = new ArrayList<>();
        for (Definition d : asked) {
            Set<Place> expect = used.getOrDefault(d.element, places());
            Set<String> neutral = new TreeSet<>();
            used.forEach((element, places) -> {
                if (related(task, d.element, element)) places.stream().filter(p -> !expect.contains(p)).forEach(p -> neutral.add(p.toString()));
            });
            lines += expect.size();
            questions.add("{\"file\":" + quoted(d.at.file) + ",\"line\":" + d.at.line + ",\"name\":" + quoted(d.name) + ",\"kind\":" + quoted(d.kind) + ",\"expect\":" + expect + ",\"neutral\":" + neutral + "}");
        }
        Files.writeString(Path.of(args[1]), "{\"language\":\"java\",\"judged\":" + judged.stream().map(Ask::quoted).toList() + ",\"dropped\":{"
            + dropped.entrySet().stream().map(e -> quoted(e.getKey()) + ":" + e.getValue()).collect(Collectors.joining(",")) + "},\"references\":[\n" + String.join(",\n", questions) + "]}");
        long errors = said.getDiagnostics().stream().filter(d -> d.getKind() == Diagnostic.Kind.ERROR).count();
        System.out.println(judged.size() + " files; " + errors + " errors; " + all + " definitions; " + questions.size() + " questions; " + lines + " lines");
    }
}
