// The sidecar for Unity and CounterStrikeSharp: one class without a package. Make one for the process, and await it off
// the main thread.
//
//   mcs -r:System.Net.Http -r:System.Runtime.Serialization TrustSidecar.cs
//   TRUST_SIDECAR_TOKEN=... mono TrustSidecar.exe PLAYER...
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Threading.Tasks;

/// <summary>What the group knows of a player.</summary>
[DataContract]
public sealed class PlayerTrust
{
    [DataMember(Name = "player_id")] public string PlayerId { get; set; }
    [DataMember(Name = "verdict")] public string Verdict { get; set; }
    [DataMember(Name = "score")] public double Score { get; set; }
    [DataMember(Name = "confidence")] public double Confidence { get; set; }
    /// <summary>"pass", or "restrict" in enforce mode.</summary>
    [DataMember(Name = "action")] public string Action { get; set; }
    /// <summary>What enforce mode would do.</summary>
    [DataMember(Name = "would")] public string Would { get; set; }
    /// <summary>Set where the id is no player, such as a bot.</summary>
    [DataMember(Name = "code")] public string Code { get; set; }

    public static PlayerTrust Unknown(string id)
    {
        return new PlayerTrust { PlayerId = id, Verdict = "neutral", Score = 50, Action = "pass", Would = "pass" };
    }
}

[DataContract]
public sealed class MatchTrust
{
    [DataMember(Name = "data")] public List<PlayerTrust> Data { get; set; }
}

[DataContract]
public sealed class PlayerReport
{
    [DataMember(Name = "player_id")] public string PlayerId { get; set; }
    [DataMember(Name = "event_type")] public string EventType { get; set; }
    [DataMember(Name = "severity")] public double Severity { get; set; }
    /// <summary>The same name for the same report: sent twice it counts once.</summary>
    [DataMember(Name = "event_id")] public string EventId { get; set; }
}

public sealed class TrustSidecar
{
    private readonly HttpClient http;

    public TrustSidecar(string url, string token)
    {
        http = new HttpClient { BaseAddress = new Uri(url), Timeout = TimeSpan.FromSeconds(5) };
        http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", token);
    }

    /// <summary>The players of a match, at most 128, in the order asked. Without an answer they are neutral.</summary>
    public async Task<List<PlayerTrust>> PlayersAsync(IReadOnlyList<string> ids)
    {
        try
        {
            string query = string.Join("&", ids.Select(id => "id=" + Uri.EscapeDataString(id)));
            HttpResponseMessage answer = await http.GetAsync("/v1/players?" + query);
            if (answer.IsSuccessStatusCode)
            {
                using (Stream body = await answer.Content.ReadAsStreamAsync())
                {
                    var match = (MatchTrust)new DataContractJsonSerializer(typeof(MatchTrust)).ReadObject(body);
                    return match.Data.Select(one => one.Code == null ? one : PlayerTrust.Unknown(one.PlayerId)).ToList();
                }
            }
            Console.Error.WriteLine("trust: the sidecar answered " + (int)answer.StatusCode);
        }
        catch (HttpRequestException) { Console.Error.WriteLine("trust: the sidecar does not answer"); }
        catch (TaskCanceledException) { Console.Error.WriteLine("trust: the sidecar does not answer in time"); }
        return ids.Select(PlayerTrust.Unknown).ToList();
    }

    /// <summary>True once the report is on disk.</summary>
    public async Task<bool> ReportAsync(PlayerReport report)
    {
        try
        {
            var body = new MemoryStream();
            new DataContractJsonSerializer(typeof(PlayerReport)).WriteObject(body, report);
            var content = new StringContent(Encoding.UTF8.GetString(body.ToArray()), Encoding.UTF8, "application/json");
            return (int)(await http.PostAsync("/v1/reports", content)).StatusCode == 202;
        }
        catch (HttpRequestException) { return false; }
        catch (TaskCanceledException) { return false; }
    }

    public static int Main(string[] players)
    {
        CultureInfo.DefaultThreadCurrentCulture = CultureInfo.InvariantCulture;
        if (players.Length == 0)
        {
            Console.Error.WriteLine("usage: TrustSidecar PLAYER...");
            return 1;
        }
        string url = Environment.GetEnvironmentVariable("TRUST_SIDECAR_URL") ?? "http://127.0.0.1:4747";
        var sidecar = new TrustSidecar(url, Environment.GetEnvironmentVariable("TRUST_SIDECAR_TOKEN") ?? "");
        foreach (PlayerTrust trust in sidecar.PlayersAsync(players).Result)
        {
            Console.WriteLine(trust.PlayerId + " " + trust.Verdict + " " + trust.Would);
        }
        string last = players.Last();
        var report = new PlayerReport { PlayerId = last, EventType = "report_toxicity", Severity = 0.5, EventId = "match-1:" + last };
        Console.WriteLine(sidecar.ReportAsync(report).Result ? "reported" : "not reported");
        return 0;
    }
}
