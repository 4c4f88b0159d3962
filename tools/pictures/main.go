// Pictures draws the pictures in the documents: it runs `electop demo` in tmux,
// presses keys, and draws the screens as SVG files.
//
// `make pictures` runs it. It requires tmux and npm. scenes.go lists the scenes: each
// is a demonstration with its seed, and a list of keys to press and text to wait
// for. Every picture is drawn with a dark and with a light theme, as
// docs/pictures/NAME-dark.svg and docs/pictures/NAME-light.svg.
//
// How a picture is drawn:
//
//   - tmux stores the screen of the program; `capture-pane` returns it with its
//     colours.
//   - The frames are written to an asciinema cast (version 2), bin/pictures/NAME.cast.
//     A still picture is a cast with one frame.
//   - svg-term-cli, from npm, draws the cast.
//   - polish.go corrects the differences between svg-term and a terminal. It draws
//     box characters as shapes, so that they join in every font. It sets the width
//     of each word, so that the columns are aligned in every font.
//
// A run with the same version of electop shows the same states. Times, ports, session
// IDs and the elected candidates differ.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	s := studio{log: os.Stderr}
	flag.StringVar(&s.electop, "electop", "bin/electop", "path of the electop binary")
	flag.StringVar(&s.svgTerm, "svg-term", "bin/pictures/node_modules/.bin/svg-term", "svg-term-cli")
	flag.StringVar(&s.casts, "casts", "bin/pictures", "folder for the casts")
	flag.StringVar(&s.out, "out", "docs/pictures", "folder for the pictures")
	only := flag.String("only", "", "draw only the scenes whose names match this regular expression")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := s.draw(ctx, *only)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}
