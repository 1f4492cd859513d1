//! PHP's rules, one test each.

use super::{check, check_imports};

#[test]
fn names_are_seen_through_namespaces_and_uses() {
    let project = "--- src/Item.php
<?php
namespace Shop\\Goods;
class Item⟦=Item⟧ { public int $price⟦=price⟧ = 1; const MOST⟦=MOST⟧ = 3; public static function make⟦=make⟧(): self { return new self; } }
function count⟦=count⟧(): int { return 1; }
--- src/Cart.php
<?php
namespace Shop;
use Shop\\Goods\\Item⟦Item⟧;
use Shop\\Goods\\{Item⟦Item⟧ as Old};
use function Shop\\Goods\\count⟦count⟧;
class Cart {
  private ?Item⟦Item⟧ $one⟦=one⟧;
  public function __construct(private Old⟦Item⟧ $two⟦=two⟧) {}
  public function total(\\Shop\\Goods\\Item⟦Item⟧ $three, Goods\\Item⟦Item⟧ $four): int {
    return $this->one⟦one⟧->price⟦price⟧ + $this->two⟦two⟧->price⟦price⟧ + $three->price⟦price⟧ + $four->price⟦price⟧
      + Item⟦Item⟧::MOST⟦MOST⟧ + count⟦count⟧() + Item⟦Item⟧::make⟦make⟧()->price⟦price⟧;
  }
}
--- src/Far.php
<?php
namespace Elsewhere;
function far(Item⟦?⟧ $one) { return $one->price⟦?⟧; }
";
    check(project);
    check_imports(project, &["src/Cart.php -> src/Item.php"]);
}

#[test]
fn classes_have_the_members_of_bases_and_traits() {
    check(
        "--- a.php
<?php
trait Counts⟦=Counts⟧ { protected $count⟦=count⟧ = 0; function up⟦=up⟧() { $this->count⟦count⟧++; } }
interface Sold⟦=Sold⟧ { function sell⟦=interface⟧(); }
abstract class Base⟦=Base⟧ implements Sold⟦Sold⟧ { use Counts⟦Counts⟧; function __construct⟦=construct⟧($n) {} static function of⟦=of⟧(): static { return new static⟦construct⟧(1); } }
class Cart⟦=Cart⟧ extends Base⟦Base⟧ {
  function sell⟦=sell⟧() { $this->up⟦up⟧(); return parent::of⟦of⟧()->count⟦count⟧; }
}
function f(Sold⟦Sold⟧ $any) { $any->sell⟦interface⟧(); $cart = new Cart⟦Cart,construct⟧(1); $cart->sell⟦sell⟧(); if ($any instanceof Cart⟦Cart⟧) {} }
",
    );
}

#[test]
fn comments_say_types() {
    check(
        "--- a.php
<?php
class Item { public $price⟦=price⟧; }
class Cart {
  /** @var Item[] all of them */
  private $items⟦=items⟧ = [];
  /**
   * @param Item|null $one the first
   * @return array<string, Item>
   */
  function add⟦=add⟧($one) {
    foreach ($this->items⟦items⟧ as $key => $item) { $item->price⟦price⟧; }
    return [$one->price⟦price⟧];
  }
  function f($any) {
    foreach ($this->add⟦add⟧(null) as $item) { $item->price⟦price⟧; }
    /** @var Item $last */
    $last = $any->last(); $last->price⟦price⟧; $any->price⟦?⟧;
  }
}
enum Kind { case Small⟦=Small⟧; function label⟦=label⟧() {} }
Kind::Small⟦Small⟧->label⟦label⟧();
",
    );
}

#[test]
fn a_trait_uses_members_of_the_classes_that_take_it() {
    check(
        "--- a.php
<?php
trait Greets { public function greet⟦=greet⟧() { return $this->name⟦name⟧(); } }
class Task { use Greets; public function name⟦=name⟧() { return 'a'; } }
class Other { public function name⟦=other⟧() { return 'b'; } }
(new Task())->greet⟦greet⟧();
",
    );
}
