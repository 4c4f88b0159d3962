package election

import "cmp"

// Store describes the kind of store that contains the elections. The zero value describes Consul.
type Store struct {
	// Name is the name of the store's software; see [Store.String].
	Name string `json:"name"`
	// Revisions is set if an observer sees every change of a key, and the number of a term is the revision of the store
	// at which its key was created.
	Revisions bool `json:"revisions"`
	// Leases is set if a session is a lease, which has a TTL, but no name, node, checks or lock-delay.
	Leases bool `json:"leases"`
	// StepsDown is set if a leader steps down when its key is deleted.
	StepsDown bool `json:"steps_down,omitempty"`
}

// String returns the name of the store's software. It is safe to print, because a recorded name may be any text.
func (s Store) String() string { return Label(cmp.Or(s.Name, "Consul")) }
