package blocking

// Notify wakes the receiver of a channel of capacity 1. It never blocks: a receiver that
// was not woken yet is woken once.
func Notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
