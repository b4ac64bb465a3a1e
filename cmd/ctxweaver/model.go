package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/controller"
)

func newModel(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "The models of an Ollama server: list them, or bring one from a file",
		Example: `  ctxweaver model list
  ctxweaver model import qwen2.5-1.5b-instruct-q4_k_m.gguf --name qwen2.5:1.5b`,
		Args: unknownCommand,
		RunE: help,
	}
	cmd.AddCommand(newModelList(a), newModelImport(a))
	return cmd
}

const hostUsage = "address of the Ollama server (default: OLLAMA_HOST, or http://127.0.0.1:11434)"

func newModelList(a *app) *cobra.Command {
	var host string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List what models the server has",
		Example: "  ctxweaver model list --json",
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			library, err := controller.NewLibrary(host)
			if err != nil {
				return usageError{err}
			}
			models, err := library.Models(cmd.Context())
			if err != nil {
				return cancelled(cmd.Context(), err)
			}
			return a.listModels(models)
		},
	}
	cmd.Flags().StringVar(&host, "host", "", hostUsage)
	return cmd
}

func (a *app) listModels(models []controller.Model) error {
	if a.json {
		type model struct {
			Name       string `json:"name"`
			Parameters string `json:"parameters"`
			Size       int64  `json:"size"`
			Digest     string `json:"digest"`
		}
		out := []model{}
		for _, m := range models {
			out = append(out, model{m.Name, m.Parameters, m.Size, m.Digest})
		}
		return a.printJSON(out)
	}
	if len(models) == 0 {
		a.print("There are none yet. Get one with `ollama pull NAME`, or with ctxweaver model import FILE.")
		return nil
	}
	t := &table{heads: []column{{head: "NAME", name: true, stretch: true}, {head: "PARAMETERS", right: true}, {head: "SIZE", right: true}, {head: "DIGEST"}}}
	for _, m := range models {
		t.add(plain(oneLine(m.Name), oneLine(m.Parameters), size(m.Size), fmt.Sprintf("%.12s", oneLine(m.Digest)))...)
	}
	a.printTable(t)
	return nil
}

func newModelImport(a *app) *cobra.Command {
	var host, name, template string
	var replace bool
	cmd := &cobra.Command{
		Use:   "import FILE|DIR",
		Short: "Bring a model from a GGUF file, or a folder with safetensors, into the server",
		Long: `Bring a model from a GGUF file, or a folder with safetensors, into the server, without any network. Each file
goes by its digest, which the server checks, and is not sent again if the server has it. Chat templates that a
file lacks and the server does not know can be given with --template, in Ollama's own notation.

A name that another model has is refused, unless --replace is given. If it is the same model nothing is done.`,
		Example: `  ctxweaver model import qwen2.5-1.5b-instruct-q4_k_m.gguf --name qwen2.5:1.5b
  ctxweaver model import all-MiniLM-L6-v2/ --name all-minilm`,
		Args:        arguments(1, 1),
		Annotations: map[string]string{afterInterrupt: "; files that were sent whole are kept, and the same command goes on from there"},
		RunE: func(cmd *cobra.Command, args []string) error {
			library, err := controller.NewLibrary(host)
			if err != nil {
				return usageError{err}
			}
			p, err := controller.ReadPackage(args[0])
			if err != nil {
				return err
			}
			if p.Name = cmp.Or(name, p.Name); p.Name == "" {
				return usage("%s gives no name; say what to call the model with --name", args[0])
			}
			if template != "" {
				text, err := os.ReadFile(template)
				if err != nil {
					return err
				}
				p.Template = string(text)
			}
			return a.importModel(cmd.Context(), library, p, replace)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&name, "name", "", "what to call it (default: as the file)")
	f.StringVar(&template, "template", "", "file with a chat template")
	f.BoolVar(&replace, "replace", false, "take the place of another model of that name")
	f.StringVar(&host, "host", "", hostUsage)
	return cmd
}

func (a *app) importModel(ctx context.Context, library *controller.Library, p controller.Package, replace bool) error {
	if !replace {
		taken, same, err := a.taken(ctx, library, p)
		switch {
		case err != nil:
			return cancelled(ctx, err)
		case same:
			return a.modelThere(p, false)
		case taken:
			return fmt.Errorf("%s: another model has that name on %s; --replace puts this one in its place, --name calls it otherwise", p.Name, library.Host())
		}
	}
	const unit = 1 << 20
	bar := a.progress("send MB", int(2*p.Size/unit))
	defer bar.stop()
	err := library.Import(ctx, p, counted(bar, unit))
	bar.stop()
	if err != nil {
		return cancelled(ctx, err)
	}
	return a.modelThere(p, true)
}

// taken looks whether the name is free.
func (a *app) taken(ctx context.Context, library *controller.Library, p controller.Package) (taken, same bool, err error) {
	const unit = 1 << 20
	bar := a.progress("compare MB", int(p.Size/unit))
	defer bar.stop()
	return library.Taken(ctx, p, counted(bar, unit))
}

// counted adds to a bar in units of so many bytes.
func counted(bar *progress, unit int64) func(bytes int) {
	var done atomic.Int64
	return func(n int) {
		after := done.Add(int64(n))
		bar.add(int(after/unit - (after-int64(n))/unit))
	}
}

// modelThere says that the server has the model, and whether it has it now only.
func (a *app) modelThere(p controller.Package, made bool) error {
	if a.json {
		return a.printJSON(map[string]any{"name": p.Name, "size": p.Size, "files": len(p.Files), "new": made})
	}
	there := "is there"
	if !made {
		there = "was there already, the same"
	}
	a.print("%s %s, of %s with %s. Examine it: ctxweaver doctor --model %s", p.Name, there, plural(len(p.Files), "file"), size(p.Size), p.Name)
	return nil
}
