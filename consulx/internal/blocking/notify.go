package blocking

// Notify wakes the receiver of a channel of capacity 1. It never blocks. Several calls before the receiver runs wake
// it once.
func Notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
