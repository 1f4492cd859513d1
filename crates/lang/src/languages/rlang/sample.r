#' Counts what a shop sells.
#' @export
total <- function(items, tax = 0.2) {
  sum <- 0
  for (item in items) {
    if (item$price > 0 && item$count > 0) {
      sum <- sum + price(item)
    } else {
      warning("free")
    }
  }
  inner <- function(x) x * 2
  inner(sum) * (1 + tax)
}

# Price of one item.
price = function(item) item$price

LIMIT <- 10L
names <<- c("bread", "milk")

\(x) x + 1
square <- \(x) x^2

"%+%" <- function(a, b) paste0(a, b)
`my name` <- function() NULL
print.shop <- function(x, ...) {
  while (TRUE) break
  repeat { break }
  switch(x, a = 1, b = 2)
}

function(y) y -> assigned

setClass("Item", representation(name = "character", price = "numeric"))
setGeneric("sell", function(object, ...) standardGeneric("sell"))
setMethod("sell", "Item", function(object, ...) {
  object@price
})

hooks <- list(run = function() { local <- 1 })

Till <- R6::R6Class("Till",
  public = list(
    open = NULL,
    #' Sells one.
    sell = function(item) {
      total(list(item))
    }
  )
)
