"""Prices, and what changes them."""

from dataclasses import dataclass


@dataclass
class Discount:
    """A share of the price that a customer need not pay."""

    percent: int

    def apply(self, cents: int) -> int:
        """The price after the discount, rounded down."""
        return cents * (100 - self.percent) // 100


NO_DISCOUNT = Discount(0)


def parse_discount(code: str) -> Discount:
    """Read a discount from a code such as ``SAVE15``; an unknown code gives none."""
    digits = code.removeprefix("SAVE")
    if digits == code or not digits.isdigit():
        return NO_DISCOUNT
    return Discount(min(int(digits), 90))
