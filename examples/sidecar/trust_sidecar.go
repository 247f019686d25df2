// The sidecar for game servers in Go: one file, the standard library only. Rename the package for your own use.
//
//	TRUST_SIDECAR_TOKEN=... go run trust_sidecar.go PLAYER...
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// PlayerTrust is what the group knows of a player.
type PlayerTrust struct {
	PlayerID   string  `json:"player_id"`
	Verdict    string  `json:"verdict"`
	Score      float64 `json:"score"`
	Confidence float64 `json:"confidence"`
	// Action is "pass", or "restrict" in enforce mode; Would is what enforce mode would do.
	Action string `json:"action"`
	Would  string `json:"would"`
	// Code is set where the id is no player, such as a bot.
	Code string `json:"code"`
}

// Report is something that happened to a player. The same EventID is the same report: sent twice it counts once.
type Report struct {
	PlayerID  string  `json:"player_id"`
	EventType string  `json:"event_type"`
	Severity  float64 `json:"severity"`
	EventID   string  `json:"event_id,omitempty"`
}

// Sidecar is safe for use by several goroutines.
type Sidecar struct {
	url, token string
	http       *http.Client
}

func NewSidecar(url, token string) *Sidecar {
	return &Sidecar{url: url, token: token, http: &http.Client{Timeout: 5 * time.Second}}
}

func unknown(id string) PlayerTrust {
	return PlayerTrust{PlayerID: id, Verdict: "neutral", Score: 50, Action: "pass", Would: "pass"}
}

// Players returns the players of a match, at most 128, in the order asked. Without an answer they are neutral.
func (s *Sidecar) Players(ids []string) ([]PlayerTrust, error) {
	escaped := make([]string, len(ids))
	all := make([]PlayerTrust, len(ids))
	for i, id := range ids {
		escaped[i] = "id=" + url.QueryEscape(id)
		all[i] = unknown(id)
	}
	var match struct {
		Data []PlayerTrust `json:"data"`
	}
	// A blank is %20 in a path and in the ids, never a plus sign.
	query := strings.ReplaceAll(strings.Join(escaped, "&"), "+", "%20")
	if _, err := s.call("GET", "/v1/players?"+query, nil, &match); err != nil {
		return all, err
	}
	for i, one := range match.Data {
		if one.Code == "" {
			all[i] = one
		}
	}
	return all, nil
}

// Report returns without an error once the report is on disk.
func (s *Sidecar) Report(report Report) error {
	_, err := s.call("POST", "/v1/reports", report, nil)
	return err
}

func (s *Sidecar) call(method, path string, body, result any) (int, error) {
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			return 0, err
		}
	}
	request, err := http.NewRequest(method, s.url+path, &text)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := s.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		var refusal struct {
			Error string `json:"error"`
			Code  string `json:"code"`
		}
		_ = json.NewDecoder(answer.Body).Decode(&refusal)
		return answer.StatusCode, fmt.Errorf("the sidecar answered %d %s: %s", answer.StatusCode, refusal.Code, refusal.Error)
	}
	if result == nil {
		return answer.StatusCode, nil
	}
	return answer.StatusCode, json.NewDecoder(answer.Body).Decode(result)
}

func main() {
	address := os.Getenv("TRUST_SIDECAR_URL")
	if address == "" {
		address = "http://127.0.0.1:4747"
	}
	sidecar := NewSidecar(address, os.Getenv("TRUST_SIDECAR_TOKEN"))
	players := os.Args[1:]
	if len(players) == 0 {
		fmt.Fprintln(os.Stderr, "usage: trust_sidecar PLAYER...")
		os.Exit(1)
	}
	found, err := sidecar.Players(players)
	if err != nil {
		fmt.Fprintln(os.Stderr, "trust:", err)
	}
	for _, trust := range found {
		fmt.Println(trust.PlayerID, trust.Verdict, trust.Would)
	}
	last := players[len(players)-1]
	err = sidecar.Report(Report{PlayerID: last, EventType: "report_toxicity", Severity: 0.5, EventID: "match-1:" + last})
	if err != nil {
		fmt.Fprintln(os.Stderr, "trust:", err)
		fmt.Println("not reported")
		return
	}
	fmt.Println("reported")
}
