from shop.cart import Cart
from shop.store import MemoryStore


def test_total_with_discount() -> None:
    cart = Cart(MemoryStore({"tea": 300}))
    cart.add("tea")
    cart.redeem("SAVE10")
    assert cart.total() == 270
