#!/usr/bin/env lua
--- A shop that counts what it sells.
-- It keeps no books.
local Shop = {}
Shop.__index = Shop

local LIMIT <const> = 10
local first, second = 1, 2
counter = 0

--[[ Opens a shop. ]]
function Shop.new(name)
  local self = setmetatable({ name = name, sold = 0 }, Shop)
  return self
end

-- Sells one, when there is one.
function Shop:sell(item, price)
  if not item or price < 0 then
    return nil
  elseif price > LIMIT and item.rare then
    return false
  end
  local function note(text)
    print(text)
  end
  note(item.name)
  for i = 1, 3 do self.sold = self.sold + 1 end
end

--luacheck: ignore
local helper = function(a, ...) return a end

Shop.close = function(self) while self.open do self.open = false end end

local handlers = {
  -- Says hello.
  greet = function(who) return "hello " .. who end,
  limit = 3,
  leave = function() end,
}

local function main()
  Shop.new("corner"):sell({ name = "bread" }, 2)
end

main()
return Shop
