//! C++'s rules, one test each.

use super::{check, check_imports};

#[test]
fn a_class_has_members_in_headers_and_sources() {
    let project = "--- cart.h
#pragma once
namespace shop {
class Item;
class Base⟦=Base⟧ { public: virtual int size⟦=base⟧() const { return 0; } };
class Cart⟦=Cart⟧ : public Base⟦Base⟧ {
 public:
  explicit Cart(int n);
  int total⟦=declared⟧(int factor = 1) const;
  static Cart⟦Cart⟧* make⟦=make⟧();
 private:
  int count_⟦=count⟧ = 0;
};
}
--- cart.cc
#include \"cart.h\"
namespace shop {
Cart⟦Cart⟧::Cart(int n) : count_⟦count⟧(n) {}
int Cart⟦Cart⟧::total⟦=total⟧(int factor) const { return count_⟦count⟧ * factor + this->count_⟦count⟧ + size⟦base⟧(); }
}
shop::Cart⟦Cart⟧* shop::Cart⟦Cart⟧::make⟦=made⟧() { Base⟦Base⟧* base = nullptr; return new Cart⟦Cart⟧(1); }
--- main.cc
#include \"cart.h\"
#include <memory>
using namespace shop;
int main() {
  shop::Cart⟦Cart⟧ one(1);
  auto two = std::make_unique<Cart⟦Cart⟧>(2);
  Cart⟦Cart⟧* three = Cart⟦Cart⟧::make⟦make,made⟧();
  return one.total⟦declared,total⟧() + two->total⟦declared,total⟧(2) + three->size⟦base⟧();
}
";
    check(project);
    check_imports(project, &["cart.cc -> cart.h", "main.cc -> cart.h"]);
}

#[test]
fn overloads_and_templates_are_told_apart() {
    check(
        "--- a.cpp
#include <vector>
struct Item⟦=Item⟧ { int price⟦=price⟧; bool operator<⟦=less⟧(const Item⟦Item⟧& other) const { return price⟦price⟧ < other.price⟦price⟧; } };
enum class Color⟦=Color⟧ { Red⟦=Red⟧ };
enum Kind⟦=Kind⟧ { Small⟦=Small⟧ };
void add⟦=item⟧(const Item⟦Item⟧& one) {}
void add⟦=many⟧(const Item⟦Item⟧& one, int count) {}
template <typename T> class Box⟦=Box⟧ { public: T get⟦=get⟧(); std::vector<Item⟦Item⟧> all⟦=all⟧; };
using Items⟦=Items⟧ = std::vector<Item⟦Item⟧*>;
int f(Items⟦Items⟧& items, Box⟦Box⟧<int>& box) {
  Item⟦Item⟧ one; add⟦item⟧(one); add⟦many⟧(one, 2);
  for (auto* item : items) item->price⟦price⟧++;
  for (const auto& item : box.all⟦all⟧) add⟦item⟧(item);
  auto by = [&](const Item⟦Item⟧& a) { return a.price⟦price⟧; };
  Kind⟦Kind⟧ kind = Small⟦Small⟧; Color⟦Color⟧ color = Color⟦Color⟧::Red⟦Red⟧;
  return box.get⟦get⟧() + items[0]->price⟦price⟧ + box.all⟦all⟧.front().price⟦price⟧;
}
",
    );
}

#[test]
fn a_call_with_a_pointers_value_is_no_declaration() {
    check(
        "--- a.cpp
struct Box⟦=Box⟧ { int n⟦=n⟧; };
template <class T> void both⟦=both⟧(T& it) {}
void touch⟦=touch⟧(Box⟦Box⟧& it) { it.n⟦n⟧ = 1; }
void use(Box⟦Box⟧* p, Box⟦Box⟧* all) {
  both⟦both⟧(*p);
  touch⟦touch⟧(*p);
  touch⟦touch⟧(*all);
  Box⟦Box⟧ (*made)(int) = nullptr;
}
",
    );
}
