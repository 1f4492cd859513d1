// The shop's till.
import 'dart:async';
import 'package:shop/stock.dart' as stock;

/// Most items that one may buy.
const int limit = 10;
final names = <String>['bread', 'milk'];

/// The result of a sale.
typedef Callback = void Function(Item item);

enum Size { small, large }

enum Level {
  low(1),
  high(2);

  const Level(this.value);
  final int value;
}

mixin Counted {
  int sold = 0;

  void count() => sold++;
}

abstract class Thing {
  String get name;
  set name(String value);
  void show();
}

/// An item on a shelf.
@immutable
class Item extends Thing with Counted implements Comparable<Item> {
  static const none = Item._('');
  final double price;
  String _name = '';

  Item(this.price, {required String name}) : _name = name;

  /// Makes one that costs nothing.
  Item.free() : price = 0;

  const Item._(this._name);

  factory Item.parse(String text) => Item(double.parse(text), name: text);

  @override
  String get name => _name;

  @override
  set name(String value) {
    _name = value;
  }

  double operator +(Item other) => price + other.price;

  // Sells some.
  Future<bool> sell(int count, [int times = 1]) async {
    if (count > limit && times > 1) {
      return false;
    }
    for (var i = 0; i < times; i++) {
      count();
    }
    bool inner(int a) => a > 0;
    return inner(count) ? true : false;
  }

  @override
  void show() {
    switch (sold) {
      case 1:
        print('one');
      default:
        print('$sold');
    }
  }
}

extension Fast on Item {
  bool get isFast => price > 3;
}

sealed class Shape {}

class Circle extends Shape {}

extension type Id(int value) {}

int total(List<Item> items) => items.fold(0, (sum, item) => sum + item.sold);

void main() async {
  final item = Item(2, name: 'bread');
  await item.sell(1);
  print(total([item]));
}
