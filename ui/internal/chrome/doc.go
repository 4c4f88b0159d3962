// Package chrome draws what surrounds the views: the header, the banners, the footer,
// the help, and the screens of a board without elections. It keeps no state.
package chrome
