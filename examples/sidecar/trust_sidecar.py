"""The sidecar for game servers in Python: one class, the standard library only.

    TRUST_SIDECAR_TOKEN=... python3 trust_sidecar.py PLAYER...
"""
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request


class TrustSidecar:
    def __init__(self, url, token, timeout_s=5):
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._timeout_s = timeout_s

    def players(self, ids):
        """The players of a match, at most 128, in the order asked. Without an answer they are neutral and pass."""
        query = "&".join("id=" + urllib.parse.quote(one, safe="") for one in ids)
        try:
            _, body = self._call("GET", f"/v1/players?{query}")
            return [self._unknown(one["player_id"]) if "code" in one else one for one in body["data"]]
        except OSError as error:
            print(f"trust: no answer from the sidecar: {error}", file=sys.stderr)
            return [self._unknown(one) for one in ids]

    def report(self, player_id, event_type, severity, name):
        """Reports a player; True once the report is on disk. The same name is the same report: sent twice it counts once."""
        body = {"player_id": player_id, "event_type": event_type, "severity": severity, "event_id": name}
        try:
            status, _ = self._call("POST", "/v1/reports", body)
            return status == 202
        except OSError as error:
            print(f"trust: not reported: {error}", file=sys.stderr)
            return False

    @staticmethod
    def _unknown(player_id):
        """An id that is no player, such as a bot's, or a player whom nobody could look up."""
        return {"player_id": player_id, "verdict": "neutral", "action": "pass", "would": "pass"}

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data=data, headers=self._headers, method=method)
        # urllib.error.HTTPError, for any answer of 4xx and 5xx, is an OSError too.
        with urllib.request.urlopen(request, timeout=self._timeout_s) as answer:
            return answer.status, json.load(answer)


def main(players):
    if not players:
        sys.exit("usage: trust_sidecar.py PLAYER...")
    url = os.environ.get("TRUST_SIDECAR_URL", "http://127.0.0.1:4747")
    sidecar = TrustSidecar(url, os.environ.get("TRUST_SIDECAR_TOKEN", ""))
    for trust in sidecar.players(players):
        print(trust["player_id"], trust["verdict"], trust["would"])
    reported = sidecar.report(players[-1], "report_toxicity", 0.5, f"match-1:{players[-1]}")
    print("reported" if reported else "not reported")


if __name__ == "__main__":
    main(sys.argv[1:])
