#!/usr/bin/env bash
# The first calls to a node with curl: register, report, read. BASE is the node's address. Each run makes a peer and a player of its own.
set -euo pipefail
BASE=${BASE:-http://127.0.0.1:8080}

if ! curl -s -o /dev/null --max-time 5 "$BASE/api/v1/health"; then
  echo "No node answers at $BASE. Start one with 'npm start' in another terminal, or set BASE to its address." >&2
  exit 3
fi

echo '# Register a peer. The answer contains its key, which is shown only once: the node stores only a hash of it.'
PEER=$(curl -sS --fail-with-body "$BASE/api/v1/peers/register" -H 'Content-Type: application/json' \
  -d '{"peer_name": "Arena EU 1", "game_ids": ["arena"]}') || { echo "$PEER" >&2; exit 1; }
PEER_ID=$(sed -E 's/.*"peer_id":"([^"]+)".*/\1/' <<< "$PEER")
API_KEY=$(sed -E 's/.*"api_key":"([^"]+)".*/\1/' <<< "$PEER")
# A player of this run alone: reports of several runs about one player would add up like those of several peers.
PLAYER="player-${PEER_ID:0:8}"
echo "peer_id: $PEER_ID"
echo "player:  $PLAYER"

EVENT='{
  "schema_version": "1.0.0",
  "event_id": "quick-start-'"$PEER_ID"'",
  "event_type": "report_cheating",
  "peer_id": "'"$PEER_ID"'",
  "player_id": "'"$PLAYER"'",
  "game_id": "arena",
  "severity": 0.8,
  "timestamp": "'"$(date -u +%Y-%m-%dT%H:%M:%SZ)"'"
}'

echo '# Submit an event. 201 means that it is durable on disk.'
curl -sS --fail-with-body "$BASE/api/v1/events" -H "X-Peer-API-Key: $API_KEY" -H 'Content-Type: application/json' -d "$EVENT"; echo

echo '# The same event_id again is 409, which means that the event is already stored.'
curl -sS -o /dev/null -w '%{http_code}\n' "$BASE/api/v1/events" -H "X-Peer-API-Key: $API_KEY" \
  -H 'Content-Type: application/json' -d "$EVENT"

echo '# The event of a new peer counts once weights are computed that include it, within a few seconds.'
number() { curl -sS --fail-with-body "$BASE/api/v1/health" | sed -E "s/.*\"$1\":([0-9]+).*/\1/"; }
LAST_SEQ=$(number last_seq)
for _ in {1..100}; do
  if [ "$(number based_on_seq)" -ge "$LAST_SEQ" ]; then break; fi
  sleep 0.1
done

echo '# Read one player, with the parts of the score. One report of one peer leaves the verdict neutral.'
curl -sS --fail-with-body "$BASE/api/v1/players/$PLAYER/trust-score?explain=true"; echo

echo '# Read a whole match in one call, up to 128 players.'
curl -sS --fail-with-body "$BASE/api/v1/trust-scores?ids=$PLAYER,somebody-else"; echo
