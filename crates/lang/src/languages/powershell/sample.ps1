<#
.SYNOPSIS
Sells items.
#>
using namespace System.Collections

param([string]$Name = "shop", [switch]$Verbose)

$script:Limit = 10
$names = @('bread', 'milk')

# Counts what was sold.
function Get-Total {
    <# .SYNOPSIS The total. #>
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object[]] $Items,
        [int] $Tax = 2
    )
    begin { $sum = 0 }
    process {
        foreach ($item in $Items) {
            if ($item.Price -gt 0 -and $item.Count -gt 0) {
                $sum += $item.Price
            } elseif ($item.Free) {
                continue
            } else {
                Write-Warning 'none'
            }
        }
        switch ($sum) { 1 { 'one' } default { 'more' } }
    }
    end { return $sum }
}

filter Select-Large { if ($_.Size -gt 3) { $_ } }

function script:Close-Shop($Now) {
    while ($true) { break }
    try { Get-Total -Items $names } catch { throw }
}

enum Size {
    Small = 1
    Large
}

# An item on a shelf.
class Item : Thing {
    [string] $Name
    hidden [int] $Price = 3
    static [int] $Count

    Item([string] $name) { $this.Name = $name }

    # Sells some.
    [bool] Sell([int] $count) {
        return $this.Price -gt $count
    }

    static [Item] Parse([string] $text) { return [Item]::new($text) }
}

function Global:Show-Total { Get-Total }

function Find-Item {
    param ($OnItem = {}, $OnEnd = { }, $Items)
    foreach ($item in $Items) { & $OnItem $item }
}

workflow Start-Work { Get-Total }

Get-Total -Items @([Item]::new('bread'))
