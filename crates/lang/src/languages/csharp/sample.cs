using System;
using System.Collections.Generic;

[assembly: CLSCompliant(true)]

namespace Example.Shop
{
    /// <summary>Anything that can be sold.</summary>
    public interface ISellable<in T>
    {
        int Price { get; }
        bool Sell(T buyer, int count = 1);
        event EventHandler Sold;
    }

    /// <summary>
    /// An item on a shelf.
    /// </summary>
    [Serializable]
    [Obsolete("use Ware")]
    public partial class Item : ISellable<string>
    {
        /// <summary>Most that one may buy.</summary>
        public const int Limit = 10;
        private readonly string _name, _label;
        public event EventHandler Sold;

        public Item(string name) : base()
        {
            _name = name;
        }

        ~Item() { }

        /// <summary>Its price.</summary>
        [JsonProperty("price")]
        public int Price { get; set; } = 3;

        public string Name => _name;

        public int this[int index] => index;

        // Not documentation.
        public bool Sell(string buyer, int count)
        {
            if (count < 1 || count > Limit) return false;
            bool Note(string text) => text != null;
            var left = count switch { 1 => "one", _ => "many" };
            foreach (var one in left) { Note(left); }
            return buyer?.Length > 0 && Note(buyer ?? "");
        }

        public static Item operator +(Item a, Item b) => a;

#if NEW
        public int Count(ReadOnlySpan<int> all)
#else
        public int Count(int[] all)
#endif
        {
            return all.Length;
        }

        public async Task<T> LoadAsync<T>(string path) where T : new() => await Task.FromResult(new T());

        private class Shelf { internal int Width; }
    }

    public enum Size : byte
    {
        /// <summary>The smallest.</summary>
        Small = 1,
        Large,
    }

    public delegate void Handler(object sender, int count);

    public struct Point { public int X, Y; }

    public record Person(string Name, int Age);

    internal static class Program
    {
        [STAThread]
        private static void Main(string[] args) => new Item("bread").Sell("me", 1);
    }
}
