//! Go's rules, one test each.

use super::{Marked, check, check_bases, check_imports, relations};

#[test]
fn a_package_is_all_files_of_a_folder() {
    check(
        "--- go.mod
module example.org/shop
--- a.go
package shop
func f⟦=f⟧() { g⟦g⟧() }
var v⟦=v⟧ = f⟦f⟧
--- b.go
package shop
func g⟦=g⟧() { f⟦f⟧(); v⟦v⟧() }
--- b_test.go
package shop
func TestG() { g⟦g⟧() }
--- c_test.go
package shop_test
func g⟦=other⟧() { g⟦other⟧() }
",
    );
}

#[test]
fn imports_bind_the_package_or_another_name() {
    check(
        "--- go.mod
module example.org/shop/v2 // a comment
--- root.go
package shop
func Root⟦=Root⟧() {}
--- cart/cart.go
package cart
func New⟦=New⟧() {}
--- go-item/item.go
package item
func Get⟦=Get⟧() {}
--- cmd/main.go
package main
import (
\t\"example.org/shop/v2\"
\tc \"example.org/shop/v2/cart\"
\t. \"example.org/shop/v2/cart\"
\t\"example.org/shop/v2/go-item\"
\t\"other.org/x/cart\"
)
func main() {
\tshop.Root⟦Root⟧()
\tc.New⟦New⟧()
\tNew⟦New⟧()
\titem.Get⟦Get⟧()
\tcart.New⟦?⟧()
}
",
    );
}

#[test]
fn importers_depend_on_the_files_of_the_package_but_its_tests() {
    check_imports(
        "--- go.mod
module example.org/shop
--- main.go
package main
import _ \"example.org/shop/cart\"
--- cart/a.go
package cart
--- cart/b.go
package cart
--- cart/b_test.go
package cart
",
        &["main.go -> cart/a.go", "main.go -> cart/b.go"],
    );
}

#[test]
fn methods_belong_to_the_type_of_their_receiver() {
    check(
        "--- a.go
package a
type T⟦=T⟧ struct { n⟦=n⟧ int; next⟦=next⟧ *T⟦T⟧ }
type U⟦=U⟧ struct { n⟦=un⟧ int }
--- b.go
package a
func (t *T⟦T⟧) Go⟦=Go⟧() *T⟦T⟧ { t.n⟦n⟧++; return t.next⟦next⟧.Go⟦Go⟧() }
func (u U⟦U⟧) Go⟦=uGo⟧() int { return u.n⟦un⟧ }
func f(u U⟦U⟧) {
\tt := &T⟦T⟧{n⟦n⟧: u.Go⟦uGo⟧()}
\tt.Go⟦Go⟧().next⟦next⟧.n⟦n⟧ = 1
\tg := (*T⟦T⟧).Go⟦Go⟧
\tg(t).Go⟦Go⟧()
}
",
    );
}

#[test]
fn embedded_types_give_their_members() {
    let project = "--- a.go
package a
type Base⟦=Base⟧ struct { id⟦=id⟧ int }
func (b *Base⟦Base⟧) Id⟦=Id⟧() int { return b.id⟦id⟧ }
type Named⟦=Named⟧ interface { Name⟦=Name⟧() string }
type Both⟦=Both⟧ interface { Named⟦Named⟧; Other() }
type T⟦=T⟧ struct { *Base⟦Base⟧; Named⟦Named⟧ }
func f(t T⟦T⟧, b Both⟦Both⟧) {
\tt.Id⟦Id⟧()
\tt.id⟦id⟧ = 1
\tt.Name⟦Name⟧()
\tb.Name⟦Name⟧()
}
";
    check(project);
    check_bases(project, &["Both -> Named", "T -> Base", "T -> Named"]);
}

#[test]
fn what_has_the_methods_of_an_interface_derives_from_it() {
    check_bases(
        "--- a.go
package a
type Item struct{}
type Store interface { Get(key string) (*Item, error); close() }
type Closer interface { Close() error }
type Memory struct{}
func (m *Memory) Get(name string) (*Item, error) { return nil, nil }
func (m *Memory) close() {}
type Wrapped struct{ *Memory }
type Other struct{}
func (o Other) Get(key string) (*Other, error) { return nil, nil }
func (o Other) close() {}
type Few struct{}
func (f Few) Get(key string) (*Item, error) { return nil, nil }
type Func func() error
func (f Func) Close() error { return f() }
type Copy Memory
type Number interface { ~int | ~string }
type Failure interface { error; Code() int }
type Fault struct{}
func (f Fault) Error() string { return \"\" }
func (f Fault) Code() int { return 1 }
type Silent struct{}
func (s Silent) Code() int { return 1 }
type Reader interface { io.Reader; Code() int }
",
        &["Fault -> Failure", "Func -> Closer", "Memory -> Store", "Wrapped -> Memory", "Wrapped -> Store"],
    );
}

#[test]
fn types_are_followed_through_calls_containers_and_ranges() {
    check(
        "--- a.go
package a
type T⟦=T⟧ struct{}
func (t T⟦T⟧) M⟦=M⟧() {}
type List⟦=List⟧ []*T⟦T⟧
type Func⟦=Func⟧ func() (int, *T⟦T⟧)
type Key⟦=Key⟧ string
func (k Key⟦Key⟧) K⟦=K⟧() {}
func two⟦=two⟧() (t T⟦T⟧, err error) { t.M⟦M⟧(); return }
func each(xs ...T⟦T⟧) { xs[0].M⟦M⟧() }
func f(m map[Key⟦Key⟧][]T⟦T⟧, l List⟦List⟧, ch <-chan T⟦T⟧, fn Func⟦Func⟧, any interface{}) {
\tfor k, v := range m { k.K⟦K⟧(); v[0].M⟦M⟧(); v.M⟦?⟧() }
\tfor _, t := range l { t.M⟦M⟧() }
\tfor t := range ch { t.M⟦M⟧() }
\tt, ok := <-ch
\tt.M⟦M⟧()
\tu, err := two⟦two⟧()
\tu.M⟦M⟧()
\terr.M⟦?⟧()
\t_, w := fn()
\tw.M⟦M⟧()
\tx := any.(*T⟦T⟧)
\tx.M⟦M⟧()
\ty, _ := m[\"\"]
\ty[0].M⟦M⟧()
\tappend(l, nil)[0].M⟦M⟧()
\tnew(T⟦T⟧).M⟦M⟧()
\tmake([]T⟦T⟧, 1)[0].M⟦M⟧()
\tfunc() T⟦T⟧ { return *x }().M⟦M⟧()
\tKey⟦Key⟧(\"\").K⟦K⟧()
\tselect { case z := <-ch: z.M⟦M⟧() }
\tvar f func(T⟦T⟧) = func(t T⟦T⟧) { t.M⟦M⟧() }
\tif ok { f(t) }
}
",
    );
}

#[test]
fn a_type_switch_tells_the_type() {
    check(
        "--- a.go
package a
type A⟦=A⟧ struct{}
func (a *A⟦A⟧) M⟦=aM⟧() {}
type B⟦=B⟧ struct{}
func (b B⟦B⟧) M⟦=bM⟧() {}
type I⟦=I⟧ interface { M⟦=M⟧() }
func f(x I⟦I⟧) {
\tswitch x := x.(type) {
\tcase *A⟦A⟧:
\t\tx.M⟦aM⟧()
\tcase B⟦B⟧:
\t\tx.M⟦bM⟧()
\tdefault:
\t\tx.M⟦M⟧()
\t}
}
",
    );
}

#[test]
fn a_name_keeps_its_meaning_until_it_is_declared_anew() {
    check(
        "--- a.go
package a
type A⟦=A⟧ struct{}
func (a A⟦A⟧) Next⟦=aNext⟧() B⟦B⟧ { return B⟦B⟧{} }
type B⟦=B⟧ struct{}
func (b B⟦B⟧) Next⟦=bNext⟧() A⟦A⟧ { return A⟦A⟧{} }
func x⟦=x⟧() {}
func f(a A⟦A⟧) {
\tif true {
\t\ta.Next⟦aNext⟧()
\t\ta := a.Next⟦aNext⟧()
\t\ta.Next⟦bNext⟧()
\t}
\tif a := a.Next⟦aNext⟧(); true {
\t\ta.Next⟦bNext⟧()
\t}
\ta.Next⟦aNext⟧()
\tx⟦x⟧()
\tx := 1
\tx()
}
",
    );
}

#[test]
fn literals_name_fields_and_nested_types_may_be_left_out() {
    check(
        "--- a.go
package a
type P⟦=P⟧ struct { X⟦=X⟧ int; In⟦=In⟧ []Q⟦Q⟧ }
type Q⟦=Q⟧ struct { Y⟦=Y⟧ int }
type M⟦=M⟧ map[int]Q⟦Q⟧
const X⟦=cX⟧ = 1
var table = []struct{ name⟦=name⟧ string; q⟦=q⟧ Q⟦Q⟧ }{{name⟦name⟧: \"\", q⟦q⟧: Q⟦Q⟧{Y⟦Y⟧: 2}}}
func f() {
\t_ = P⟦P⟧{X⟦X⟧: X⟦cX⟧, In⟦In⟧: []Q⟦Q⟧{{Y⟦Y⟧: 1}}}
\t_ = map[int]*P⟦P⟧{X⟦cX⟧: {X⟦X⟧: 1}}
\t_ = M⟦M⟧{X⟦cX⟧: {Y⟦Y⟧: 1}}
\t_ = http.Server{X⟦?⟧: 1}
\tfor _, row := range table { row.q⟦q⟧.Y⟦Y⟧++ }
}
",
    );
}

#[test]
fn constants_repeat_the_type_of_the_line_before() {
    check(
        "--- a.go
package a
type Kind⟦=Kind⟧ int
func (k Kind⟦Kind⟧) String⟦=String⟧() string { return \"\" }
const (
\tOne⟦=One⟧ Kind⟦Kind⟧ = iota
\tTwo⟦=Two⟧
)
var s = Two⟦Two⟧.String⟦String⟧() + One⟦One⟧.String⟦String⟧()
",
    );
}

#[test]
fn type_parameters_are_what_their_constraints_say() {
    check(
        "--- a.go
package a
type Shower⟦=Shower⟧ interface { Show⟦=Show⟧() }
type Set⟦=Set⟧[K comparable, V Shower⟦Shower⟧] struct { items⟦=items⟧ map[K]V }
func New⟦=New⟧[K comparable, V Shower⟦Shower⟧]() *Set⟦Set⟧[K, V] { return &Set⟦Set⟧[K, V]{items⟦items⟧: nil} }
func (s *Set⟦Set⟧[K, V]) Len⟦=Len⟧() int { return len(s.items⟦items⟧) }
func f[T Shower⟦Shower⟧](t T) {
\tt.Show⟦Show⟧()
\tNew⟦New⟧[int, T]().Len⟦Len⟧()
}
",
    );
}

#[test]
fn a_name_for_a_type_has_its_members() {
    check(
        "--- a.go
package a
type T⟦=T⟧ struct { n⟦=n⟧ int }
func (t T⟦T⟧) M⟦=M⟧() {}
type Same⟦=Same⟧ = T⟦T⟧
type Made⟦=Made⟧ T⟦T⟧
func (m Made⟦Made⟧) Own⟦=Own⟧() {}
func f(s Same⟦Same⟧, m Made⟦Made⟧) { s.M⟦M⟧(); m.Own⟦Own⟧(); m.n⟦n⟧ = s.n⟦n⟧ }
",
    );
}

#[test]
fn a_parameter_may_bear_the_name_of_its_types_package() {
    check(
        "--- go.mod
module m
--- rand/rand.go
package rand
type Rand⟦=Rand⟧ struct{}
func (r *Rand⟦Rand⟧) Int⟦=Int⟧() int { return 0 }
--- a.go
package a
import \"m/rand\"
func f(rand *rand.Rand⟦Rand⟧) (n int) { rand.Int⟦Int⟧(); return func(rand rand.Rand⟦?⟧) int { return 1 }(*rand) }
",
    );
}

#[test]
fn files_for_several_systems_define_a_name_each() {
    check(
        "--- a.go
package a
func f() { open⟦linux,windows⟧() }
--- open_linux.go
package a
func open⟦=linux⟧() { again⟦again⟧() }
func again⟦=again⟧() { open⟦linux⟧() }
--- open_windows.go
package a
func open⟦=windows⟧() {}
func again⟦=other⟧() { open⟦windows⟧() }
--- main_linux_amd64.go
package a
func g() { open⟦linux⟧(); again⟦again⟧() }
--- main_unix.go
package a
func h() { again⟦again,other⟧() }
",
    );
}

#[test]
fn the_standard_librarys_paths_begin_below_its_module() {
    check(
        "--- src/go.mod
module std
--- src/fmt/print.go
package fmt
func Println⟦=Println⟧() {}
--- src/log/log.go
package log
import \"fmt\"
func f() { fmt.Println⟦Println⟧() }
",
    );
}

/// Text that programs write may be nested as deep as they like.
#[test]
fn deep_text_ends() {
    let deep = |open: &str, close: &str| format!("package a\nvar x = {}1{}\n", open.repeat(3_000), close.repeat(3_000));
    let nested = |open: &str| format!("package a\nfunc f() {{\n{}{}}}\n", open.repeat(1_000), "}\n".repeat(1_000));
    let texts = [
        deep("(", ")"),
        deep("f(", ")"),
        deep("[]T{", "}"),
        deep("!", ""),
        format!("package a\nvar x = a{}\n", ".b".repeat(3_000)),
        format!("package a\nvar x = 1{}\n", " + y".repeat(3_000)),
        format!("package a\nvar x {}T\n", "[]".repeat(3_000)),
        nested("if x := x; x {\n"),
        nested("for x := range x {\n"),
        nested("func() {\n"),
        format!("package a\nfunc f() {{\n{}}}\n", "x := x\nx = x\n".repeat(3_000)),
    ];
    for text in texts {
        relations(&[Marked { path: "a.go".to_owned(), text, marks: Vec::new() }]);
    }
}

proptest::proptest! {
    /// Any parts of a file, in any order, are lowered and bound without a fault.
    #[test]
    fn any_text_is_resolved(pieces in proptest::collection::vec((0usize..4_000, 1usize..300), 1..12)) {
        const SAMPLE: &str = include_str!("../../../crates/lang/src/languages/go/sample.go");
        let text = super::shuffled(SAMPLE, &pieces);
        let file = |path: &str| Marked { path: path.to_owned(), text: text.clone(), marks: Vec::new() };
        relations(&[file("a.go"), file("depot/b.go"), file("depot/b_test.go")]);
    }
}

#[test]
fn a_type_in_brackets_may_be_an_argument_of_a_call() {
    check(
        "--- go.mod
module a
--- a.go
package a
import \"sync\"
type Eng⟦=Eng⟧ struct{}
func (e *Eng⟦Eng⟧) Run⟦=Run⟧() {}
var engine⟦=engine⟧ = sync.OnceValue(func() *Eng⟦Eng⟧ { return &Eng⟦Eng⟧{} })
func typed⟦=typed⟧[T any](c int) *Eng⟦Eng⟧ { return nil }
func f() {
\tengine⟦engine⟧().Run⟦Run⟧()
\ttyped⟦typed⟧[string](1).Run⟦Run⟧()
}
",
    );
}

#[test]
fn type_arguments_reach_members_and_results() {
    check(
        "--- go.mod
module a
--- a.go
package a
type Eng⟦=Eng⟧ struct{}
func (e *Eng⟦Eng⟧) Run⟦=Run⟧() {}
func blanks⟦=blanks⟧[E any](n int) []E { return nil }
func typed⟦=typed⟧[T any](c int) (res T) { return }
func pair⟦=pair⟧[K, V any](k K, v V) (K, V) { return k, v }
func made⟦=made⟧[T any](by func() T) T { return by() }
type Box⟦=Box⟧[T any] struct { V⟦=V⟧ T }
func (b Box⟦Box⟧[T]) Get⟦=Get⟧() T { return b.V⟦V⟧ }
type Store⟦=Store⟧[T any] interface { Load⟦=Load⟧() T }
type EngStore⟦=EngStore⟧ = Store⟦Store⟧[*Eng⟦Eng⟧]
type Wide⟦=Wide⟧ interface { EngStore⟦EngStore⟧; Extra⟦=Extra⟧() }
func f(b Box⟦Box⟧[*Eng⟦Eng⟧], w Wide⟦Wide⟧) {
\tx := blanks⟦blanks⟧[Eng⟦Eng⟧](3)
\tx[0].Run⟦Run⟧()
\ttyped⟦typed⟧[*Eng⟦Eng⟧](1).Run⟦Run⟧()
\ta, c := pair⟦pair⟧[int, *Eng⟦Eng⟧](1, nil)
\tc.Run⟦Run⟧()
\t_, d := pair⟦pair⟧(1, &Eng⟦Eng⟧{})
\td.Run⟦Run⟧()
\tmade⟦made⟧(func() *Eng⟦Eng⟧ { return nil }).Run⟦Run⟧()
\tb.Get⟦Get⟧().Run⟦Run⟧()
\tBox⟦Box⟧[Eng⟦Eng⟧]{V⟦V⟧: Eng⟦Eng⟧{}}.V⟦V⟧.Run⟦Run⟧()
\tw.Load⟦Load⟧().Run⟦Run⟧()
\tw.Extra⟦Extra⟧()
\ta.Run⟦?⟧()
}
",
    );
}

#[test]
fn a_package_that_is_documented_has_uses() {
    check(
        "--- go.mod
module a
--- main.go
package main
import \"a/tea\"
func main() { tea⟦tea⟧.Run⟦Run⟧() }
--- tea/doc.go
// Package tea is for tea.
package tea⟦=tea⟧
--- tea/run.go
package tea
func Run⟦=Run⟧() {}
",
    );
}

#[test]
fn keys_of_named_maps_are_values() {
    check(
        "--- a.go
package a
import (\"net/http\"; \"net/url\")
const Accept⟦=Accept⟧ = \"Accept\"
const Addr⟦=Addr⟧ = \"a\"
func f() {
\t_ = http.Header{Accept⟦Accept⟧: []string{Addr⟦Addr⟧}}
\t_ = &url.Values{Accept⟦Accept⟧: nil}
\t_ = http.Server{Addr: Addr⟦Addr⟧}
}
",
    );
}
