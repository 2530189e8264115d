// Sets of sets.txt written and read with roaring64. See ../README.md.
//
//	main make SETS FOLDER
//	main read FILE...
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(word string) uint64 {
	value, err := strconv.ParseUint(word, 10, 64)
	must(err)
	return value
}

func splitmix64(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func apply(set *roaring64.Bitmap, words []string) {
	switch words[0] {
	case "add", "remove":
		id, step := number(words[1]), number(words[2])
		for left := number(words[3]); left > 0; left-- {
			if words[0] == "add" {
				set.Add(id)
			} else {
				set.Remove(id)
			}
			id += step
		}
	case "random":
		state := number(words[1])
		for left := number(words[2]); left > 0; left-- {
			set.Add(splitmix64(&state))
		}
	case "optimise":
		set.RunOptimize()
	default:
		must(fmt.Errorf("no such rule: %s", words[0]))
	}
}

func write(folder, name string, set *roaring64.Bitmap) {
	file, err := os.Create(filepath.Join(folder, name+".bin"))
	must(err)
	_, err = set.WriteTo(file)
	must(err)
	must(file.Close())
}

func makeFiles(sets, folder string) {
	rules, err := os.Open(sets)
	must(err)
	name, set := "", roaring64.New()
	lines := bufio.NewScanner(rules)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if words[0] != "set" {
			apply(set, words)
			continue
		}
		if name != "" {
			write(folder, name, set)
		}
		name, set = words[1], roaring64.New()
	}
	must(lines.Err())
	write(folder, name, set)
}

// Cardinality, and FNV-1a over the members as little-endian bytes, ascending.
func describe(set *roaring64.Bitmap) (answer string) {
	defer func() {
		if fault := recover(); fault != nil {
			answer = fmt.Sprintf("loads, then panics: %v", fault)
		}
	}()
	hash, count := uint64(0xcbf29ce484222325), uint64(0)
	for at := set.Iterator(); at.HasNext(); count++ {
		for id, i := at.Next(), 0; i < 8; i++ {
			hash = (hash ^ id>>(8*i)&0xff) * 0x100000001b3
		}
	}
	if count != set.GetCardinality() {
		return fmt.Sprintf("inconsistent: %d members, cardinality %d", count, set.GetCardinality())
	}
	return fmt.Sprintf("%d %016x", count, hash)
}

func readFile(path string) (answer string) {
	defer func() {
		if fault := recover(); fault != nil {
			answer = fmt.Sprintf("panics: %v", fault)
		}
	}()
	content, err := os.ReadFile(path)
	must(err)
	set := roaring64.New()
	if _, err := set.ReadFrom(bytes.NewReader(content)); err != nil {
		return fmt.Sprintf("refused: %v", err)
	}
	return describe(set)
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "make" {
		makeFiles(os.Args[2], os.Args[3])
		return
	}
	for _, path := range os.Args[2:] {
		fmt.Printf("%s\t%s\n", path, readFile(path))
	}
}
