package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// embedder is "embedder": from now on OLLAMA_HOST is a server whose one model, bag:1m, makes of a text the vector of
// its words.
func embedder(ts *testscript.TestScript, _ bool, _ []string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/tags":
			fmt.Fprint(w, `{"models":[{"name":"bag:1m","digest":"0123456789abcdef","size":1000}]}`)
		case "/api/show":
			fmt.Fprint(w, `{"details":{"parameter_size":"1M"},"model_info":{"general.architecture":"bag","bag.context_length":8192},"capabilities":["embedding"]}`)
		case "/api/embed":
			var q struct{ Input []string }
			if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			var out [][]float32
			words := 0
			for _, text := range q.Input {
				v := make([]float32, 64)
				for _, word := range strings.Fields(text) {
					h := fnv.New32a()
					h.Write([]byte(word))
					v[h.Sum32()%64]++
					words++
				}
				v[0] += 0.1 // no vector is nothing
				out = append(out, v)
			}
			json.NewEncoder(w).Encode(map[string]any{"model": "bag:1m", "embeddings": out, "prompt_eval_count": words})
		default:
			http.NotFound(w, r)
		}
	}))
	ts.Defer(s.Close)
	ts.Setenv("OLLAMA_HOST", s.URL)
}
