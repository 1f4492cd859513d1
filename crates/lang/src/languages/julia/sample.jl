"A shop that counts what it sells."
module Shop

using Statistics
import Base: show, +
export Item, sell

# Most items that one may buy.
const LIMIT = 10
counter = 0

abstract type Thing end
primitive type Small 8 end

"""
An item on a shelf.
"""
struct Item{T<:Real} <: Thing
    name::String
    price::T
    Item(name) = new{Float64}(name, 3.0)
end

mutable struct Till
    sold::Int
end

@enum Size small large

"""
    sell(item, count)

Sells some.
"""
function sell(item::Item, count::Int=1; free=false)::Bool
    if count > LIMIT && !free
        return false
    elseif count < 0
        return false
    end
    for i in 1:count
        inner(x) = x + i
        inner(i)
    end
    while count > 3
        count -= 1
    end
    try
        total([item])
    catch e
        rethrow(e)
    end
    return count > 1 ? true : false
end

total(items) = sum(item.price for item in items)
Base.show(io::IO, item::Item) = print(io, item.name)
+(a::Item, b::Item) = a.price + b.price

function open end

Base.:(==)(a::Item, b::Item) = a.name == b.name

function Base.:+(a::Item, b::Item)
    a
end

(of::Till)(item::Item) = of.sold + item.price

first_price(items)::Real = items[1].price

struct Shelf <: AbstractVector{Item{Float64}} end

function Base.Array{T,N}(of::Shelf) where {T,N}
    of
end

for name in (:a, :b)
    @eval Base.$(name)(x::Shelf) = x
    @eval function $(name)(x) end
end

macro twice(body)
    quote
        $(esc(body))
    end
end

function map_all(f::F, items::Vector{T}) where {F, T}
    map(f, items)
end

end
