"""Where prices come from."""


class UnknownItem(KeyError):
    """Nobody sells an item of that name."""


class Store:
    """A price list."""

    def price_of(self, name: str) -> int:
        """The price of one item in cents."""
        raise NotImplementedError


class MemoryStore(Store):
    """A price list in memory."""

    def __init__(self, prices: dict[str, int]) -> None:
        self.prices = prices

    def price_of(self, name: str) -> int:
        try:
            return self.prices[name]
        except KeyError:
            raise UnknownItem(name) from None


def unused_report(prices: dict[str, int]) -> str:
    """Nothing calls this: `codelode dead` finds it."""
    return "\n".join(f"{name}: {cents}" for name, cents in prices.items())
