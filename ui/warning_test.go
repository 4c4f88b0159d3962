package ui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestWarningsAboutTheHistoryAreShownUntilTheyAreOver(t *testing.T) {
	warnings := make(chan string, 3)
	d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) { o.Warnings = warnings })
	next := func(line string) {
		t.Helper()
		warnings <- line
		cmds, err := commandsOf(d.m.Init()())
		if err != nil {
			t.Fatal(err)
		}
		var msg tea.Msg
		for _, cmd := range cmds[len(cmds)-1:] {
			msg = cmd()
		}
		d.send(msg)
	}
	next("history at https://recorder:9273: connection \x1b[31mrefused")
	d.wants("! history at https://recorder:9273: connection ␛[31mrefused")
	next("history at https://recorder:9273: the token was rejected")
	d.wants("the token was rejected")
	d.lacks("[31mrefused")
	next("")
	d.lacks("recorder:9273")
}
