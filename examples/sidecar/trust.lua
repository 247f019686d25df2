-- A FiveM resource that asks the sidecar about each player who connects and reports players by a command.
--
-- server.cfg:   set trust_sidecar_url "http://127.0.0.1:4747"
--               set trust_sidecar_token "TOKEN"        (in ~/.local/state/ptf-peer/sidecar/token)
-- fxmanifest:   server_script 'trust.lua'
--
-- Start the sidecar in shadow mode: "action" is then always "pass", and "would" says what enforce mode would do.

local url = GetConvar('trust_sidecar_url', 'http://127.0.0.1:4747')
local headers = {
  ['Authorization'] = 'Bearer ' .. GetConvar('trust_sidecar_token', ''),
  ['Content-Type'] = 'application/json',
}

-- The id that all games know, else FiveM's own. The sidecar hashes it; it never leaves this machine.
local function playerId(source)
  return GetPlayerIdentifierByType(source, 'steam') or GetPlayerIdentifierByType(source, 'license')
end

local function encoded(text)
  return (text:gsub('[^%w%-_%.~]', function(c) return ('%%%02X'):format(c:byte()) end))
end

-- Calls back with the player's trust; nil where the sidecar does not answer, and then the player passes.
local function trustOf(id, done)
  PerformHttpRequest(url .. '/v1/players/' .. encoded(id), function(status, body)
    if status ~= 200 then
      print(('trust: the sidecar answered %s'):format(status))
      return done(nil)
    end
    done(json.decode(body))
  end, 'GET', '', headers)
end

-- The same name for the same report: sent twice it counts once.
local function report(id, kind, severity, name)
  local body = json.encode({ player_id = id, event_type = kind, severity = severity, event_id = name })
  PerformHttpRequest(url .. '/v1/reports', function(status)
    print(status == 202 and 'trust: reported' or ('trust: not reported, status %s'):format(status))
  end, 'POST', body, headers)
end

AddEventHandler('playerConnecting', function(name, setKickReason, deferrals)
  local id = playerId(source)
  deferrals.defer()
  if id == nil then return deferrals.done() end
  trustOf(id, function(trust)
    if trust ~= nil then print(('trust: %s, would %s'):format(trust.verdict, trust.would)) end
    -- "restrict" only in enforce mode. A restricted player could also join a supervised session.
    if trust ~= nil and trust.action == 'restrict' then
      return deferrals.done('This server asks you to contact its team.')
    end
    deferrals.done()
  end)
end)

-- report_cheating <player> <match>
RegisterCommand('report_cheating', function(_, arguments)
  local target, match = arguments[1], arguments[2] or os.date('!%Y-%m-%d')
  local id = playerId(target)
  if id ~= nil then report(id, 'report_cheating', 0.7, ('%s:%s:cheating'):format(match, target)) end
end, true)
