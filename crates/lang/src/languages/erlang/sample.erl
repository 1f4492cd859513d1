%% @doc A shop that counts what it sells.
-module(shop).
-behaviour(gen_server).
-export([start/0, sell/2]).
-include("shop.hrl").
-import(lists, [map/2]).

-define(LIMIT, 10).
-define(MAX(A, B), (if A > B -> A; true -> B end)).

-record(item, {name :: string(), price = 3 :: integer()}).

-type price() :: integer().
-opaque till() :: #item{}.

-callback show(Item :: term()) -> ok.

show(item) -> ok;
show(_) -> ok.

%% @doc Starts it.
-spec start() -> ok.
start() ->
    sell(1, #item{name = "bread"}).

% Sells some.
-spec sell(integer(), #item{}) -> boolean().
sell(0, _) ->
    false;
sell(Count, #item{price = Price} = Item) when Count < ?LIMIT ->
    case Price of
        1 -> true;
        _ -> Inner = fun(X) -> X + 1 end, Inner(Count)
    end,
    try total([Item]) catch _:_ -> false end;
sell(_, _) ->
    if true -> false end.

total(Items) -> lists:sum([I#item.price || I <- Items]).
