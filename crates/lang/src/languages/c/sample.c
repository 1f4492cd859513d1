/* Counts what a shop sells. */
#ifndef SHOP_H
#define SHOP_H

#include <stdio.h>
#include "shop.h"

/* Most items that one may buy. */
#define LIMIT 10
#define MAX(a, b) ((a) > (b) ? (a) : (b))

extern int elsewhere;
int declared(int a, char *b);

/// How many were sold.
static int sold = 0, returned;
const char *names[] = {"bread", "milk"};
int (*on_sale)(int count);

typedef unsigned long size;
typedef int (*handler)(void *data, int count);

/** An item on a shelf. */
struct item {
    const char *name; /* what it is called */
    int count, weight;
    /* Called when it is sold. */
    void (*sell)(struct item *self);
    struct { int x, y; } at;
    unsigned flag : 1;
};

typedef struct {
    int width;
} shelf;

typedef struct node {
    struct node *next;
} node_t;

union value {
    int number;
    char *text;
};

/* How large. */
enum size_class {
    SMALL = 1, /* the smallest */
    LARGE
};

typedef enum { OPEN, CLOSED } state;

static inline int helper(int a)
{
    return a;
}

/*
 * Sells some.
 *
 * Returns how many are left.
 */
int
sell(struct item *item, int count)
{
    struct node here = {0};
    int left = count;
    if (!item || count < 0)
        return -1;
    for (int i = 0; i < count; i++) {
        switch (i) {
        case 1:
            left--;
            break;
        default:
            break;
        }
    }
    return helper(left) ? left : 0;
}

char *name_of(struct item *item) { return (char *)item->name; }

SHOP_API
struct item *item_of(int number);
char *label_of __P((struct item *));

SHOP_API SHOP_SIZE
size_of(struct item *item)
{
    int flags =
#ifdef DEBUG
        SMALL |
#endif
        LARGE;
    return flags;
}

#ifdef DEBUG
void debug(void) { printf("%d\n", sold); }
#endif

int main(int argc, char **argv) { return sell(0, argc); }

#endif
