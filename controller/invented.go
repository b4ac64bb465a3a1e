package controller

// Invented lists the specific words of text (see Words), and whatever has a digit, that none of its sources
// has, each once: what a model made up.
func Invented(text string, from ...string) []string { return sources(from...).invented(text) }
