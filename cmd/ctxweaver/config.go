package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"
)

// settings fills the flags that the command line left alone: from the environment, then from the
// config file. In each, what is said for the command wins over what is said for all.
func settings(cmd *cobra.Command, env func(string) (string, bool)) error {
	if err := fromEnvironment(cmd, env); err != nil {
		return err
	}
	path, wanted := defaultConfig(), false
	if f := cmd.Flags().Lookup("config"); f != nil && f.Changed {
		path, wanted = f.Value.String(), true
	}
	values, err := readConfig(path, cmd.Root())
	if errors.Is(err, fs.ErrNotExist) && !wanted {
		return nil
	}
	if err != nil {
		return err
	}
	return fromConfig(cmd, path, values)
}

// unset calls do with every flag that nobody has set yet.
func unset(cmd *cobra.Command, do func(*pflag.Flag) error) error {
	var first error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if first == nil && !f.Changed && f.Name != "help" && f.Name != "version" {
			first = do(f)
		}
	})
	return first
}

// commandNames are the words by which a command is called, without the program's own.
func commandNames(cmd *cobra.Command) []string { return strings.Fields(cmd.CommandPath())[1:] }

// fromEnvironment sets flags from CTXWEAVER_<COMMAND>_<FLAG> or CTXWEAVER_<FLAG>. An empty variable counts as none.
func fromEnvironment(cmd *cobra.Command, env func(string) (string, bool)) error {
	return unset(cmd, func(f *pflag.Flag) error {
		for _, words := range [][]string{append(commandNames(cmd), f.Name), {f.Name}} {
			name := variable(words)
			value, _ := env(name)
			if value == "" {
				continue
			}
			if err := cmd.Flags().Set(f.Name, value); err != nil {
				return usage("%s: %w", name, err)
			}
			return nil
		}
		return nil
	})
}

func variable(words []string) string {
	return "CTXWEAVER_" + strings.ToUpper(strings.ReplaceAll(strings.Join(words, "_"), "-", "_"))
}

// setting is what the config file says of one flag: one value, or several for a flag that may be repeated.
type setting struct {
	values []string
	line   int
}

// defaultConfig is the config file in the user's config folder, or "" where the user has none.
func defaultConfig() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "ctxweaver", "config.yaml")
}

// readConfig reads the config file: flags by name, those of one command as "log.lanes".
func readConfig(path string, root *cobra.Command) (map[string]setting, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out := map[string]setting{}
	if len(doc.Content) == 0 {
		return out, nil
	}
	if err := gather(out, "", doc.Content[0], root); err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return out, nil
}

// gather reads the settings of a command and, nested in it, of its subcommands.
func gather(out map[string]setting, prefix string, n *yaml.Node, cmd *cobra.Command) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("%d: want names of flags with values, such as \"store: /data/ctxweaver\"", n.Line)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if sub := subcommand(cmd, key.Value); sub != nil && value.Kind == yaml.MappingNode {
			if err := gather(out, prefix+key.Value+".", value, sub); err != nil {
				return err
			}
			continue
		}
		if known := flagNames(cmd); !slices.Contains(known, key.Value) {
			return fmt.Errorf("%d: unknown key %q; the keys are names of commands and of their flags: %s", key.Line, key.Value, strings.Join(known, ", "))
		}
		s, err := scalars(value)
		if err != nil {
			return fmt.Errorf("%d: %s: %w", value.Line, key.Value, err)
		}
		out[prefix+key.Value] = setting{s, value.Line}
	}
	return nil
}

func subcommand(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// flagNames are the flags that a command or one below it takes.
func flagNames(cmd *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "version" && f.Name != "config" {
			names = append(names, f.Name)
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	for _, c := range cmd.Commands() {
		if c.Name() != "completion" && c.Name() != "help" {
			names = append(names, flagNames(c)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func scalars(n *yaml.Node) ([]string, error) {
	switch n.Kind {
	case yaml.ScalarNode:
		return []string{n.Value}, nil
	case yaml.SequenceNode:
		var out []string
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, errors.New("want a value or a list of values")
			}
			out = append(out, item.Value)
		}
		return out, nil
	}
	return nil, errors.New("want a value or a list of values")
}

func fromConfig(cmd *cobra.Command, path string, values map[string]setting) error {
	prefix := strings.Join(commandNames(cmd), ".") + "."
	return unset(cmd, func(f *pflag.Flag) error {
		s, ok := values[prefix+f.Name]
		if !ok {
			s, ok = values[f.Name]
		}
		if !ok {
			return nil
		}
		for _, v := range s.values {
			if err := cmd.Flags().Set(f.Name, v); err != nil {
				return usage("%s:%d: %w", path, s.line, err)
			}
		}
		return nil
	})
}
