// The sidecar for a Paper plugin: one class, java.net.http and Gson, which the server brings along. Call it from
// AsyncPlayerPreLoginEvent, never from the main thread.
//
//   javac -cp gson.jar TrustSidecar.java
//   TRUST_SIDECAR_TOKEN=... java -cp gson.jar:. TrustSidecar PLAYER...
import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

public final class TrustSidecar {
    /** What the group knows of a player. Without an answer a player is neutral and passes. */
    public record Trust(String player, String verdict, boolean restricted, boolean wouldBeRestricted) {}

    private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
    private final String url;
    private final String token;

    public TrustSidecar(String url, String token) {
        this.url = url;
        this.token = token;
    }

    /** The players of a match, at most 128, in the order asked. */
    public List<Trust> players(List<String> ids) throws InterruptedException {
        String query = ids.stream().map(id -> "id=" + encoded(id)).collect(Collectors.joining("&"));
        List<Trust> found = new ArrayList<>();
        try {
            HttpResponse<String> answer = send(request("/v1/players?" + query).GET());
            if (answer.statusCode() == 200) {
                for (JsonElement one : JsonParser.parseString(answer.body()).getAsJsonObject().getAsJsonArray("data")) {
                    found.add(trustOf(one.getAsJsonObject()));
                }
                return found;
            }
            System.err.println("trust: the sidecar answered " + answer.statusCode());
        } catch (IOException error) {
            System.err.println("trust: the sidecar does not answer");
        }
        for (String id : ids) found.add(new Trust(id, "neutral", false, false));
        return found;
    }

    /** Reports a player; true once the report is on disk. The same name for the same report: sent twice it counts once. */
    public boolean report(String id, String type, double severity, String name) throws InterruptedException {
        JsonObject body = new JsonObject();
        body.addProperty("player_id", id);
        body.addProperty("event_type", type);
        body.addProperty("severity", severity);
        body.addProperty("event_id", name);
        try {
            var text = HttpRequest.BodyPublishers.ofString(new Gson().toJson(body));
            return send(request("/v1/reports").POST(text)).statusCode() == 202;
        } catch (IOException error) {
            return false;
        }
    }

    private static Trust trustOf(JsonObject one) {
        String player = one.get("player_id").getAsString();
        // An entry with a code is no player, such as a bot.
        if (one.has("code")) return new Trust(player, "neutral", false, false);
        boolean restricted = one.get("action").getAsString().equals("restrict");
        boolean would = one.get("would").getAsString().equals("restrict");
        return new Trust(player, one.get("verdict").getAsString(), restricted, would);
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(url + path))
                .timeout(Duration.ofSeconds(5))
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json");
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String encoded(String id) {
        return URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20");
    }

    public static void main(String[] players) throws InterruptedException {
        if (players.length == 0) {
            System.err.println("usage: TrustSidecar PLAYER...");
            System.exit(1);
        }
        String url = System.getenv().getOrDefault("TRUST_SIDECAR_URL", "http://127.0.0.1:4747");
        TrustSidecar sidecar = new TrustSidecar(url, System.getenv().getOrDefault("TRUST_SIDECAR_TOKEN", ""));
        for (Trust trust : sidecar.players(List.of(players))) {
            System.out.println(trust.player() + " " + trust.verdict() + " " + (trust.wouldBeRestricted() ? "restrict" : "pass"));
        }
        String last = players[players.length - 1];
        boolean reported = sidecar.report(last, "report_toxicity", 0.5, "match-1:" + last);
        System.out.println(reported ? "reported" : "not reported");
    }
}
