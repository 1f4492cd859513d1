(** A shop that counts what it sells. *)

(** An item on a shelf. *)
type item = { name : string; price : float }

type t
exception Closed of string

(** Most items that one may buy. *)
val limit : int

(** Sells some: [sell 1 item]. *)
val sell : int -> item -> bool

module type Shop = sig
  val total : item list -> float
end

module Till : Shop
external now : unit -> float = "unix_time"

class till : string -> object
  method sell : int -> unit
end
