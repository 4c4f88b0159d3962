package blocking

// Notify sends a notification to a channel of capacity 1. It never blocks. If it is called
// several times before the receiver reads the channel, the receiver gets one notification.
func Notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
