-- What FiveM gives a server script, for a test: HTTP by LuaSocket, JSON by cjson, convars from the environment. Runs the
-- script that is named first, lets each further player connect, and reports the last one by the script's own command.
local http, ltn12, cjson = require('socket.http'), require('ltn12'), require('cjson')

json = { encode = cjson.encode, decode = cjson.decode }

local convars = {
  trust_sidecar_url = os.getenv('TRUST_SIDECAR_URL'),
  trust_sidecar_token = os.getenv('TRUST_SIDECAR_TOKEN'),
}
local handlers, commands, players = {}, {}, {}

function GetConvar(name, default) return convars[name] or default end
function AddEventHandler(name, handler) handlers[name] = handler end
function RegisterCommand(name, handler) commands[name] = handler end
function GetPlayerIdentifierByType(source, kind) return kind == 'steam' and players[tonumber(source)] or nil end

function PerformHttpRequest(url, done, method, data, headers)
  local chunks, all = {}, { ['content-length'] = #data }
  for name, value in pairs(headers) do all[name] = value end
  local _, status = http.request({
    url = url, method = method, headers = all, source = ltn12.source.string(data), sink = ltn12.sink.table(chunks),
  })
  done(type(status) == 'number' and status or 0, table.concat(chunks), {})
end

for index = 2, #arg do players[index - 1] = arg[index] end
dofile(arg[1])
for index, id in ipairs(players) do
  source = index
  io.write(id, ': ')
  handlers.playerConnecting('name', function() end, {
    defer = function() end,
    done = function(reason) print(reason == nil and 'joined' or 'kept out') end,
  })
end
commands.report_cheating(0, { tostring(#players), 'match-1' })
