//go:build linux || darwin

// Package depot keeps parcels until somebody fetches them.
// It is a sample.
package depot

import (
	"fmt" // trailing
	"io"
)

// Limit is how many parcels fit.
const Limit = 12

const small, large = 1, 2 // sizes of a parcel

// State is where a parcel is.
type State int

// The states of a parcel.
const (
	// Waiting is before anybody came.
	Waiting State = iota
	Fetched       // somebody came
	Lost, Found
	_
	skipped State = 1 << iota //nolint:unused
)

const (
	Alone = "in a group of one"
)

const /* not the bracket */ (
	first = iota
	second
)

var (
	// ErrFull says that nothing fits any more.
	ErrFull = fmt.Errorf("full: %d", Limit)

	count, total int
	_            io.Reader = (*Parcel)(nil)
)

var registry = map[string]func(a int) error{
	"x": func(a int) error {
		type local struct{ n int }
		const inner = 1
		var outer = struct{ hidden int }{inner}
		if a > outer.hidden && a < 9 {
			return nil
		}
		return nil
	},
}

// settings are read once.
var settings struct {
	Debug bool
	Log   struct {
		Level int // how much is said
	}
}

/* handle is bound, not declared. */
var handle = func(n int) (m int) {
	for i := range n {
		switch {
		case i > 3, i < 1:
			m++
		default:
			m--
		}
	}
	return
}

//go:embed banner.txt
var banner string

// Old is kept.
//
//go:generate stringer -type=State
//nolint:revive
type Old = State

type (
	// Pair is two things.
	Pair[K comparable, V any] struct {
		Key   K
		Value V
	}
	// Weight is in grams.
	Weight float64
	Handler func(w io.Writer, parcel *Parcel) (n int, err error)
	Alias[T any] = Pair[string, T]
	Table map[string]struct{ Row, Column int }
)

// Parcel is what is kept.
type Parcel struct {
	// Name of who fetches it.
	Name string `json:"name,omitempty"`
	x, y, _ int
	io.Reader
	*Pair[string, int]
	State // where it is
	Weight `json:"weight"`
	open   func() error
	next   *Parcel
}

type Number interface {
	~int | ~float64
}

// Keeper keeps.
type Keeper interface {
	fmt.Stringer
	// Keep takes a parcel in.
	Keep(p *Parcel) (ok bool, err error)
	Drop() // forgets it
	Nested() interface{ Deep() int }
}

func init() {}

func init() {
	go func() { fmt.Println("twice") }()
}

func _() { type blank struct{ n int } }

// Keep takes a parcel in.
//
//go:noinline
func (p *Parcel) Keep(q *Parcel) (ok bool, err error) {
	defer func() {
		if r := recover(); r != nil || q == nil {
			err = ErrFull
		}
	}()
	for {
		select {
		case <-make(chan int):
			return true, nil
		default:
		}
		switch v := any(q).(type) {
		case *Parcel, nil:
			_ = v
		case interface{ Close() error }:
		}
		const hidden = 3
		var cases = []struct{ in, out int }{{1, 2}}
		type step struct {
			size int
			run  func(x struct{ no int })
		}
		type walker interface{ Walk(s step) }
	}
}

func (Weight) Grams() float64           { return 0 }
func (p *Pair[K, V]) Swap() (V, K)      { return p.Value, p.Key }
func (p Pair[K, _]) First() K           { return p.Key }
func ((*Parcel)) Odd()                  {}

// Map is generic.
func Map[T, U any](in []T, f func(T) U) []U {
	if len(in) == 0 {
		return nil
	}
	return append(Map(in[1:], f), f(in[0]))
}

// assembled has its body elsewhere.
func assembled(x uint64) uint64

// broken lacks a bracket.
func broken(a int {
	const inside = 1
	return a +
}

// After comes after the error.
func After() int { return 1 }

type Last struct {
	ok bool
	bad bad bad
	fine int
}

const End = 1
