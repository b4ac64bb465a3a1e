package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// Bounds of what is asked and of what is heard.
const (
	shownCandidates = 50  // the newest, that a Selector is shown
	mostChosen      = 3   // parents that one opinion may add to a node (m in §3.2)
	mostReason      = 300 // bytes of a reason
	mostWords       = 80  // of a summary
)

// Rules score a guess guessScore, and what they found twice that and more. An opinion never outranks what was found. One of a
// trusted model stands before the guess, any other behind it.
const (
	trustedFrom = 0.011
	trustedSpan = 0.008
	doubtedSpan = 0.009
)

// Opinion is what a controller said of a node.
type Opinion = graphstore.Opinion

// question is what a node is asked about, and what the answer is judged by.
type question struct {
	node     Node
	answered int // calls that had an answer when it was asked
	choose   controller.Question
	sum      controller.SummaryQuestion
}

// question asks about the i-th node of a path. Nothing in it changes afterwards.
func (s *Session) question(ctx context.Context, path []kept, i int, digest string) (question, error) {
	node, err := s.whole(ctx, path[i])
	if err != nil {
		return question{}, err
	}
	q := question{node: node, answered: node.Step.Answered()}
	turn := turnOf(taskOf(path), &node)
	tokens := 0
	for _, k := range path[:i+1] {
		tokens += k.Tokens.Total()
	}
	q.choose = controller.Question{Turn: turn, Session: s.name, Tokens: tokens, Found: found(&node)}
	for j := i - 1; j >= 0 && len(q.choose.Candidates) < shownCandidates; j-- {
		if k := path[j]; k.Validation.Candidate() {
			q.choose.Candidates = append(q.choose.Candidates, controller.Past{ID: string(k.ID), Seq: k.Seq, Kind: controller.Kind(k.Action), Summary: k.Summary})
		}
	}
	q.sum = controller.SummaryQuestion{Turn: turn, Session: s.name, Tokens: tokens, Facts: controller.Extract(turn), Parents: s.dependencies(&node)}
	return q, s.embedded(ctx, &q.choose, digest)
}

// embedded gives the candidates the vectors that the model of that digest made of them.
func (s *Session) embedded(ctx context.Context, q *controller.Question, digest string) error {
	if digest == "" {
		return nil
	}
	ids := make([]NodeID, len(q.Candidates))
	for i, c := range q.Candidates {
		ids[i] = NodeID(c.ID)
	}
	vectors, err := s.engine.store.Vectors(ctx, s.name, digest, ids...)
	for i := range q.Candidates {
		q.Candidates[i].Vector, q.Candidates[i].Digest = vectors[ids[i]], digest
	}
	return err
}

// found is what rules chose of a node's parents.
func found(n *Node) []controller.Choice {
	var out []controller.Choice
	for _, p := range n.Parents {
		if p.Kind != graphstore.Model {
			out = append(out, controller.Choice{ID: string(p.ID), Kind: controller.LinkKind(p.Kind), Score: p.Score, Reason: p.Reason, Words: p.Words})
		}
	}
	return out
}

// heard is what came back; a nil part was not asked, has failed, or was left to rules.
type heard struct {
	answer  *controller.Answer
	summary *controller.Summary
	err     error
	by      string            // whose parts have failed
	lost    controller.Origin // what these took
}

// answered adds an answer, or why there is none.
func (h *heard) answered(a controller.Answer, err error) {
	switch {
	case err != nil:
		h.fail(a.By, a.Origin, err)
	case !byRules(a.By):
		h.answer = &a
	}
}

// summedUp adds a summary, or why there is none.
func (h *heard) summedUp(s controller.Summary, err error) {
	switch {
	case err != nil:
		h.fail(s.By, s.Origin, err)
	case !byRules(s.By):
		h.summary = &s
	}
}

// fail notes a part that brought nothing. Where that was no answer of the model, the part counts as not asked for yet.
func (h *heard) fail(by string, took controller.Origin, err error) {
	if !useless(err) {
		took.Prompt = ""
	}
	h.by = cmp.Or(h.by, by)
	h.lost.Add(took)
	h.err = errors.Join(h.err, err)
}

// byRules reports whether rules decide, by a controller's own judgement.
func byRules(who string) bool { return who == "" || who == "rules" }

// silent reports whether the controller had nothing to say.
func (h heard) silent() bool { return h.err == nil && h.answer == nil && h.summary == nil }

// opinion makes of what was heard what may be kept: choices among the candidates, reasons and summaries without a
// word that their sources lack. What is refused is named in Err. by, if not "", signs it.
func (q question) opinion(h heard, by string) Opinion {
	o := Opinion{Node: q.node.ID, By: by}
	var wrong []string
	if h.err != nil {
		wrong = append(wrong, h.err.Error())
	}
	if a := h.answer; a != nil {
		sign(&o, a.By, a.Origin)
		o.Parents = q.parents(*a, o.By)
		if finite(a.Vector) {
			o.Vector = a.Vector
		}
	}
	if s := h.summary; s != nil {
		sign(&o, s.By, s.Origin)
		known := append(q.sum.Turn.Told(), q.sum.Parents...)
		var err error
		if o.Summary, err = honest(s.Step, known); err != nil {
			wrong = append(wrong, "summary: "+err.Error())
		}
		if o.DependencySummary, err = honest(s.Dependency, known); err != nil {
			wrong = append(wrong, "dependency summary: "+err.Error())
		}
	}
	sign(&o, cmp.Or(h.by, "model"), h.lost)
	o.Err = cutText(strings.Join(wrong, "; "), mostReason)
	return o
}

// complete gives the parts that were not heard as the same model had them in an earlier opinion, and adds what that
// took: nothing that was spent on a step is forgotten.
func (h heard) complete(o, earlier Opinion) Opinion {
	if earlier.Node == "" || earlier.Origin.Digest != o.Origin.Digest {
		return o
	}
	from := controller.Origin(earlier.Origin)
	choosing, summing := from.Prompts()
	from.Prompt = ""
	if h.answer == nil {
		o.Parents, from.Prompt = earlier.Parents, choosing
	}
	if h.summary == nil {
		o.Summary, o.DependencySummary = earlier.Summary, earlier.DependencySummary
		from.Prompt += " " + summing
	}
	sign(&o, earlier.By, from)
	return o
}

// sign adds who said a part, and what it took.
func sign(o *Opinion, by string, from controller.Origin) {
	if o.By == "" {
		o.By = cutText(by, 255)
	}
	from.Model, from.Digest = cutText(from.Model, 255), cutText(from.Digest, 255)
	sum := controller.Origin(o.Origin)
	sum.Add(from)
	o.Origin = graphstore.Origin(sum)
	o.Origin.Prompt = cutText(o.Origin.Prompt, mostReason)
}

// honest is a summary on one line, or why it is refused.
func honest(text string, sources []string) (string, error) {
	text = onOneLine(text)
	made := controller.Invented(text, sources...)
	switch {
	case text == "":
		return "", errors.New("it is empty")
	case len(strings.Fields(text)) > mostWords || len(text) > 16*mostWords:
		return "", fmt.Errorf("it has more than %d words", mostWords)
	case len(made) > 0:
		return "", fmt.Errorf("%d of its words are in none of its sources", len(made))
	}
	return text, nil
}

// onOneLine is text without what nobody sees: a terminal obeys some of it, and some hides words.
func onOneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Join(strings.Fields(text), " ")
}

// finite reports whether a vector is one that can be kept.
func finite(v []float32) bool {
	return len(v) <= 16<<10 && !slices.ContainsFunc(v, func(x float32) bool {
		return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0)
	})
}

// parents are the choices that count: each candidate once, and not too many.
func (q question) parents(a controller.Answer, by string) []graphstore.Parent {
	shown := map[string]bool{}
	for _, c := range q.choose.Candidates {
		shown[c.ID] = true
	}
	var out []graphstore.Parent
	for _, c := range a.Choices {
		if !shown[c.ID] || !(c.Score >= 0 && c.Score <= 1) || len(out) == mostChosen {
			continue
		}
		shown[c.ID] = false
		out = append(out, graphstore.Parent{ID: NodeID(c.ID), Kind: graphstore.Model, Score: c.Score, Reason: q.reason(c), By: by, Candidate: true})
	}
	return out
}

// reason is why a model chose, as far as it makes nothing up.
func (q question) reason(c controller.Choice) string {
	text := cutText(onOneLine(c.Reason), mostReason)
	known := q.choose.Turn.Told()
	for _, p := range q.choose.Candidates {
		known = append(known, p.Summary)
	}
	said := strings.ReplaceAll(text, fmt.Sprintf("%.2f", c.Score), "") // it may name its score
	if text == "" || len(controller.Invented(said, known...)) > 0 {
		return "the model chose it"
	}
	return text
}

// belief is which parts of an opinion are trusted.
type belief struct{ parents, summaries bool }

// adopt gives the node with what an opinion adds to it. What rules found stays as it is and comes first; of
// an older opinion of the same controller nothing is left. Where the model is trusted its choices are
// selected like what was found, and its summaries replace those of rules. Where it is not, its edges are on
// the node for those who ask, no ancestry follows them (see Parent.Candidate), and its summaries stay beside the
// node: so nothing that is woven gets worse, whatever the model says.
//
// find finds the nodes of the session's path.
func adopt(n Node, o Opinion, find func(NodeID) (kept, bool), answered int, trust belief) Node {
	n.Parents = slices.DeleteFunc(slices.Clone(n.Parents), func(p graphstore.Parent) bool {
		return p.Kind == graphstore.Model && p.By == o.By
	})
	at := map[NodeID]int{} // Seq of the parents that are on the path
	for _, p := range slices.Concat(n.Parents, o.Parents) {
		if k, ok := find(p.ID); ok {
			at[p.ID] = k.Seq
		}
	}
	for _, p := range o.Parents {
		k, there := find(p.ID)
		known := slices.ContainsFunc(n.Parents, func(q graphstore.Parent) bool { return q.ID == p.ID })
		if p.Kind != graphstore.Model || !there || k.Seq >= n.Seq || known || !k.Validation.Candidate() {
			continue
		}
		p.Candidate = trust.parents
		if trust.parents {
			p.Score = trustedFrom + trustedSpan*p.Score
		} else {
			p.Score = doubtedSpan * p.Score
		}
		n.Parents = append(n.Parents, p)
	}
	slices.SortStableFunc(n.Parents, func(p, q graphstore.Parent) int {
		return cmp.Or(cmp.Compare(q.Score, p.Score), cmp.Compare(at[q.ID], at[p.ID])) // newest first
	})
	if trust.summaries && n.Step.Answered() == answered { // else the summaries are of less than there is now
		n.Summary = cmp.Or(o.Summary, n.Summary)
		n.DependencySummary = cmp.Or(o.DependencySummary, n.DependencySummary)
	}
	return n
}

// cutText keeps at most n bytes of text that is UTF-8.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}
