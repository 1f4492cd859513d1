{-# LANGUAGE LambdaCase #-}
-- | A shop that counts what it sells.
module Shop
  ( Item (..)
  , sell
  ) where

import qualified Data.Map as Map
import Data.List (sortBy)

-- | Most items that one may buy.
limit :: Int
limit = 10

-- | An item on a shelf.
data Item = Item
  { name :: String -- ^ What it is called.
  , price :: Double
  }
  | Nothing'
  deriving (Show, Eq)

newtype Till = Till { unTill :: Map.Map String Int }

type Price = Double

-- | What can be sold.
class Sellable a where
  -- | Sells one.
  sellOne :: a -> Price
  sellOne _ = 0
  name' :: a -> String

instance Sellable Item where
  sellOne = price
  name' = name

instance Sellable Till where
  name' _ = "till"

type Counter k = k -> Int

-- | Its type has no arrow, its clause has a parameter.
counted :: Counter Item
counted _ = 1
  where
    single :: Counter Item
    single item = count item

both :: [Int]
both = one : rest
  where
    one = 1
    rest = []

#if OLD
older :: Int -> Int
older n = n
#else
newer :: Int -> Int
newer n = n + 1
#endif

infixl 6 <+>
(<+>) :: Item -> Item -> Price
a <+> b = price a + price b

-- | Sells some.
sell :: Int -> Item -> Maybe Price
sell 0 _ = Nothing
sell count item
  | count > limit = Nothing
  | otherwise = Just (total count)
  where
    total n = fromIntegral n * price item
    half = price item / 2

kind :: Item -> String
kind item = case item of
  Item {} -> if price item > 3 then "dear" else "cheap"
  _ -> "none"

data Shape where
  Circle :: Double -> Shape
  Square :: { side :: Double } -> Shape

type family Elem c

pattern Zero :: Int
pattern Zero = 0

foreign import ccall "sin" c_sin :: Double -> Double

main :: IO ()
main = print (sell 1 (Item "bread" 2))
