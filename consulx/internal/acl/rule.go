// Package acl formats Consul's ACL rules.
package acl

import (
	"strconv"
	"strings"
)

// Rule formats one rule like `consul acl policy read`.
func Rule(resource, segment, policy string) string {
	return resource + " " + quote(segment) + ` { policy = "` + policy + `" }`
}

// quote returns text as an HCL string that is safe to print. It escapes HCL's templates and all characters that are
// not printable ASCII.
func quote(text string) string {
	return strings.ReplaceAll(strconv.QuoteToASCII(text), "${", `\u0024{`)
}
