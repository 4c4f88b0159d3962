package consulx

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"electop/election/sanitize"
)

// reflecting starts a server that responds with status 500 and with text that contains the request's credentials.
func reflecting(t *testing.T, body func(token, user, password, header string) string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, body(r.Header.Get("X-Consul-Token"), user, password, r.Header.Get("Authorization")))
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// encoders contains the encodings in which a server may return a secret.
func encoders() map[string]func(string) string {
	return map[string]func(string) string{
		"plain":                    func(s string) string { return s },
		"query":                    url.QueryEscape,
		"path":                     url.PathEscape,
		"HTML":                     html.EscapeString,
		"Go":                       strconv.Quote,
		"JSON":                     func(s string) string { text, _ := json.Marshal(s); return string(text) },
		"base64":                   func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"base64 URL":               func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
		"base64, one byte before":  func(s string) string { return base64.StdEncoding.EncodeToString([]byte(":" + s + "!")) },
		"base64, two bytes before": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("a:" + s + "!!")) },
		"base64 of a header":       func(s string) string { return base64.StdEncoding.EncodeToString([]byte("X-Consul-Token: " + s)) },
		"twice, and in a word":     func(s string) string { return s + "x" + s },
		"in the middle of text":    func(s string) string { return "the token “" + s + "” is\tunknown" },
	}
}

func TestReflectedTokensAreHidden(t *testing.T) {
	for _, token := range []string{secret, `pa"ss\w<o>r&d/+%?`, "ünïcode-tökèn", "sixsix"} {
		for name, encode := range encoders() {
			addr := reflecting(t, func(token, _, _, _ string) string { return "[" + encode(token) + "]" })
			c := newClient(t, Config{Address: addr, Token: token})
			_, err := c.ConsensusLeader(t.Context())
			text := Describe(err)
			core := strings.Trim(encode(token), `"=`)
			if err == nil || !strings.Contains(text, "<hidden>") || strings.Contains(text, token) || strings.Contains(text, sanitize.Text(core)) {
				t.Errorf("%s of %s: %s", name, token, text)
			}
		}
	}
}

func TestReflectedPasswordsAreHidden(t *testing.T) {
	reflections := map[string]func(token, user, password, header string) string{
		"password": func(_, _, password, _ string) string { return "wrong password " + strconv.Quote(password) },
		"header":   func(_, _, _, header string) string { return "Authorization: " + header },
		"pair":     func(_, user, password, _ string) string { return user + ":" + password + " is unknown" },
		"URL": func(_, user, password, _ string) string {
			return "http://" + url.UserPassword(user, password).String() + "@x/"
		},
	}
	for _, password := range []string{"correct-horse", "short", "xy7", "p@ss:w/d"} {
		for name, reflect := range reflections {
			addr := reflecting(t, reflect)
			for where, cfg := range map[string]Config{
				"address":     {Address: "http://" + url.UserPassword("me", password).String() + "@" + addr},
				"environment": {Address: addr},
			} {
				t.Setenv("CONSUL_HTTP_AUTH", "")
				if where == "environment" {
					t.Setenv("CONSUL_HTTP_AUTH", "me:"+password)
				}
				_, err := newClient(t, cfg).ConsensusLeader(t.Context())
				text := Describe(err)
				for _, leak := range []string{password, url.PathEscape(password), base64.StdEncoding.EncodeToString([]byte("me:" + password))} {
					if err == nil || strings.Contains(text, leak) {
						t.Errorf("%s from the %s, %s: the error contains the password: %s", password, where, name, text)
					}
				}
			}
		}
	}
}
