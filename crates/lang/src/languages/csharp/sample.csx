#!/usr/bin/env dotnet-script
using System;

namespace Example.Scripts;

/// <summary>A shop in one file.</summary>
public class Shop
{
    public record Line(string Name, int Count = 1);

    public int Total { get; private set; }

    public void Sell(Line line) => Total += line.Count;
}

public static class Sales
{
    public static void Start() => new Shop().Sell(new("bread"));
}
