package importer

// Some harnesses keep a session as a tree: every record names the one before it, and going back to
// an earlier point leaves a dead branch behind. leaf is one such record.
type leaf struct {
	id, parent string
	talk       bool   // part of the conversation; others only link
	group      string // records that stand and fall together, such as the blocks of one reply and their results
}

// unlinked is a parent that is in no file: the record follows the one before it.
const unlinked = "the one before"

// branch is one way through the tree: records in the file's order, without those that the branch it
// grew from has.
type branch struct {
	records []int
	from    int // index of the branch it grew from, -1 for none
}

// branches takes a tree apart. The first branch is the live one, to which the newest record belongs.
// A record whose parent is not in the file follows the one before it, so that a broken line does
// not cut a session in two.
func branches(tree []leaf) []branch {
	byID := make(map[string]int, len(tree))
	groups := map[string][]int{}
	for i, l := range tree {
		if l.id != "" {
			byID[l.id] = i
		}
		if l.group != "" {
			groups[l.group] = append(groups[l.group], i)
		}
	}
	before := func(i int) int {
		if tree[i].parent == "" {
			return -1
		}
		if p, ok := byID[tree[i].parent]; ok && p != i {
			return p
		}
		return i - 1
	}
	owner := make([]int, len(tree)) // branch of each record, from 1; 0: none yet
	var out []branch
	for newest := len(tree) - 1; newest >= 0; newest-- {
		if owner[newest] != 0 || !tree[newest].talk {
			continue
		}
		b, from := len(out)+1, 0
		i := newest
		for steps := 0; i >= 0 && steps <= len(tree); steps++ { // a broken file may go in circles
			if owner[i] != 0 && owner[i] != b {
				from = owner[i]
				break
			}
			owner[i] = b
			for _, j := range groups[tree[i].group] {
				if owner[j] == 0 {
					owner[j] = b
				}
			}
			delete(groups, tree[i].group)
			i = before(i)
		}
		out = append(out, branch{from: from - 1})
	}
	for i, l := range tree {
		if b := owner[i]; b != 0 && l.talk {
			out[b-1].records = append(out[b-1].records, i)
		}
	}
	return out
}
