package importer

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// clineFormat is a task of Cline: tasks/ID/api_conversation_history.json, Anthropic messages in which
// results may be plain text.
var clineFormat = format{
	name: "cline-api-history",
	detect: func(name string, head []byte) float64 {
		rs := records(head, 4)
		switch {
		case len(rs) == 0 || !has(rs[0], "role", "content") || rs[0].Get("role").Str == "system":
			return 0
		case strings.HasPrefix(name, "api_conversation_history"):
			return 0.95
		case strings.HasPrefix(strings.TrimSpace(readContent(rs[0].Get("content")).text), "<task>"),
			bytes.Contains(head, []byte("<environment_details>")) && bytes.HasPrefix(bytes.TrimSpace(head), []byte("[")):
			return 0.9
		}
		return 0
	},
	parse: parseCline,
}

// clineTag finds the call that older versions let the model write as an element. Asking and
// telling the person are no calls here.
var clineTag = regexp.MustCompile(`(?s)<(read_file|execute_command|write_to_file|replace_in_file|search_files|list_files|list_code_definition_names|browser_action|use_mcp_tool|access_mcp_resource)>(.*)`)

func parseCline(data []byte) ([]*Trajectory, error) {
	d, err := document(data)
	if err != nil {
		return nil, err
	}
	b := newThread()
	b.t.Agent = "cline"
	var open []string // calls of the last turn that plain text may still answer, in order
	for _, m := range d.Array() {
		if m.Get("role").Str == "assistant" {
			open = b.clineTurn(m)
		} else {
			open = b.clineUser(m, open)
		}
	}
	return []*Trajectory{b.done()}, nil
}

func (b *thread) clineTurn(m gjson.Result) (open []string) {
	b.turn().Time = stamp(m.Get("ts"))
	b.reply(m.Get("content"))
	s := b.step()
	s.Model = m.Get("modelInfo.modelId").Str
	if at := clineTag.FindStringSubmatchIndex(s.Thought); at != nil && len(s.Calls) == 0 {
		name, args := s.Thought[at[2]:at[3]], s.Thought[at[4]:at[5]]
		s.Thought = strings.TrimSpace(s.Thought[:at[0]])
		args, _, _ = strings.Cut(args, "</"+name+">")
		b.call("", name, strings.TrimSpace(args))
		return []string{""}
	}
	for _, c := range s.Calls {
		open = append(open, c.ID)
	}
	return open
}

func (b *thread) clineUser(m gjson.Result, open []string) []string {
	for _, c := range blocks(m.Get("content")) {
		if c.Get("type").Str == "tool_result" {
			b.toolResult(c)
			continue
		}
		msg := said(graphstore.User, c)
		switch {
		case strings.HasPrefix(msg.Text, "<environment_details>"):
		case len(open) > 0 && strings.HasPrefix(msg.Text, "[") && !strings.HasPrefix(msg.Text, "[TASK") || len(open) > 0 && strings.HasPrefix(msg.Text, "Tool ["):
			b.result(open[0], graphstore.Observation{Text: msg.Text, Images: msg.Images})
			open = open[1:]
		default:
			b.message(msg)
		}
	}
	return open
}
