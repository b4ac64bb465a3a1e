//go:build tools

// Package ollama is a real server and real small models for tests: see serve.
package ollama

import _ "github.com/gen2brain/malgo" // its miniaudio.h, which the server's own module leaves out
