# The shop's package.
{ lib, stdenv, fetchurl ? null, ... }:

let
  # Its version.
  version = "1.0";
  # Twice as many.
  twice = count: count * 2;
  add = a: b: if a > 3 then a + b else b;
  inherit (lib) maintainers;
in
stdenv.mkDerivation rec {
  pname = "shop";
  inherit version;

  src = fetchurl {
    url = "https://example.org/shop-${version}.tar.gz";
    hash = "sha256-0";
  };

  buildInputs = [ ];
  meta.license = lib.licenses.mit;
  passthru.total = { items, tax ? 2 }: add (twice items) tax;
}
