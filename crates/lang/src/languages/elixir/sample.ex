defmodule Example.Shop do
  @moduledoc """
  Counts what a shop sells.
  """

  alias Example.Base

  defstruct name: nil, sold: 0

  @limit 10

  # Opens a shop.
  def open(name, opts \\ []) do
    %__MODULE__{name: name}
  end

  @doc "Sells some."
  @spec sell(t(), integer()) :: boolean()
  def sell(shop, count) when count > 0 and count < @limit do
    case count do
      1 -> helper(shop)
      _ -> false
    end
  end

  def sell(_shop, _count), do: false

  defp helper(%{name: name} = shop), do: shop.sold && name

  defmacro twice(expression) do
    quote do: unquote(expression)
  end

  defguard is_small(count) when count < 3

  def main, do: open("corner") |> sell(1)

  defmodule Shelf do
    def width(), do: 1
  end
end

defmodule Example.Operators do
  def a <~> b when is_integer(a), do: a + b

  defmacro -a do
    a
  end

  defmacro def(head, body) do
    quote do: Kernel.def(unquote(head), unquote(body))
  end
end

defprotocol Sellable do
  def price(item)
end

defimpl Sellable, for: Example.Shop do
  def price(_shop), do: 3
end
