package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
)

// server speaks as much of Ollama's protocol as an embedding model needs. It can be killed, hang, and come back at its
// address.
type server struct {
	t       *testing.T
	address string
	hung    atomic.Bool
	embeds  atomic.Int32 // requests for vectors since it was started
	http    *httptest.Server
}

func (s *server) start() {
	s.t.Helper()
	if s.address == "" {
		s.address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.address = l.Addr().String()
	s.embeds.Store(0)
	s.http = &httptest.Server{Listener: l, Config: &http.Server{Handler: s}}
	s.http.Start()
}

func (s *server) kill() {
	s.http.CloseClientConnections()
	s.http.Close()
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.hung.Load() {
		io.Copy(io.Discard, r.Body) // else nobody notices that the client has gone
		<-r.Context().Done()
		return
	}
	switch r.URL.Path {
	case "/api/tags":
		fmt.Fprint(w, `{"models":[{"name":"bag:1m","digest":"d","size":1000}]}`)
	case "/api/show":
		fmt.Fprint(w, `{"model_info":{"general.architecture":"bag","bag.context_length":8192},"capabilities":["embedding"]}`)
	case "/api/embed":
		s.embeds.Add(1)
		var q struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out := make([][]float32, len(q.Input))
		for i, text := range q.Input {
			out[i] = []float32{1, float32(len(text) % 7)}
		}
		json.NewEncoder(w).Encode(map[string]any{"embeddings": out})
	}
}

// A real client, and a server that is killed, comes back hung, is killed again and restarted, during 1,000 appends.
func TestServerKilledHungRestarted(t *testing.T) {
	const deadline = 30 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	srv := &server{t: t}
	srv.start()
	o, err := controller.NewOllama(controller.OllamaOptions{Host: srv.address, Model: "bag:1m", Ask: controller.AskEmbeddings, Breaker: controller.Breaker{Cooldown: 20 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, engine.Options{NoSync: true, Selector: o, Deadline: deadline, Patience: 200 * time.Millisecond})
	s := e.Session("a")
	var ids []engine.NodeID
	var slowest time.Duration
	add := func() {
		start := time.Now()
		n, err := s.Append(ctx, did(fmt.Sprint("hm ", len(ids)), "true", "ok"))
		if err != nil {
			t.Fatal(err)
		}
		if len(ids) > 0 { // the first one loads the encoding
			slowest = max(slowest, time.Since(start))
		}
		ids = append(ids, n.ID)
	}
	probes := int32(0)
	for len(ids) < 1000 {
		switch len(ids) {
		case 250:
			srv.kill()
		case 450:
			srv.hung.Store(true)
			srv.start()
		case 650:
			srv.kill()
			srv.hung.Store(false)
		case 800:
			settle(t, e)
			srv.start()
			for merged := e.Tally().Merged; e.Tally().Merged == merged && len(ids) < 1000; { // the breaker lets one call through when it has cooled down
				add()
				settle(t, e)
			}
			probes = srv.embeds.Load()
		}
		add()
	}
	tally := settle(t, e)
	t.Logf("slowest append %v, deadline %v; %d requests until the first answer after the restart; %+v", slowest, deadline, probes, tally)
	if probes != 1 {
		t.Errorf("the controller was back after %d requests to the restarted server, want 1", probes)
	}
	var got []engine.NodeID
	for _, n := range stored(t, e, "a") {
		got = append(got, n.ID)
	}
	if !slices.Equal(got, ids) {
		t.Errorf("%d steps are stored, want the %d that were acknowledged, in order", len(got), len(ids))
	}
	if tally.Merged+tally.Failed+tally.Dropped != 999 || tally.Failed == 0 || tally.Merged == 0 {
		t.Errorf("%+v: want one end for each of 999 questions", tally)
	}
	srv.kill()
}
