/**
 * A sketch of a SourceMod plugin that uses the sidecar through the extension "REST in Pawn". It is not compiled by the
 * tests of this repository, since Debian has no compiler for SourcePawn.
 */
#include <sourcemod>
#include <ripext>

#pragma newdecls required
#pragma semicolon 1

ConVar g_url;
ConVar g_token;

public Plugin myinfo = {
    name = "Peer trust", author = "", description = "Asks the sidecar about players who join", version = "1.0", url = ""
};

public void OnPluginStart()
{
    g_url = CreateConVar("trust_sidecar_url", "http://127.0.0.1:4747", "Address of the sidecar");
    g_token = CreateConVar("trust_sidecar_token", "", "Token of the sidecar", FCVAR_PROTECTED);
}

HTTPRequest Request(const char[] path)
{
    char url[256], token[257];
    g_url.GetString(url, sizeof(url));
    g_token.GetString(token, sizeof(token));
    StrCat(url, sizeof(url), path);
    HTTPRequest request = new HTTPRequest(url);
    request.SetHeader("Authorization", "Bearer %s", token);
    request.Timeout = 2;
    return request;
}

public void OnClientAuthorized(int client, const char[] auth)
{
    if (IsFakeClient(client)) return;
    char id[32], path[64];
    // The decimal form needs no escaping in a path.
    if (!GetClientAuthId(client, AuthId_SteamID64, id, sizeof(id))) return;
    Format(path, sizeof(path), "/v1/players/%s", id);
    Request(path).Get(OnTrust, GetClientUserId(client));
}

void OnTrust(HTTPResponse response, any userId)
{
    int client = GetClientOfUserId(userId);
    // Without an answer the player passes.
    if (client == 0 || response.Status != HTTPStatus_OK) return;
    JSONObject trust = view_as<JSONObject>(response.Data);
    char verdict[16], action[16];
    trust.GetString("verdict", verdict, sizeof(verdict));
    trust.GetString("action", action, sizeof(action));
    LogMessage("trust: %L is %s", client, verdict);
    // "restrict" only where the sidecar runs with --mode enforce.
    if (StrEqual(action, "restrict")) KickClient(client, "This server asks you to contact its team");
}

/**
 * Call this where a ban is made, with its minutes (0: permanent) and a name that is the same for the same ban. Never
 * call it for a ban that was made because of a verdict.
 */
void ReportBan(const char[] steamId64, int minutes, const char[] name)
{
    // 1 if permanent or 30 days and more, otherwise days / 30, at least 0.2.
    float severity = minutes / 43200.0;
    if (minutes == 0 || severity > 1.0) severity = 1.0;
    else if (severity < 0.2) severity = 0.2;
    JSONObject report = new JSONObject();
    report.SetString("player_id", steamId64);
    report.SetString("event_type", "ban_applied");
    report.SetFloat("severity", severity);
    report.SetString("event_id", name);
    Request("/v1/reports").Post(report, OnReported);
    delete report;
}

void OnReported(HTTPResponse response, any value)
{
    if (response.Status != HTTPStatus_Accepted) LogError("trust: the sidecar answered %d", response.Status);
}
