package evidence

// Score sums up requests, of one session or of many. Under a budget it sums up those where what must stay fits.
type Score struct {
	Requests   int     `json:"requests"`
	Prompt     int     `json:"prompt_tokens"`
	Uncached   int     `json:"uncached_tokens"`
	References int     `json:"references"`
	Held       int     `json:"held"`
	Lines      int     `json:"lines"`
	LinesHeld  int     `json:"lines_held"`
	Steps      int     `json:"steps"`  // requests that take something from old observations
	Served     int     `json:"served"` // of those, requests whose context holds all of it
	Rereads    int     `json:"rereads_estimate"`
	PagedOut   int     `json:"paged_out"`
	PagedIn    int     `json:"paged_in"`
	Used       int     `json:"used"`     // of what was paged in; once for each call that takes something from it
	Unfit      int     `json:"unfit"`    // requests where what must stay does not fit; only Over counts them too
	Over       int     `json:"over"`     // requests over the budget
	Exceeded   int     `json:"exceeded"` // of those, requests where what must stay fits
	Seconds    float64 `json:"seconds"`  // of replaying
}

// Add counts one more request.
func (s *Score) Add(r Request) {
	s.Over += boolean(r.Over)
	if r.Unfit {
		s.Unfit++
		return
	}
	s.Exceeded += boolean(r.Over)
	s.Requests++
	s.Prompt += r.Prompt
	s.Uncached += r.Uncached
	s.References += r.References
	s.Held += r.Held
	s.Lines += r.Lines
	s.LinesHeld += r.LinesHeld
	s.Steps += boolean(r.References > 0)
	s.Served += boolean(r.References > 0 && r.Held == r.References)
	s.Rereads += r.Rereads
	s.PagedOut += r.PagedOut
	s.PagedIn += r.PagedIn
	s.Used += r.Used
}

func (s *Score) merge(o Score) {
	s.Requests += o.Requests
	s.Prompt += o.Prompt
	s.Uncached += o.Uncached
	s.References += o.References
	s.Held += o.Held
	s.Lines += o.Lines
	s.LinesHeld += o.LinesHeld
	s.Steps += o.Steps
	s.Served += o.Served
	s.Rereads += o.Rereads
	s.PagedOut += o.PagedOut
	s.PagedIn += o.PagedIn
	s.Used += o.Used
	s.Unfit += o.Unfit
	s.Over += o.Over
	s.Exceeded += o.Exceeded
	s.Seconds += o.Seconds
}

// Recall is the share of references that the contexts hold; 0 where there are none.
func (s Score) Recall() float64 { return ratio(s.Held, s.References) }

// LineRecall is Recall of the references that are whole lines.
func (s Score) LineRecall() float64 { return ratio(s.LinesHeld, s.Lines) }

// ServedShare is the share of steps whose contexts hold all that they take.
func (s Score) ServedShare() float64 { return ratio(s.Served, s.Steps) }

// MeanPrompt is the tokens of a request.
func (s Score) MeanPrompt() float64 { return ratio(s.Prompt, s.Requests) }

// MeanUncached is the tokens of a request that are outside the cached prefix.
func (s Score) MeanUncached() float64 { return ratio(s.Uncached, s.Requests) }

// Cost is that of a request, in tokens at the input price.
func (s Score) Cost() float64 { return s.per(Relative) }

// Money is the price of a thousand requests.
func (s Score) Money(p Prices) float64 { return s.per(p) * 1000 / 1e6 }

func (s Score) per(p Prices) float64 {
	return (p.Read*float64(s.Prompt-s.Uncached) + p.Write*float64(s.Uncached)) / float64(max(1, s.Requests))
}

func ratio(a, b int) float64 { return float64(a) / float64(max(1, b)) }
