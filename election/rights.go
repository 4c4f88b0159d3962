package election

// Rights are what the token may do to one hold, as far as Consul tells.
type Rights struct {
	// Known is false when Consul did not say (ACLs are off, or the endpoint
	// does not answer): then everything is tried.
	Known bool
	// Release needs write on the key, Destroy on the session's node.
	Release, Destroy bool
	// ReleaseRule and DestroyRule are the ACL rules that are missing, empty
	// when nothing is.
	ReleaseRule, DestroyRule string
}
