//! Ruby's rules, one test each.

use super::{check, check_bases, check_imports};

#[test]
fn parts_of_a_class_are_one() {
    let project = "--- lib/shop/item.rb
module Shop⟦=Shop⟧
  class Item⟦=Item⟧
    LIMIT⟦=LIMIT⟧ = 10
    attr_reader :price⟦=price⟧
    def initialize⟦=init⟧(price)
      @price = price
    end
    def self.free⟦=free⟧ = new⟦init⟧(0)
    def dear⟦=dear⟧
      price⟦price⟧ > LIMIT⟦LIMIT⟧
    end
  end
end
--- lib/shop/more.rb
require_relative 'item'
module Shop⟦=Shop2⟧
  class Item⟦=Item2⟧
    def cheap⟦=cheap⟧ = !dear⟦dear⟧
  end
end
--- main.rb
require 'shop/more'
item = Shop⟦Shop,Shop2⟧::Item⟦Item,Item2⟧.new⟦init⟧(3)
item.cheap⟦cheap⟧ && item.price⟦price⟧
Shop⟦Shop,Shop2⟧::Item⟦Item,Item2⟧.free⟦free⟧.dear⟦dear⟧
";
    check(project);
    check_imports(project, &["lib/shop/more.rb -> lib/shop/item.rb", "main.rb -> lib/shop/more.rb"]);
}

#[test]
fn methods_are_inherited_and_mixed_in() {
    let project = "--- a.rb
module Counted⟦=Counted⟧
  def count⟦=count⟧ = 1
end
class Base⟦=Base⟧
  include Counted⟦Counted⟧
  def show⟦=show⟧(all)
    count⟦count⟧
    total = all.first
    total.nothing
  end
end
class Item⟦=Item⟧ < Base⟦Base⟧
  def show⟦=own⟧(all)
    super⟦show⟧
    other = Item⟦Item⟧.new
    other.count⟦count⟧
    [1].each { |count| count + 1 }
    helper⟦helper⟧(self.count⟦count⟧)
  end
end
def helper⟦=helper⟧(n)
  n.show⟦?⟧
rescue Base⟦Base⟧ => error
  error.count⟦count⟧
end
";
    check(project);
    check_bases(project, &["Base -> Counted", "Item -> Base"]);
}

#[test]
fn symbols_name_methods() {
    check(
        "--- a.rb
class Owner⟦=Owner⟧
  attr_reader :age⟦=age⟧
  before_save :price⟦price⟧, if: :dear⟦dear⟧
  delegate :age⟦age⟧, to: :nobody
  def price⟦=price⟧ = 3
  def dear⟦=dear⟧ = respond_to?(:price⟦price⟧)
  def call = method(:dear⟦dear⟧)
  alias_method :cost, :price⟦price⟧
end
owner = Owner⟦Owner⟧.new
owner.send(:price⟦price⟧)
owner.cost⟦price⟧
[owner].map(&:dear⟦?⟧)
{ price: :price }
",
    );
}
