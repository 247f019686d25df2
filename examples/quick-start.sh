#!/usr/bin/env bash
# The first calls to a fresh node with curl: register, report, read. BASE is the node's address.
set -euo pipefail
BASE=${BASE:-http://127.0.0.1:8080}

echo '# Register a peer. The answer holds its key, which the node keeps only as a hash: it is told this once.'
PEER=$(curl -sS --fail-with-body "$BASE/api/v1/peers/register" -H 'Content-Type: application/json' \
  -d '{"peer_name": "Arena EU 1", "game_ids": ["arena"]}') || { echo "$PEER" >&2; exit 1; }
PEER_ID=$(sed -E 's/.*"peer_id":"([^"]+)".*/\1/' <<< "$PEER")
API_KEY=$(sed -E 's/.*"api_key":"([^"]+)".*/\1/' <<< "$PEER")
echo "peer_id: $PEER_ID"

EVENT='{
  "schema_version": "1.0.0",
  "event_id": "quick-start-'"$PEER_ID"'",
  "event_type": "report_cheating",
  "peer_id": "'"$PEER_ID"'",
  "player_id": "player-42",
  "game_id": "arena",
  "severity": 0.8,
  "timestamp": "'"$(date -u +%Y-%m-%dT%H:%M:%SZ)"'"
}'

echo '# Say that something happened. 201 means: durable on disk.'
curl -sS --fail-with-body "$BASE/api/v1/events" -H "X-Peer-API-Key: $API_KEY" -H 'Content-Type: application/json' -d "$EVENT"; echo

echo '# The same event_id again is 409, which means: stored already.'
curl -sS -o /dev/null -w '%{http_code}\n' "$BASE/api/v1/events" -H "X-Peer-API-Key: $API_KEY" \
  -H 'Content-Type: application/json' -d "$EVENT"

echo '# Read one player, with what the score is made of.'
curl -sS --fail-with-body "$BASE/api/v1/players/player-42/trust-score?explain=true"; echo

echo '# Read a whole match in one call, up to 128 players.'
curl -sS --fail-with-body "$BASE/api/v1/trust-scores?ids=player-42,player-43"; echo
