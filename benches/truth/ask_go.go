// Questions about a Go module with go/types' own answers, for ask.py.
//
//	cd FOLDER && go run …/ask_go.go . questions.json LIMIT
//
// Tests are checked with their package. A definition's references are the lines on which the compiler binds its name; names
// that it could not bind count neither way, nor do files that are not built here. What is defined inside of a function is
// not asked for.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

type place struct {
	file string
	line int
}

func (p place) MarshalJSON() ([]byte, error) { return json.Marshal([]any{p.file, p.line}) }

type definition struct {
	place
	name, kind string
	pos        string
}

type question struct {
	File   string  `json:"file"`
	Line   int     `json:"line"`
	Name   string  `json:"name"`
	Kind   string  `json:"kind"`
	Expect []place `json:"expect"`
}

var (
	root    string
	set     = token.NewFileSet()
	defined = map[string]definition{}
	used    = map[string]map[place]bool{}
	written = map[string]int{}
	dropped = map[string][][]any{}
	judged  = map[string]bool{}
)

func at(pos token.Pos) (place, string) {
	p := set.Position(pos)
	file, err := filepath.Rel(root, p.Filename)
	if err != nil || strings.HasPrefix(file, "..") {
		return place{}, ""
	}
	return place{file, p.Line}, file + ":" + strconv.Itoa(p.Offset)
}

func kind(o types.Object, local *types.Scope, inner bool) string {
	switch o := o.(type) {
	case *types.Func:
		if o.Type().(*types.Signature).Recv() != nil {
			return "method"
		}
		return "function"
	case *types.TypeName:
		if o.Parent() == local {
			return "class"
		}
	case *types.Const:
		if o.Parent() == local {
			return "constant"
		}
	case *types.Var:
		if o.IsField() && !o.Embedded() && !inner {
			return "field"
		}
		if o.Parent() == local {
			return "constant"
		}
	}
	return ""
}

// Types of the packages that are imported have the same places as those that are checked here.
func check(path string, names []string, folder string, imports types.Importer) {
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(set, filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			fmt.Println(err)
			continue
		}
		files = append(files, file)
		inside, _ := filepath.Rel(root, filepath.Join(folder, name))
		judged[inside] = true
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}}
	errors := 0
	config := types.Config{Importer: imports, FakeImportC: true, Error: func(err error) {
		if errors++; errors < 3 {
			fmt.Println(err)
		}
	}}
	checked, _ := config.Check(path, set, files, info)
	for _, file := range files {
		var function ast.Node
		ast.Inspect(file, func(node ast.Node) bool {
			if body, ok := node.(*ast.BlockStmt); ok && (function == nil || body.Pos() >= function.End()) {
				function = body
			}
			name, ok := node.(*ast.Ident)
			if !ok || name.Name == "_" {
				return true
			}
			here, key := at(name.Pos())
			written[name.Name]++
			if o := info.Defs[name]; o != nil {
				if k := kind(o, checked.Scope(), function != nil && name.Pos() < function.End()); k != "" {
					defined[key] = definition{here, name.Name, k, key}
				}
			} else if o := info.Uses[name]; o != nil {
				if function, ok := o.(*types.Func); ok {
					o = function.Origin()
				} else if field, ok := o.(*types.Var); ok {
					o = field.Origin()
				}
				if _, of := at(o.Pos()); o.Pos().IsValid() && of != "" {
					if used[of] == nil {
						used[of] = map[place]bool{}
					}
					used[of][here] = true
				}
			} else if file.Name != name {
				dropped[here.file] = append(dropped[here.file], []any{here.line, name.Name})
			}
			return true
		})
	}
}

func main() {
	root, _ = filepath.Abs(os.Args[1])
	limit, _ := strconv.Atoi(os.Args[3])
	imports := importer.ForCompiler(set, "source", nil).(types.ImporterFrom)
	filepath.Walk(root, func(folder string, entry os.FileInfo, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if name := entry.Name(); folder != root && (name == "vendor" || name == "testdata" || name[0] == '.' || name[0] == '_') {
			return filepath.SkipDir
		}
		p, err := build.ImportDir(folder, 0)
		if err != nil {
			return nil
		}
		inside, _ := filepath.Rel(root, folder)
		check(inside, append(append(p.GoFiles, p.CgoFiles...), p.TestGoFiles...), folder, from{imports, folder})
		if len(p.XTestGoFiles) > 0 {
			check(inside+"_test", p.XTestGoFiles, folder, from{imports, folder})
		}
		return nil
	})
	questions := []question{}
	for key, d := range defined {
		// Nothing can be said of a name that is written once.
		if written[d.name] < 2 {
			continue
		}
		expect := []place{}
		for one := range used[key] {
			expect = append(expect, one)
		}
		sort.Slice(expect, func(i, j int) bool {
			return expect[i].file < expect[j].file || expect[i].file == expect[j].file && expect[i].line < expect[j].line
		})
		questions = append(questions, question{d.file, d.line, d.name, d.kind, expect})
	}
	sort.Slice(questions, func(i, j int) bool {
		a, b := questions[i], questions[j]
		return a.File < b.File || a.File == b.File && (a.Line < b.Line || a.Line == b.Line && a.Name < b.Name)
	})
	all := len(questions)
	rand.New(rand.NewSource(7)).Shuffle(all, func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
	questions = questions[:min(limit, all)]
	files, lines := []string{}, 0
	for file := range judged {
		files = append(files, file)
	}
	sort.Strings(files)
	for _, q := range questions {
		lines += len(q.Expect)
	}
	text, _ := json.Marshal(map[string]any{"language": "go", "judged": files, "dropped": dropped, "references": questions})
	os.WriteFile(os.Args[2], text, 0o644)
	fmt.Println(len(files), "files;", all, "definitions;", len(questions), "questions;", lines, "lines")
}

type from struct {
	types.ImporterFrom
	folder string
}

func (f from) Import(path string) (*types.Package, error) { return f.ImportFrom(path, f.folder, 0) }
