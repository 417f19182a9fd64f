//go:build tools

// Package tools keeps the reference program in go.mod: `go mod tidy` drops what nothing imports.
package tools

import (
	_ "sigs.k8s.io/kustomize/kustomize/v5"
)
