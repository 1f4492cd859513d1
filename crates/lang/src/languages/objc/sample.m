#import <Foundation/Foundation.h>
#import "Thing.h"

#define LIMIT 10
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))

typedef NS_ENUM(NSInteger, Size) {
    SizeSmall,
    SizeLarge,
};

typedef void (^Callback)(int count);

NS_ASSUME_NONNULL_BEGIN
@class Till;
FOUNDATION_EXPORT NSString *const ItemSoldNotification;
NS_ASSUME_NONNULL_END

struct Point {
    int x;
    int y;
};

/// What can be sold.
@protocol Sellable <NSObject>
- (BOOL)sell:(NSInteger)count;
@optional
@property (nonatomic) int sold;
@end

/** An item on a shelf. */
@interface Item : NSObject <Sellable> {
    int _count;
}
@property (nonatomic, copy) NSString *name;
@property (nonatomic, readonly) double price API_AVAILABLE(ios(10), tvos(10.2));
@property (nonatomic, copy) void (^whenSold)(int count);
- (instancetype)initWithName:(NSString *)name price:(double)price;
+ (Item *)parse:(NSString *)text;
- (void)show;
@end

@implementation Item

// Makes one.
- (instancetype)initWithName:(NSString *)name price:(double)price {
    self = [super init];
    if (self && price > 0) {
        _name = name;
    }
#if TARGET_OS_OSX
    else if (price < 0) {
        _name = nil;
    }
#endif
    return self;
}

+ (Item *)parse:(NSString *)text {
    return [[Item alloc] initWithName:text price:3];
}

- (BOOL)sell:(NSInteger)count {
    for (int i = 0; i < count; i++) {
        _count++;
    }
    return total(_count, LIMIT) > 3 ? YES : NO;
}

- (void)show {
    NSLog(@"%@", self.name);
}

@end

@interface Item (Fast)
- (BOOL)isFast;
@end

@implementation Item (Fast)
- (BOOL)isFast { return self.price > 3; }
@end

static int counter = 0;

/// The total.
static int total(int a, int b) {
    while (a > b) { a--; }
    return MAX_OF(a, b);
}

int main(int argc, const char *argv[]) {
    @autoreleasepool {
        [[Item parse:@"bread"] show];
    }
    return 0;
}
