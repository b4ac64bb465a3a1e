// Command ctxweaver keeps the traces that agents leave behind as graphs of steps, answers questions
// about them, and weaves from them the context of a next request.
package main

import "os"

func main() { os.Exit(run(os.Args[1:])) }
