/** The cart as the page shows it. */
export interface CartView {
  items: string[];
  total: number;
}

/** Formats cents as a price. */
export function formatPrice(cents: number): string {
  return (cents / 100).toFixed(2);
}

export function render(cart: CartView): string {
  // TODO: show the discount
  return `${cart.items.join(", ")}: ${formatPrice(cart.total)}`;
}
