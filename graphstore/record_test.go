package graphstore

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// A record is decoded without panic whatever it holds, and what is decoded encodes to a record that decodes
// to the same.
func FuzzDecodeRecord(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 1))
	m := &model{session: "s", edges: map[NodeID][]edge{}}
	for range 20 {
		m.put(m.grow(rng))
	}
	for _, n := range m.nodes {
		data, err := encodeRecord(fold(n))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{})
	f.Add([]byte{plain})
	f.Add([]byte{packed, 0x28, 0xb5, 0x2f, 0xfd})
	f.Add([]byte{9, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeRecord(data)
		if err != nil {
			return
		}
		r.lengths()
		for _, b := range r.Bodies {
			r.set(b, []byte("text"))
		}
		again, err := encodeRecord(r)
		if err != nil {
			return // a time that no encoder accepts
		}
		back, err := decodeRecord(again)
		if err != nil {
			t.Fatal(err)
		}
		third, err := encodeRecord(back)
		if err != nil || !bytes.Equal(again, third) {
			t.Fatalf("%x became %x, %v", again, third, err)
		}
	})
}

// Every string of a node comes back byte for byte, whatever bytes it has; JSON would not do that.
func TestRecordKeepsBytes(t *testing.T) {
	const odd = "\x00\xff\xfe\xed\xa0\x80 \u2028"
	var n Node
	fillStrings(reflect.ValueOf(&n).Elem(), odd)
	data, err := encodeRecord(fold(n))
	if err != nil {
		t.Fatal(err)
	}
	r, err := decodeRecord(data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r.Node, n) {
		t.Errorf("%+v\nbecame\n%+v", n, r.Node)
	}
	if text, _ := json.Marshal(n); strings.Contains(string(text), "\xff") {
		t.Error("JSON would do after all")
	}
}

// fillStrings sets every string and gives every list one element.
func fillStrings(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillStrings(v.Elem(), s)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(s))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillStrings(v.Index(0), s)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillStrings(v.Field(i), s)
			}
		}
	}
}
