package blocking

// Notify notifies the receiver of a channel of capacity 1. It never blocks. The receiver gets one notification for
// all calls before it receives.
func Notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
