// Questions about a C# project with Roslyn's own answers, for ask.py.
//
//     mcs -r:Microsoft.CodeAnalysis.dll -r:Microsoft.CodeAnalysis.CSharp.dll -r:System.Collections.Immutable.dll \
//         $(printf -- "-r:%s " /usr/lib/mono/4.5/Facades/*.dll) -out:ask.exe ask_roslyn.cs
//     mono ask.exe FOLDER questions.json LIMIT DEFINES SUBFOLDER...
//
// Roslyn 1.0 is in npm's `omnisharp-server-roslyn-binaries`; it reads C# 6, and files with newer syntax are left out.
// A definition's references are the lines on which the compiler binds its name. Lines that no compilation reads count
// neither way, nor do names that it could not bind.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

static class Ask {
    static string root;
    static string Text(object o) { return "\"" + o.ToString().Replace("\\", "\\\\").Replace("\"", "\\\"") + "\""; }
    static string Place(SyntaxToken t) { return "[" + Text(File(t.SyntaxTree)) + "," + Line(t.GetLocation()) + "]"; }
    static string File(SyntaxTree t) { return t.FilePath.Substring(root.Length + 1); }
    static int Line(Location l) { return l.GetLineSpan().StartLinePosition.Line + 1; }

    static ISymbol Original(ISymbol s) {
        var m = s as IMethodSymbol;
        if (m != null && m.ReducedFrom != null) s = m.ReducedFrom;
        return s.OriginalDefinition;
    }
    static string Kind(ISymbol s) {
        if (s is INamedTypeSymbol) return "type";
        if (s is IPropertySymbol) return "property";
        if (s is IFieldSymbol) return "field";
        if (s is IEventSymbol) return "event";
        var m = s as IMethodSymbol;
        if (m == null) return null;
        if (m.MethodKind == MethodKind.Ordinary) return m.IsExtensionMethod ? "extension" : "method";
        return m.MethodKind == MethodKind.Constructor ? "constructor" : null;
    }

    static void Main(string[] args) {
        root = Path.GetFullPath(args[0]).TrimEnd('/');
        int limit = int.Parse(args[2]);
        var options = new CSharpParseOptions(LanguageVersion.CSharp6, preprocessorSymbols: args[3].Split(',').Where(d => d != ""));
        var files = args.Skip(4).SelectMany(d => Directory.GetFiles(Path.Combine(root, d), "*.cs", SearchOption.AllDirectories)).OrderBy(f => f, StringComparer.Ordinal);
        var trees = files.Select(f => CSharpSyntaxTree.ParseText(System.IO.File.ReadAllText(f), options, f)).ToList();
        var api = "/usr/lib/mono/4.5/";
        var names = new[] { "mscorlib", "System", "System.Core", "System.Xml", "System.Data", "System.Numerics", "System.Xml.Linq", "System.Runtime.Serialization", "Microsoft.CSharp" };
        var references = names.Select(n => api + n + ".dll").Where(System.IO.File.Exists).Select(f => MetadataReference.CreateFromFile(f));
        var compilation = CSharpCompilation.Create("x", trees, references, new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true));
        var used = new Dictionary<ISymbol, HashSet<string>>();
        var defined = new HashSet<ISymbol>();
        var unbound = new Dictionary<string, HashSet<string>>();
        var neutral = new Dictionary<string, SortedSet<int>>();
        var judged = trees.Where(t => !t.GetDiagnostics().Any(d => d.Severity == DiagnosticSeverity.Error)).ToList();
        foreach (var tree in trees) {
            var model = compilation.GetSemanticModel(tree);
            var at = File(tree);
            var top = tree.GetRoot();
            unbound[at] = new HashSet<string>(); neutral[at] = new SortedSet<int>();
            foreach (var t in top.DescendantTrivia(descendIntoTrivia: true))
                if (t.Kind() == SyntaxKind.DisabledTextTrivia || t.IsDirective) {
                    var span = t.GetLocation().GetLineSpan();
                    for (int l = span.StartLinePosition.Line; l <= span.EndLinePosition.Line; l++) neutral[at].Add(l + 1);
                }
            Action<ISymbol, SyntaxToken> use = (s, token) => {
                if (s == null) return;
                s = Original(s);
                if (Kind(s) == null) return;
                if (!used.ContainsKey(s)) used[s] = new HashSet<string>();
                used[s].Add(Place(token));
            };
            foreach (var node in top.DescendantNodes(descendIntoTrivia: false)) {
                var name = node as SimpleNameSyntax;
                if (name != null) {
                    var info = model.GetSymbolInfo(name);
                    var symbol = info.Symbol;
                    var created = symbol as IMethodSymbol;
                    if (created != null && created.MethodKind == MethodKind.Constructor) { use(created, name.Identifier); symbol = created.ContainingType; }
                    if (name.Identifier.ValueText == "var") continue;
                    if (symbol == null) unbound[at].Add("[" + Line(name.GetLocation()) + "," + Text(name.Identifier.ValueText) + "]");
                    use(symbol, name.Identifier);
                }
                var creation = node as ObjectCreationExpressionSyntax;
                if (creation != null) {
                    var of = creation.Type;
                    while (of is QualifiedNameSyntax) of = ((QualifiedNameSyntax)of).Right;
                    var constructor = model.GetSymbolInfo(creation).Symbol;
                    var simple = of as SimpleNameSyntax;
                    if (simple != null && constructor != null) use(constructor, simple.Identifier);
                    if (simple != null && constructor == null) unbound[at].Add("[" + Line(simple.GetLocation()) + "," + Text(simple.Identifier.ValueText) + "]");
                }
                var initializer = node as ConstructorInitializerSyntax;
                if (initializer != null) use(model.GetSymbolInfo(initializer).Symbol, initializer.ThisOrBaseKeyword);
                var declared = node is BaseTypeDeclarationSyntax || node is DelegateDeclarationSyntax || node is MethodDeclarationSyntax
                    || node is ConstructorDeclarationSyntax || node is PropertyDeclarationSyntax || node is EnumMemberDeclarationSyntax || node is EventDeclarationSyntax
                    || node is VariableDeclaratorSyntax && node.Parent.Parent is BaseFieldDeclarationSyntax
                    ? model.GetDeclaredSymbol(node) : null;
                if (declared != null && Kind(declared) != null && judged.Contains(tree)) defined.Add(Original(declared));
            }
        }
        var paths = new HashSet<string>(judged.Where(t => t.Length <= 500000).Select(File));
        var questions = new List<string>();
        foreach (var s in defined) {
            var own = s.Locations.Where(l => l.IsInSource).ToList();
            var lines = own.Select(l => "[" + Text(File(l.SourceTree)) + "," + Line(l) + "]").ToList();
            HashSet<string> expect;
            if (!used.TryGetValue(s, out expect)) expect = new HashSet<string>();
            var name = Kind(s) == "constructor" ? s.ContainingType.Name : s.Name;
            if (name.Contains(".")) continue;
            foreach (var l in own.Where(l => paths.Contains(File(l.SourceTree))))
                questions.Add("{\"file\":" + Text(File(l.SourceTree)) + ",\"line\":" + Line(l) + ",\"name\":" + Text(name) + ",\"kind\":" + Text(Kind(s))
                    + ",\"expect\":[" + string.Join(",", expect) + "],\"neutral\":[" + string.Join(",", lines) + "]}");
        }
        var random = new Random(7);
        questions = questions.OrderBy(q => q, StringComparer.Ordinal).OrderBy(q => random.Next()).Take(limit).ToList();
        var output = new StringBuilder("{\"language\":\"csharp\",\"judged\":[" + string.Join(",", paths.Select(Text)) + "],\"neutral\":{");
        output.Append(string.Join(",", paths.Select(f => Text(f) + ":[" + string.Join(",", neutral[f]) + "]"))).Append("},\"dropped\":{");
        output.Append(string.Join(",", paths.Select(f => Text(f) + ":[" + string.Join(",", unbound[f]) + "]"))).Append("},\"references\":[");
        output.Append(string.Join(",\n", questions)).Append("]}");
        System.IO.File.WriteAllText(args[1], output.ToString());
        Console.WriteLine("{0} files, {1} judged; {2} definitions; {3} questions; {4} names unbound", trees.Count, judged.Count, defined.Count, questions.Count, unbound.Sum(u => u.Value.Count));
    }
}
