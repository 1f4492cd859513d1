"""Rules of the shop."""

load("@rules_cc//cc:defs.bzl", "cc_library", lib = "cc_binary")

# Most items that one may build.
LIMIT = 10

ShopInfo = provider(fields = ["items"])

def _impl(ctx):
    """Builds a shop."""
    items = []
    for item in ctx.attr.items:
        if item.price > LIMIT and item.open:
            items.append(item)
        else:
            fail("none")
    return [ShopInfo(items = total(items))]

def total(items, tax = 2, *args, **kwargs):
    # The sum of all.
    return [i for i in items if i] if tax else None

shop = rule(
    implementation = _impl,
    attrs = {"items": attr.label_list()},
)

cc_library(
    name = "item",
    srcs = ["item.c"],
)

lib(
    name = "till",
    deps = [":item"],
)
