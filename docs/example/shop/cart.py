"""The shopping cart."""

from .pricing import NO_DISCOUNT, Discount, parse_discount
from .store import Store


class Cart:
    """Items that a customer has chosen, and what they cost together."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.items: list[str] = []
        self.discount: Discount = NO_DISCOUNT

    def add(self, name: str) -> None:
        """Put one item into the cart."""
        self.store.price_of(name)
        self.items.append(name)

    def redeem(self, code: str) -> None:
        """Use a discount code."""
        self.discount = parse_discount(code)

    def total(self) -> int:
        """The price of all items in cents."""
        return sum(self.discount.apply(self.store.price_of(name)) for name in self.items)
