package example.shop

import scala.collection.mutable

/** Anything that can be sold. */
sealed trait Sellable[-B] extends Serializable {
  type Buyer
  val price: Int
  def sell(buyer: B, count: Int = 1): Boolean
}

/** An item on a shelf.
  *
  * It has a price.
  */
@deprecated("use Ware", "1.0")
case class Item[B](name: String, private var count: Int) extends Sellable[B] {
  override val price: Int = 3
  private lazy val (a, b) = (1, 2)
  var sold = 0

  // Not documentation.
  override def sell(buyer: B, count: Int): Boolean = {
    if (count < 1 || count > Item.Limit) false
    else {
      def note(text: String): Unit = println(text)
      val left = count match {
        case 1 => "one"
        case n if n > 2 => "many"
        case _ => ""
      }
      for (one <- left) note(left)
      true
    }
  }

  def +(other: Item[B]): Item[B] = this
}

object Item {
  /** Most items that one may buy. */
  val Limit = 10
  implicit def free[B]: Item[B] = Item("air", 0)
}

enum Size(val width: Int):
  case Small extends Size(1)
  case Large, Huge

  def wide: Boolean = this == Large

type Prices = Map[String, Int]

extension (text: String)
  def shout: String = text.toUpperCase

given ordering: Ordering[Size] = Ordering.by(_.width)

/** Starts. */
@main def run(): Unit = Item.free[String].sell("me")
