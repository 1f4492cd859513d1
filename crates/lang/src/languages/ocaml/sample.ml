(* A shop that counts what it sells. *)
open Printf

(** Most items that one may buy. *)
let limit = 10

type size = Small | Large of int

(** An item on a shelf. *)
type item = {
  name : string;  (** What it is called. *)
  mutable price : float;
}

type 'a box = 'a list
exception Closed of string

module type Shop = sig
  val sell : int -> bool
  type t
end

module Till = struct
  let sold = ref 0

  (** Sells some. *)
  let sell count item =
    if count > limit && item.price > 0. then false
    else begin
      let inner x = x + 1 in
      sold := inner !sold;
      true
    end

  let rec even n = n = 0 || odd (n - 1)
  and odd n = n <> 0 && even (n - 1)
end

module Make (S : Shop) : Shop = struct
  type t = S.t
  let sell count = S.sell count
end

let kind = function
  | Small -> "small"
  | Large n when n > 3 -> "large"
  | _ -> "other"

external now : unit -> float = "unix_time"
external same : 'a. 'a -> 'a = "%identity"

let prices =
  let bread = 1. in
  let double price = price *. 2. in
  [ bread; double bread ]

class till name = object (self)
  val mutable count = 0
  method sell n = count <- count + n
  method private name = name
end

class counted start =
  let first = start + 1 in
  object
    method first = first
  end

class virtual thing = object
  method virtual show : string
end

let ( +! ) a b = a + b

let () =
  for i = 1 to 3 do
    ignore (Till.sell i { name = "bread"; price = 2. })
  done
