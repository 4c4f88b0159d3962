package blocking

// Notify sends a notification to a channel of capacity 1. It never blocks. All calls before the next receive result in
// one notification.
func Notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
