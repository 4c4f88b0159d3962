// Package chrome draws the header, the banners, the footer, the help, and the screen of a
// board without elections. It keeps no state.
package chrome
