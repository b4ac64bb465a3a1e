package evidence

import (
	"cmp"
	"runtime"
	"time"

	"github.com/ctxweaver/ctxweaver/engine"
)

// Manifest says what a report was made of, so that others can make it again.
type Manifest struct {
	Measure  string    `json:"measure_version"`
	Program  string    `json:"program"` // version of the program
	Build    string    `json:"build,omitempty"`
	Go       string    `json:"go"`
	Platform string    `json:"platform"`
	Time     time.Time `json:"time"`
	Command  []string  `json:"command,omitempty"`
	Seed     uint64    `json:"seed"`
	First    int       `json:"first"`
	Budget   int       `json:"budget,omitempty"` // of each context, in tokens
	// Strategy is that of a working set, if its name has none.
	Strategy engine.Strategy `json:"strategy"`
	Least    int             `json:"min_steps"`
	Folds    int             `json:"folds"`
	Policies []string        `json:"policies"`
	// Prices name those by which a working set pages out; Report has them as figures.
	Prices string `json:"prices"`
	// Weights of a working set that were read, and Contexts that another program wrote; nil where there were none.
	Weights  *Source   `json:"weights,omitempty"`
	Contexts *Source   `json:"contexts,omitempty"`
	Naive    []string  `json:"naive,omitempty"`
	Sessions []Session `json:"sessions"`
	Skipped  []string  `json:"skipped,omitempty"` // files that could not be read, and why
}

// Source is a file that figures rest on beside the sessions.
type Source struct {
	File string `json:"file"`
	Sum  string `json:"file_sha256"`
}

// NewSource describes a file that holds data.
func NewSource(path string, data []byte) *Source { return &Source{path, sum(data)} }

// NewManifest describes a run by this program, now.
func NewManifest(sessions []Session, policies []string, tested int, o Options) Manifest {
	return Manifest{
		Measure: Version, Build: o.Program, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Time: time.Now().UTC(),
		Seed: o.Seed, First: o.First, Budget: o.Engine.Budget, Folds: o.Folds,
		Prices: cmp.Or(o.Engine.Prices.Name, engine.PricePresets()[0].Name), Strategy: cmp.Or(o.Engine.Strategy, engine.Auto),
		Policies: policies[:tested], Naive: policies[tested:], Sessions: sessions,
	}
}
