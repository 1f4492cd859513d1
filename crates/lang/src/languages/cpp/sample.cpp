// Counts what a shop sells.
#include <string>
#include <vector>

#define LIMIT 10

namespace shop {

/// How large.
enum class Size : int { Small = 1, Large };

template <typename T>
concept Sellable = requires(T item) { item.sell(1); };

using Names = std::vector<std::string>;

/** Anything on a shelf. */
class Base {
public:
    virtual ~Base() = default;
    /// Sells some.
    virtual bool sell(int count) = 0;
};

/**
 * An item.
 */
template <class T>
class Item final : public Base, private Helper<T> {
public:
    explicit Item(std::string name) : name_(std::move(name)) {}
    Item(const Item &) = delete;
    bool sell(int count) override;
    static Item *make();
    const std::string &name() const { return name_; }
    bool operator==(const Item &other) const { return name_ == other.name_; }
    operator bool() const { return count > 0; }

    struct Place {
        int x = 0, y;
    };
    T count;

private:
    std::string name_; // what it is called
    friend class Shelf;
};

template <class T>
bool Item<T>::sell(int count)
{
    auto note = [&](int n) { return n > 0 && n < LIMIT; };
    for (auto &one : names) {
        if (one.empty() or note(count)) continue;
    }
    try {
        return count ? true : false;
    } catch (const std::exception &) {
        return false;
    }
}

namespace {
int sold = 0;
}

template <typename T>
T max(T a, T b) { return a > b ? a : b; }

} // namespace shop

namespace a::b {
struct Point { double x; };
}

using namespace shop;

extern "C" {
int c_function(int a) { return a; }
}

/// Opens the shop.
std::string &shop::open(const char *name) { static std::string s(name); return s; }

shop::Base::Base() {}

class Guarded {
public:
  int count() const HOLDS(lock_) { return 1; }
  int total() const HOLDS(lock_) override;
};

typedef int (SHOP_API *Callback)(int a);

int main() { return shop::max(1, 2); }
