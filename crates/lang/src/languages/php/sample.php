<?php

namespace Example\Shop;

use Example\Base;

const LIMIT = 10;
define('OLD_LIMIT', 5);

/**
 * Anything that can be sold.
 */
interface Sellable extends Countable
{
    const FREE = 0;

    public function sell(int $count = 1): bool;
}

trait Named
{
    protected string $name = '';

    public function name(): string
    {
        return $this->name;
    }
}

/**
 * An item on a shelf.
 *
 * It has a price.
 */
#[Deprecated]
final class Item extends Base implements Sellable
{
    use Named;

    /** Most that one may buy. */
    public const MOST = 10, LEAST = 1;

    private static ?Item $last = null;
    public $a, $b = 2;

    public function __construct(private readonly int $price, string $name)
    {
        $this->name = $name;
    }

    // Not documentation.
    public function sell(int $count = 1): bool
    {
        if ($count < 1 || $count > LIMIT) {
            return false;
        }
        foreach ([1, 2] as $one) {
            $left = match ($one) { 1 => 'one', default => 'many' };
        }
        return $left ? true : helper($left ?? '');
    }

    #[Pure]
    abstract protected static function make(array $from): static;
}

enum Size: int
{
    case Small = 1;
    case Large = 2;

    public function wide(): bool
    {
        return $this === self::Large;
    }
}

/** Helps. */
function helper(string $text): bool
{
    return (new Item(3, $text))->sell() && true;
}

$item = new class { public function run() {} };
