// Command warm builds kustomizations with the reference's library, many in one process: no time goes into starting it.
//
// It reads the names of directories, one a line. For each it answers one line, `ok NANOSECONDS BYTES` or
// `fail NANOSECONDS BYTES`, and then that many bytes: the output, or why there is none. The time is that of building and
// printing into memory. It must never do more than one build at a time: the library keeps its schema in globals.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

var builtinSchema = openapi.GetSchemaVersion()

func main() {
	// Deprecated fields warn on every build; nobody reads it here.
	log.SetOutput(io.Discard)
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF {
			return
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "reading names of directories:", err)
			os.Exit(1)
		}
		answer(out, strings.TrimSuffix(line, "\n"))
		if err := out.Flush(); err != nil {
			os.Exit(1)
		}
	}
}

func answer(out *bufio.Writer, dir string) {
	start := time.Now()
	text, err := build(dir)
	took := time.Since(start).Nanoseconds()
	word := "ok"
	if err != nil {
		word, text = "fail", []byte(err.Error())
	}
	fmt.Fprintf(out, "%s %d %d\n", word, took, len(text))
	out.Write(text)
}

// build does what the command does with no flags.
func build(dir string) (text []byte, err error) {
	defer func() {
		// A schema of one build's own would stay for the next; only then is the built-in one read again.
		if openapi.GetSchemaVersion() != builtinSchema {
			openapi.ResetOpenAPI()
		}
		if why := recover(); why != nil {
			err = fmt.Errorf("panic: %v", why)
		}
	}()
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionUnspecified
	objects, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}
