#!/usr/bin/env ruby
# frozen_string_literal: true

require "set"

# Everything for a shop.
module Shop
  # Most items that one may buy.
  LIMIT = 10

  Point = Struct.new(:x, :y)

  # An item on a shelf.
  #
  # It has a price.
  class Item < Base
    include Comparable

    # Its name, and how many there are.
    attr_reader :name, :count
    attr_accessor :price

    def initialize(name, count = 1)
      @name = name
      @count = count
    end

    # Sells some.
    def sell(count: 1, &block)
      return false if count < 1 || count > LIMIT
      case count
      when 1 then :one
      else :many
      end
      yield count unless block.nil?
    rescue ArgumentError
      nil
    end

    def <=>(other) = price <=> other.price

    def free? = price.zero?

    def name=(value)
      @name = value
    end

    class << self
      # Makes a free one.
      def free
        new("air")
      end
    end

    def self.build(*args)
      new(*args)
    end

    alias purchase sell
    alias_method :acquire, :sell

    private

    def secret; end
  end

  class Item::Error < StandardError; end

  def self.open
    Item.build("bread").sell
  end
end

def helper(a)
  a.each { |x| puts x }
end

helper([1])
