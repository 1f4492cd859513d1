//! Counts what a shop sells.
const std = @import("std");

/// Most items that one may buy.
pub const limit: usize = 10;
var sold: u32 = 0;

/// An item on a shelf.
pub const Item = struct {
    /// What it is called.
    name: []const u8,
    price: u32 = 3,

    const Self = @This();

    pub fn init(name: []const u8) Self {
        return .{ .name = name };
    }

    /// Sells some.
    pub fn sell(self: *Self, count: usize) !bool {
        if (count == 0 or count > limit) return error.Wrong;
        var left = count;
        while (left > 0) : (left -= 1) {
            sold += 1;
        }
        for (self.name) |c| {
            switch (c) {
                'a' => {},
                else => {},
            }
        }
        return left == 0 and true;
    }
};

pub const Size = enum(u8) { small = 1, large };

const Value = union(enum) {
    number: i64,
    text: []const u8,
};

const Errors = error{ Missing, Closed };

fn Box(comptime T: type) type {
    return struct {
        /// What is in it.
        value: T,
        next: ?*Box = null,

        const Own = @This();
        const Kind = enum { full, empty };

        fn get(self: @This()) T {
            return self.value;
        }
    };
}

const first: Item = Item.init("bread");

test "it sells" {
    var item = Item.init("bread");
    try std.testing.expect(try item.sell(1));
}

pub fn main() !void {
    var item = Item.init("milk");
    _ = item.sell(2) catch false;
}
