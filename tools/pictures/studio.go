package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// parallel is the number of scenes that run at the same time. A scene spends most of its time waiting.
	parallel = 2
	// attempts is the maximum number of times that a scene is played. On a slow machine, a state may end before the key
	// that shows the state is pressed.
	attempts = 3
	// longestGap is the longest time between two frames of a recording while a step waits.
	longestGap = time.Second
)

// studio contains the programs and folders that are needed to draw pictures.
type studio struct {
	electop, svgTerm string
	casts, out       string
	log              io.Writer
}

// draw plays all scenes whose names match the expression, and draws their pictures.
func (s studio) draw(ctx context.Context, only string) error {
	matches, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	for _, program := range []string{"tmux", s.electop, s.svgTerm} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w; `make pictures` installs svg-term-cli with npm, and tmux is a Debian package", err)
		}
	}
	if err := errors.Join(os.MkdirAll(s.casts, 0o755), os.MkdirAll(s.out, 0o755)); err != nil { //nolint:gosec // documents
		return err
	}
	for _, th := range themes() {
		if err := write(s.profile(th), []byte(th.xresources())); err != nil {
			return err
		}
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for _, sc := range scenes() {
		for _, th := range themes() {
			if matches.MatchString(sc.name) {
				g.Go(func() error { return s.insist(gctx, sc, th) })
			}
		}
	}
	return g.Wait()
}

// insist plays a scene again if it fails.
func (s studio) insist(ctx context.Context, sc scene, th theme) error {
	var err error
	for range attempts {
		if err = s.shoot(ctx, sc, th); err == nil || ctx.Err() != nil {
			return err
		}
		fmt.Fprintf(s.log, "%s, %s: %v\n", sc.name, th.name, err)
	}
	return fmt.Errorf("%s, %s: failed %d times", sc.name, th.name, attempts)
}

// shoot plays a scene and then draws its pictures. The demonstration does not run while the pictures are drawn.
func (s studio) shoot(ctx context.Context, sc scene, th theme) error {
	films, err := s.play(ctx, sc, th)
	if err != nil {
		return err
	}
	for name, film := range films {
		if err := s.print(ctx, name, th, film); err != nil {
			return err
		}
	}
	return nil
}

// play runs the demonstration of a scene, and returns the recordings of its pictures by name.
func (s studio) play(ctx context.Context, sc scene, th theme) (map[string]recording, error) {
	t, err := openTerminal(ctx, append([]string{s.electop, "demo", "--theme", th.name}, sc.args...))
	if err != nil {
		return nil, err
	}
	defer t.close()
	films := map[string]recording{}
	var film recording
	caption := "" // a caption describes the screen that its step waits for
	for i, st := range sc.steps {
		if err := t.press(ctx, st.keys); err != nil {
			return nil, err
		}
		frame, err := t.await(ctx, st.await, func(frame string) {
			if i > 0 {
				film.see(frame, caption, time.Now())
			}
		})
		if err != nil {
			return nil, err
		}
		caption = st.caption
		film.see(frame, caption, time.Now())
		film.hold(st.hold)
		if st.picture != "" {
			films[st.picture] = still(frame)
		}
	}
	if sc.recorded {
		films[sc.name] = film
	}
	return films, nil
}

// print writes the cast and the picture of a recording.
func (s studio) print(ctx context.Context, name string, th theme, film recording) error {
	name += "-" + th.name
	cast := filepath.Join(s.casts, name+".cast")
	if err := write(cast, film.cast(th)); err != nil {
		return err
	}
	// svg-term treats the argument as a file only if it begins with a slash, a dot or a tilde.
	profile, err := filepath.Abs(s.profile(th))
	if err != nil {
		return err
	}
	frames := "--from"
	if len(film.shots) == 1 {
		frames = "--at"
	}
	svg, err := exec.CommandContext(ctx, s.svgTerm, "--in", cast, "--term", "xresources", "--profile", profile,
		"--no-cursor", "--no-optimize", "--padding", "12", frames, fmt.Sprint(firstFrame.Milliseconds())).Output()
	if err != nil {
		return fmt.Errorf("svg-term: %w: %.200s", err, svg)
	}
	picture := polish(string(svg), th)
	fmt.Fprintf(s.log, "%s.svg: %d frames, %d bytes\n", name, len(film.shots), len(picture))
	return write(filepath.Join(s.out, name+".svg"), []byte(picture))
}

// profile returns the path of a theme's file for svg-term.
func (s studio) profile(th theme) string { return filepath.Join(s.casts, th.name+".xresources") }

// write writes a file that every user can read.
func write(path string, text []byte) error {
	return os.WriteFile(path, text, 0o644) //nolint:gosec // a document
}
