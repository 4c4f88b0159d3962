// Package chrome draws the header, the banners, the footer, and the screens of an empty board and of a window
// that is too small. It keeps no state.
package chrome
