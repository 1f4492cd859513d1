//! C's rules, one test each.

use super::{check, check_imports};

#[test]
fn a_header_declares_what_a_source_defines() {
    check(
        "--- shop.h
int sell⟦sell⟧(int count);
extern int sold⟦sold⟧;
--- shop.c
#include \"shop.h\"
int sold⟦=sold⟧ = 0;
static int help⟦help⟧(int);
int sell⟦=sell⟧(int count) { sold⟦sold⟧ += help⟦help⟧(count); return sold⟦sold⟧; }
static int help⟦=help⟧(int count) { return count; }
--- main.c
#include \"shop.h\"
static int help⟦=other⟧(void) { return sell⟦sell⟧(1); }
int main(void) { return help⟦other⟧() + sold⟦sold⟧; }
--- far.c
int far(void) { return sell⟦?⟧(2) + sold⟦?⟧; }
",
    );
}

#[test]
fn names_are_seen_through_includes_only() {
    let project = "--- lib/include/lib/a.h
#include \"b.h\"
#define LIMIT⟦=LIMIT⟧ 3
--- lib/include/lib/b.h
enum color⟦=color⟧ { RED⟦=RED⟧ };
typedef struct item⟦=item⟧ { int n⟦=n⟧; } item_t⟦=item_t⟧;
--- src/a.c
#include <lib/a.h>
enum color⟦color⟧ c(void) { item_t⟦item_t⟧ one; struct item⟦item⟧ *two; one.n⟦n⟧ = LIMIT⟦LIMIT⟧; two->n⟦n⟧++; return RED⟦RED⟧; }
--- src/string.h
int far⟦=far⟧(void) { return 0; }
--- src/b.c
#include <string.h>
int b(void) { return LIMIT⟦?⟧ + RED⟦?⟧ + far⟦?⟧(); }
";
    check(project);
    check_imports(project, &["lib/include/lib/a.h -> lib/include/lib/b.h", "src/a.c -> lib/include/lib/a.h"]);
}

#[test]
fn compile_commands_say_where_headers_are() {
    let project = "--- compile_commands.json
[{\"directory\": \"/home/me/shop/build\", \"file\": \"../src/a.c\", \"command\": \"cc -I../second -c ../src/a.c\"}]
--- first/x.h
int x⟦=first⟧;
--- second/x.h
int x⟦=second⟧;
--- src/a.c
#include <x.h>
int a(void) { return x⟦second⟧; }
";
    check(project);
    check_imports(project, &["src/a.c -> second/x.h"]);
}

#[test]
fn a_header_uses_what_is_included_before_it() {
    check(
        "--- types.h
struct item⟦=item⟧ { int n⟦=n⟧; };
--- later.h
static inline int count(struct item⟦item⟧ *i) { return i->n⟦n⟧; }
--- main.c
#include \"types.h\"
#include \"later.h\"
",
    );
}

#[test]
fn a_type_that_a_header_leaves_open_is_that_of_its_source() {
    check(
        "--- a.h
typedef struct item⟦item⟧ item_t⟦=item_t⟧;
item_t⟦item_t⟧ *make⟦make⟧(void);
--- a.c
#include \"a.h\"
struct item⟦=item⟧ { int n⟦=n⟧; };
item_t⟦item_t⟧ *make⟦=make⟧(void) { item_t⟦item_t⟧ *i = 0; i->n⟦n⟧ = 1; return i; }
--- b.c
#include \"a.h\"
int b(void) { return make⟦make⟧() != 0; }
",
    );
}

#[test]
fn members_belong_to_the_written_type() {
    check(
        "--- a.c
struct point⟦=point⟧ { int x⟦=x⟧, y; };
typedef struct {
    struct point⟦point⟧ at⟦=at⟧[2], *far⟦=far⟧;
    union { int number⟦=number⟧; };
    struct { int x⟦=inner⟧; } named⟦=named⟧;
    struct point⟦point⟧ *(*make⟦=make⟧)(int x);
} item⟦=item⟧;
typedef item⟦item⟧ *items⟦=items⟧;
static item⟦item⟧ *get⟦=get⟧(items⟦items⟧ all, int x) { return &all[x]; }
int f(items⟦items⟧ all, item⟦item⟧ one, void *any) {
    item⟦item⟧ *p = &one, q;
    one.at⟦at⟧[1].x⟦x⟧ = p->number⟦number⟧;
    all[3].named⟦named⟧.x⟦inner⟧++;
    (*p).make⟦make⟧(1)->x⟦x⟧ = get⟦get⟧(all, 1)->far⟦far⟧->x⟦x⟧;
    q = (p + 1)->far⟦far⟧ ? *p : one;
    any->x⟦?⟧;
    return ((struct point⟦point⟧ *)any)->x⟦x⟧;
}
",
    );
}

#[test]
fn tables_hold_functions() {
    check(
        "--- a.c
struct ops⟦=ops⟧ { int (*open⟦=open⟧)(void); struct { int (*close⟦=close⟧)(void); } more⟦=more⟧; };
typedef int (*handler⟦=handler⟧)(void);
static int my_open⟦=my_open⟧(void) { return 1; }
static struct ops⟦ops⟧ own = { .open⟦open⟧ = my_open⟦my_open⟧, .more⟦more⟧ = { .close⟦close⟧ = my_open⟦my_open⟧ } };
static struct ops⟦ops⟧ all[] = { { .open⟦open⟧ = my_open⟦my_open⟧ }, [1] = { my_open⟦my_open⟧ } };
static handler⟦handler⟧ table⟦=table⟧[] = { my_open⟦my_open⟧ };
int f(struct ops⟦ops⟧ *o, int my_open) {
    int open = my_open;
    *o = (struct ops⟦ops⟧){ .open⟦open⟧ = 0 };
    return o->open⟦open⟧() + open + table⟦table⟧[0]();
}
",
    );
}

#[test]
fn macros_are_defined_and_used() {
    check(
        "--- a.c
#define LIMIT⟦=LIMIT⟧ 10
#define TWICE⟦=TWICE⟧(x) ((x) + help⟦help⟧(x) + other.x + LIMIT⟦LIMIT⟧ + #LIMIT) /* LIMIT */
#define alias⟦=alias⟧ help⟦help⟧
#define item_of⟦=item_of⟧(p) ((struct item⟦item⟧ *)(p))
#define container(p, type, member) ((type *)(p))
struct item⟦=item⟧ { int x⟦=x⟧; };
static struct item⟦item⟧ *help⟦help⟧(int x);
static struct item⟦item⟧ *help⟦=help⟧(int x) { return 0; }
#ifdef LIMIT⟦LIMIT⟧
int f(void *p, int x) {
    alias⟦alias⟧(1)->x⟦x⟧ = TWICE⟦TWICE⟧(LIMIT⟦LIMIT⟧);
    container(p, struct item⟦item⟧, x⟦x⟧)->x⟦x⟧ = x;
    return item_of⟦item_of⟧(p)->x⟦x⟧;
}
#endif
",
    );
}

#[test]
fn locals_hide_the_names_of_the_file() {
    check(
        "--- a.c
int count⟦=count⟧;
int size⟦=size⟧(void) { return count⟦count⟧; }
int f(int size) {
    count⟦count⟧ = size;
    int count = 3;
    { extern int late⟦late⟧; late⟦late⟧ = count; }
    return count + size;
}
int late⟦=late⟧;
int old(size, b) int size; { return size; }
",
    );
}

#[test]
fn what_only_a_preprocessor_understands_is_read_around() {
    check(
        "--- a.h
#ifdef __cplusplus
extern \"C\" {
#endif
#define API⟦=API⟧ __attribute__((visibility(\"default\")))
#define PURE⟦=PURE⟧(x) __attribute__((pure))
#define FIELDS⟦=FIELDS⟧ int one;
struct item⟦=item⟧ {
  FIELDS⟦FIELDS⟧
  int two⟦=two⟧;
};
API⟦API⟧ struct item⟦item⟧ *make⟦make⟧(int a) PURE⟦PURE⟧(1);
#ifdef __cplusplus
}
#endif
--- a.c
#include \"a.h\"
API⟦API⟧ struct item⟦item⟧ *make⟦=make⟧(int a) { return 0; }
int f(int a) {
#ifdef A
    if (a) {
#else
    if (!a) {
#endif
        return make⟦make⟧(1)->two⟦two⟧;
    }
    return 0;
}
",
    );
}

#[test]
fn a_call_with_a_pointers_value_is_no_declaration() {
    check(
        "--- a.c
struct box⟦=box⟧ { int n⟦=n⟧; };
static void drop⟦=drop⟧(struct box⟦box⟧ it) {}
void use⟦=use⟧(struct box⟦box⟧ *p, int **list) {
    drop⟦drop⟧(*p);
    use⟦use⟧(p, list);
}
",
    );
}
