"""Questions about a C or C++ project with clang's own answers, for ask.py.

    python3 ask_clang.py FOLDER --out questions.json [--flags='-Iinclude -DX'] [--limit 600] PATTERN...

PATTERN is a glob of source files, from the folder. Needs PyPI's `libclang`. A definition's references are the lines on
which clang resolves its name, macros included. Lines that no compilation reads (`#if 0`, another system's files), lines
of directives and other declarations of the same name count neither way; nor do names between the parentheses of a macro
that clang does not see, because the macro drops them.
"""
import argparse, collections, ctypes, glob, json, os, random, re
import clang.cindex as cx
from clang.cindex import c_object_p
from clang.cindex import CursorKind as K

p = argparse.ArgumentParser()
p.add_argument("folder"); p.add_argument("patterns", nargs="+")
p.add_argument("--flags", default=""); p.add_argument("--out", required=True)
p.add_argument("--limit", type=int, default=600); p.add_argument("--language", default="c")
a = p.parse_args()
root = os.path.realpath(a.folder)
lib = cx.conf.lib

class Ranges(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cx.SourceRange))]
lib.clang_getAllSkippedRanges.restype = ctypes.POINTER(Ranges)
lib.clang_getAllSkippedRanges.argtypes = [cx.TranslationUnit]
P = ctypes.POINTER
lib.clang_getSpellingLocation.argtypes = [cx.SourceLocation, P(c_object_p), P(ctypes.c_uint), P(ctypes.c_uint), P(ctypes.c_uint)]

texts = {}
def text(path):
    if path not in texts:
        texts[path] = open(path, "rb").read()
    return texts[path]

inside = {}
def own(path):
    """The path from the root, if the file is the project's."""
    if path not in inside:
        real = os.path.realpath(path)
        inside[path] = os.path.relpath(real, root) if real.startswith(root + os.sep) else None
    return inside[path]

def place(location):
    f, l, c, o = c_object_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
    lib.clang_getSpellingLocation(location, ctypes.byref(f), ctypes.byref(l), ctypes.byref(c), ctypes.byref(o))
    if not f:
        return None
    name = cx.File(f).name
    path = own(name)
    return (path, l.value, o.value, name) if path else None

DEFINES = {K.FUNCTION_DECL: "function", K.VAR_DECL: "variable", K.STRUCT_DECL: "struct", K.UNION_DECL: "union",
           K.ENUM_DECL: "enum", K.FIELD_DECL: "field", K.ENUM_CONSTANT_DECL: "member", K.TYPEDEF_DECL: "alias",
           K.CXX_METHOD: "method", K.CLASS_DECL: "class", K.CLASS_TEMPLATE: "class", K.FUNCTION_TEMPLATE: "function",
           K.TYPE_ALIAS_DECL: "alias", K.TYPE_ALIAS_TEMPLATE_DECL: "alias", K.MACRO_DEFINITION: "macro"}
REFERS = {K.DECL_REF_EXPR, K.MEMBER_REF_EXPR, K.TYPE_REF, K.MEMBER_REF, K.TEMPLATE_REF, K.MACRO_INSTANTIATION, K.OVERLOADED_DECL_REF}

defined, declared, used, calls = {}, collections.defaultdict(set), collections.defaultdict(set), collections.defaultdict(set)
active, judged = collections.defaultdict(set), set()
# Places of names that clang sees, by file, and the extents of macros.
met, extents = collections.defaultdict(set), collections.defaultdict(set)

def key(cursor):
    if cursor.kind in (K.MACRO_DEFINITION,):
        at = place(cursor.location)
        return at and ("macro", at[0], at[1])
    if getattr(lib, "clang_getSpecializedCursorTemplate", None):
        of = lib.clang_getSpecializedCursorTemplate(cursor)
        if of and of.kind != K.INVALID_FILE and of.kind in DEFINES:
            cursor = of
    return cursor.get_usr() or None

def walk(cursor, function, local):
    for child in cursor.get_children():
        at = place(child.location)
        if at is None and child.kind not in (K.LINKAGE_SPEC, K.NAMESPACE, K.UNEXPOSED_DECL):
            if child.location.file is not None:
                continue
        kind, inner, inner_local = child.kind, function, local
        if at:
            judged.add(at[0])
            active[at[0]].add(at[1])
            met[at[0]].add(at[2])
            if kind == K.MACRO_INSTANTIATION:
                extents[at[0]].add((child.extent.start.offset, child.extent.end.offset))
            name = child.spelling
            if kind == K.TYPE_REF or kind == K.TEMPLATE_REF:
                name = (child.referenced.spelling if child.referenced else name).split("::")[-1]
            written = name and text(at[3])[at[2]:at[2] + len(name.encode())] == name.encode()
            if kind in DEFINES and written and not (local and kind in (K.VAR_DECL,)):
                it = key(child)
                if it and (child.is_definition() or kind in (K.MACRO_DEFINITION, K.TYPEDEF_DECL)):
                    defined.setdefault(it, set()).add((at[0], at[1], name, DEFINES[kind]))
                elif it:
                    declared[it].add((at[0], at[1]))
            if kind in REFERS and child.referenced is not None and written:
                it = key(child.referenced)
                if it:
                    used[it].add((at[0], at[1]))
                    if function:
                        calls[it].add((at[0], at[1], function))
        if kind in (K.FUNCTION_DECL, K.CXX_METHOD, K.CONSTRUCTOR, K.DESTRUCTOR, K.FUNCTION_TEMPLATE) and child.is_definition():
            inner, inner_local = child.spelling, True
        walk(child, inner, inner_local)

index = cx.Index.create()
files = sorted({f for pattern in a.patterns for f in glob.glob(os.path.join(root, pattern), recursive=True)})
includes = glob.glob("/usr/lib/gcc/*/*/include")
failed = 0
for f in files:
    args = a.flags.replace("@", root).split() + [x for i in includes for x in ("-isystem", i)]
    try:
        tu = index.parse(f, args=args, options=cx.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
    except cx.TranslationUnitLoadError:
        failed += 1
        continue
    errors = [d for d in tu.diagnostics if d.severity >= 3]
    if errors:
        failed += 1
        print(os.path.relpath(f, root), errors[0])
        if any(d.severity >= 4 for d in errors):
            continue
    skips = lib.clang_getAllSkippedRanges(tu)
    here = collections.defaultdict(set)
    for i in range(skips.contents.count):
        r = skips.contents.ranges[i]
        path = r.start.file and own(r.start.file.name)
        if path:
            here[path].update(range(r.start.line, r.end.line + 1))
    seen = {own(i.include.name) for i in tu.get_includes()} | {own(f)}
    for path in seen - {None}:
        lines = text(os.path.join(root, path)).count(b"\n") + 2
        fresh = set(range(1, lines)) - here[path]
        active[path].update(fresh)
    walk(tu.cursor, None, False)

def neutral_lines(path):
    lines = text(os.path.join(root, path)).split(b"\n")
    out, directive = set(), False
    for n, line in enumerate(lines, 1):
        if directive or line.lstrip().startswith(b"#"):
            out.add(n)
            directive = line.rstrip().endswith(b"\\")
        if n not in active[path]:
            out.add(n)
    return sorted(out)

# Files that an index leaves out by its rules: larger than 500 KB, or without an ending of the language.
LARGEST, ENDINGS = 500_000, (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inl")
judged = {f for f in judged if f.endswith(ENDINGS) and len(text(os.path.join(root, f))) <= LARGEST}
dropped = collections.defaultdict(set)
for f, ranges in extents.items():
    whole = text(os.path.join(root, f))
    for start, end in ranges:
        for word in re.finditer(rb"[A-Za-z_]\w*", whole[start:end]):
            if start + word.start() not in met[f]:
                dropped[f].add((whole.count(b"\n", 0, start + word.start()) + 1, word.group().decode()))
questions = []
for it, places in defined.items():
    own_lines = {(f, l) for f, l, _, _ in places} | declared[it]
    for f, l, name, kind in (at for at in places if at[0] in judged):
        expect = sorted(used[it] - own_lines)
        questions.append({"file": f, "line": l, "name": name, "kind": kind, "expect": expect, "neutral": sorted(own_lines)})
random.Random(7).shuffle(questions)
questions = questions[:a.limit]
paths = sorted(judged)
json.dump({"language": a.language, "judged": paths, "neutral": {f: neutral_lines(f) for f in paths}, "dropped": {f: sorted(dropped[f]) for f in paths}, "references": questions},
          open(a.out, "w"))
print(f"{len(files)} files, {failed} with errors; {len(defined)} definitions; {len(questions)} questions, "
      f"{sum(len(q['expect']) for q in questions)} lines")
