{ A shop that counts what it sells. }
unit Shop;

interface

uses SysUtils, Classes;

const
  Limit = 10;

type
  TSize = (Small, Large);

  // A point.
  TPoint = record
    X, Y: Integer;
  end;

  ISellable = interface
    function Sell(Count: Integer): Boolean;
  end;

  TPrice = record
    case Integer of
      0: (Whole: Integer);
      1: (Parts: packed record
            Euros: Integer;
            Cents: Byte;
          end);
  end;

{$IFDEF FPC}
  TShelf = class(TFPObject)
    procedure Fill; override;
{$ELSE}
  TShelf = class(TObject)
{$ENDIF}
    procedure Clear(const Sender: {$IFDEF FPC}TObject{$ELSE}TItem{$ENDIF});
  end;

  { An item on a shelf. }
  TItem = class(TObject, ISellable)
  private
    FName: string;
  public
    constructor Create(const Name: string);
    destructor Destroy; override;
    function Sell(Count: Integer): Boolean; virtual;
    class procedure Show;
    property Name: string read FName write FName;
  end;

var
  Counter: Integer;

function Total(Items: array of TItem): Integer;

implementation

constructor TItem.Create(const Name: string);
begin
  FName := Name;
end;

// Sells some.
function TItem.Sell(Count: Integer): Boolean;
var
  I: Integer;
begin
  if (Count > Limit) and (Count > 3) then
    Result := False
  else
    for I := 1 to Count do
      Inc(Counter);
  while Counter > 3 do Dec(Counter);
  case Count of
    1: Result := True;
    2: Result := Total([Self]) > 1;
  end;
end;

destructor TItem.Destroy;
begin
  inherited;
end;

class procedure TItem.Show;
begin
end;

function Total(Items: {$IFDEF FPC}array of TItem{$ELSE}TArray<TItem>{$ENDIF}): Integer;
begin
  Result := 0;
end;

end.
