package controllers

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// cache is a folder of what was found out, a file each, by the hash of all that it depends on; "" keeps nothing.
type cache string

func (c cache) path(key any) string { return filepath.Join(string(c), sum(key)[:32]+".json") }

// get reports whether the key's value is there. One that is damaged is not.
func (c cache) get(key, into any) bool {
	if c == "" {
		return false
	}
	data, err := os.ReadFile(c.path(key))
	return err == nil && json.Unmarshal(data, into) == nil
}

// put keeps a value, whole or not at all.
func (c cache) put(key, v any) error {
	if c == "" {
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(c), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(string(c), "*.part")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), c.path(key))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
