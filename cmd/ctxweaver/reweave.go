package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
)

// reweave is what the command is asked for.
type reweave struct {
	speaker
	summaries bool
	adopt     bool
}

func newReweave(a *app) *cobra.Command {
	var r reweave
	cmd := &cobra.Command{
		Use:   "reweave [SESSION] --controller NAME",
		Short: "Ask a controller about a stored session again",
		Long: `Ask a controller what each step of a stored session rests on, as a second opinion that is kept beside the first. What
the same model has said already, told the same, is not asked again. See what it said with show, and where two differ
with diff --controllers.

With --adopt the opinion is merged into the steps too. The model must have passed its examination (ctxweaver doctor
--model NAME); for what it is refused it is not asked. With --no-gate its edges are merged all the same, but no context
is woven from them.

` + helpOnControllers,
		Example: `  ctxweaver reweave --controller rules
  ctxweaver reweave fix-discounts --controller smollm2:135m/scores
  ctxweaver reweave fix-discounts --controller qwen2.5:1.5b --summaries --adopt`,
		Args: arguments(0, 1), ValidArgsFunction: a.completeSession,
		Annotations: map[string]string{afterInterrupt: "; what was said is kept, and the same command goes on from there"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.name == "" {
				return usage("say who is to be asked: --controller rules, or a model such as --controller smollm2:135m/chat")
			}
			return a.reweave(cmd.Context(), firstOf(args), &r)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	r.flags(f, "who is asked")
	f.BoolVar(&r.summaries, "summaries", false, "have the model sum up each step too")
	f.BoolVar(&r.adopt, "adopt", false, "merge what it says into the steps")
	return cmd
}

func (a *app) reweave(ctx context.Context, want string, r *reweave) error {
	if err := r.find(ctx); err != nil {
		return err
	}
	if r.rules && r.adopt {
		return usage("--adopt: what rules say is in the steps already")
	}
	parents, summaries := true, r.summaries
	if r.adopt && !r.noGate {
		var err error
		if parents, summaries, err = a.trusted(ctx, &r.speaker, parents, summaries); err != nil {
			return err
		}
		if !parents && !summaries {
			return errReported
		}
	}
	if !r.adopt && !r.rules {
		a.warn(&r.speaker, summaries)
	}
	w := r.reweaving(parents, summaries)
	w.Adopt, w.Trust = r.adopt, !r.noGate
	return a.with(ctx, func(e *engine.Engine) error {
		info, err := session(ctx, e, want)
		if err != nil {
			return err
		}
		if !r.rules {
			a.announce("Asking %s about %s; this may take minutes.", r.name, plural(info.Nodes, "step"))
		}
		bar := a.progress("ask "+r.name+": steps", info.Nodes)
		defer bar.stop()
		w.Each = func(engine.Node, engine.Opinion) { bar.add(1) }
		sum, err := e.Session(info.Name).Reweave(ctx, w)
		bar.stop()
		if err != nil {
			return cancelled(ctx, err)
		}
		return a.rewoven(info, w.By, sum)
	})
}

// rewoven tells what came of it.
func (a *app) rewoven(info engine.SessionInfo, by string, sum engine.Rewoven) error {
	if a.json {
		return a.printJSON(struct {
			Session    string `json:"session"`
			Controller string `json:"controller"`
			engine.Rewoven
		}{info.Name, by, sum})
	}
	parts := []string{fmt.Sprintf("%d asked", sum.Asked)}
	for _, c := range []struct {
		n    int
		what string
	}{{sum.There, "there already"}, {sum.Silent, "left to rules"}, {sum.Failed, "failed or refused in part"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	line := fmt.Sprintf("%s on %s: %s, %s", by, oneLine(info.Name), plural(sum.Steps, "step"), strings.Join(parts, ", "))
	if o := sum.Origin; o.Calls > 0 {
		line += fmt.Sprintf("; %s tokens read, %s written, %s (%s a step)", count(o.In), count(o.Out), o.Took.Round(time.Millisecond),
			(o.Took / time.Duration(max(1, sum.Asked))).Round(time.Millisecond))
	}
	if sum.Err != "" {
		line += "; the last failure: " + oneLine(sum.Err)
	}
	a.print("%s", line)
	return nil
}
