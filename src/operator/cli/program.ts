/**
 * Builds the command line of `ptf`: the arguments and help of each command, and the request that it sends to the node.
 */
import { statSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { PeerStatus } from '../../core/vocabulary.js';
import { limits } from '../../limits.js';
import { violationTexts } from '../../validation/validator.js';
import { verifyChain } from '../protocol/audit-chain.js';
import { checkRequest } from '../protocol/protocol.js';
import { verifyValue } from '../protocol/values.js';
import { addAllow } from './allow.js';
import { parseCount, parseHash, parseIdle, parseNames, parseOverlap, parsePublicKey } from './arguments.js';
import { addBackup, addRestore } from './backups.js';
import {
  type CommandContext,
  type CommandDeps,
  examples,
  type Progress,
  rowsOf,
  type Signed,
  showing,
  signature,
  signed,
} from './command-context.js';
import { addCluster } from './commands/cluster-command.js';
import { addDashboard } from './commands/dashboard-command.js';
import { addCompletion } from './completion.js';
import { addDoctor } from './doctor.js';
import { addExport, auditPages } from './export.js';
import { callNode, NoNodeError, OperatorError } from './node-client.js';
import { addDisputes } from './people/disputes.js';
import { addOrigins } from './people/origins.js';
import { addSubject } from './people/subject.js';
import * as show from './renderers.js';
import { addSimulate } from './simulate.js';
import { printable } from './table.js';

const helpWidthMax = 100;
const exampleId = '0c4b2d0e-6f0a-4e0b-9c43-5f1a2b3c4d5e';
const examplePublicKey = 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs';
const otherExampleId = '7d9e1f3a-2b4c-4d6e-8f01-23456789abcd';

/** Builds the whole command line. With `json`, help that was not requested is not printed. */
export function programOf(deps: CommandDeps, json: boolean, done: (rendered: show.Rendered) => void): Command {
  const { terminal } = deps;
  const program = new Command('ptf')
    .description('Operates a running node of the peer trust federation, found by its data folder.')
    .version(deps.runtime.version, '--version', 'print the version')
    .option('--json', 'print one JSON document')
    .option('--data-dir <folder>', 'data folder of the node (default: DATA_DIR, also from .env, else ./snapshots)')
    .addHelpText('after', examples('status', 'peers list --json', 'verify --data-dir /var/lib/ptf'))
    .addHelpText('after', '\nExit codes: 0 done, 1 refused, 2 wrong usage, 3 no node')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: terminal.out,
      writeErr: json ? () => {} : terminal.err,
      // Errors are printed once, in the form of every other error.
      outputError: () => {},
      getOutHelpWidth: () => Math.min(terminal.width, helpWidthMax),
      getErrHelpWidth: () => Math.min(terminal.width, helpWidthMax),
    })
    .exitOverride();
  const dir = (): string => program.opts<{ dataDir?: string }>().dataDir ?? deps.defaultDir();
  const session: CommandContext = {
    terminal,
    dir,
    async ask(command, request, progress) {
      const checked = checkRequest(command, request);
      if (!checked.ok) throw new OperatorError('wrong_usage', violationTexts(checked).join('; '), 2, checked.details);
      return callNode(dir(), command, request, progress);
    },
    runtime: deps.runtime,
    configuration: deps.configuration,
    verifyFolder: deps.verifyFolder,
    startProblems: deps.startProblems,
    keepSecret: deps.keepSecret,
    backups: deps.backups,
    adoptFolder: deps.adoptFolder,
    moveData: deps.moveData,
    done,
  };
  addStatus(program, session);
  addPeers(program, session);
  addPreTrust(program, session);
  addOrigins(program, session);
  addDisputes(program, session);
  addSubject(program, session);
  addAllow(program, session);
  addErase(program, session);
  addAudit(program, session);
  addExport(program, session);
  addSimulate(program, session);
  addDoctor(program, session);
  addVerify(program, session);
  addDashboard(program, session);
  addBackup(program, session);
  addRestore(program, session);
  addCluster(program, session);
  addCompletion(program, session);
  return program;
}

function addStatus(program: Command, { ask, done }: CommandContext): void {
  program
    .command('status')
    .description('show what the node serves and its state')
    .addHelpText('after', examples('status', 'status --json --data-dir /var/lib/ptf'))
    .action(async () => done(show.showStatus(await ask('status', {}))));
}

function addPeers(program: Command, session: CommandContext): void {
  const peers = program.command('peers').description('list, add and change the peers of the group');
  peers.addHelpText('after', examples('peers list', `peers suspend ${exampleId}`));
  peers
    .command('list')
    .description('list all peers, oldest first')
    .addHelpText('after', examples('peers list', 'peers list --json'))
    .action(async () => {
      const page = (from: number) => session.ask('peers-list', { from, limit: limits.pageMax });
      session.done(show.showPeers(await rowsOf(page)));
    });
  addPeersAdd(peers, session);
  const setStatus = async (peerId: string, status: PeerStatus, { by }: Signed): Promise<void> => {
    session.done(show.showPeer(await session.ask('peers-status', { peer_id: peerId, status, ...signature(by) })));
  };
  signed(peers.command('suspend <id>'))
    .description('refuse all submissions of the peer until it is reinstated')
    .addHelpText('after', examples(`peers suspend ${exampleId} --by alice`))
    .action((id: string, options: Signed) => setStatus(id, 'suspended', options));
  signed(peers.command('reinstate <id>'))
    .description('make a suspended peer active again')
    .addHelpText('after', examples(`peers reinstate ${exampleId}`))
    .action((id: string, options: Signed) => setStatus(id, 'active', options));
  signed(peers.command('revoke <id>'))
    .description('end a peer for good: it can never act again, and its evidence has no weight')
    .option('--yes', 'do not ask for confirmation, as it does at a terminal')
    .addHelpText('after', examples(`peers revoke ${exampleId} --yes`))
    .action(async (id: string, options: Signed & { readonly yes?: true }) => {
      const { confirm } = session.terminal;
      const question = `Revoke ${printable(id)}? This is final, and removes all weight from its evidence.`;
      if (options.yes !== true && confirm !== null && !(await confirm(question))) {
        throw new OperatorError('not_confirmed', 'not confirmed; nothing was changed');
      }
      await setStatus(id, 'revoked', options);
    });
  addPeersRotateKey(peers, session);
  addPeersSetKey(peers, session);
  addPeersRelate(peers, session);
  addPeersPurge(peers, session);
}

function addPeersPurge(peers: Command, { ask, done, terminal }: CommandContext): void {
  interface Options extends Signed {
    readonly idle: number;
    readonly yes?: true;
  }
  signed(peers.command('purge'))
    .description('revoke the peers that never sent an event, to free their places')
    .requiredOption('--idle <time>', 'only those that registered longer ago than this: 30m, 12h, 1d', parseIdle)
    .option('--yes', 'do not ask for confirmation, as it does at a terminal')
    .addHelpText('after', examples('peers purge --idle 1d', 'peers purge --idle 12h --yes --by alice'))
    .action(async ({ idle, yes, by }: Options) => {
      const question = 'Revoke every peer that never sent an event and registered longer ago? This is final.';
      if (yes !== true && terminal.confirm !== null && !(await terminal.confirm(question))) {
        throw new OperatorError('not_confirmed', 'not confirmed; nothing was changed');
      }
      done(show.showPurged(await ask('peers-purge', { idle_ms: idle, ...signature(by) })));
    });
}

function addPeersRelate(peers: Command, { ask, done }: CommandContext): void {
  const meanings = {
    same: 'declare that one operator runs two peers, so that they count as one witness',
    independent: 'declare that two peers are independent, so that they never count as one witness',
  } as const;
  for (const relation of ['same', 'independent'] as const) {
    signed(peers.command(`${relation} <id> <other-id>`))
      .description(meanings[relation])
      .addHelpText('after', examples(`peers ${relation} ${exampleId} ${otherExampleId} --by alice`))
      .action(async (id: string, otherId: string, { by }: Signed) => {
        const request = { relation, peer_id: id, other_id: otherId, ...signature(by) };
        done(show.showRelation(await ask('peers-relate', request)));
      });
  }
}

function addPeersAdd(peers: Command, { ask, done }: CommandContext): void {
  interface Options extends Signed {
    readonly name: string;
    readonly games: readonly string[];
    readonly email?: string;
    readonly publicKey?: string;
  }
  signed(peers.command('add'))
    .description('register a peer and show its API key, once')
    .requiredOption('--name <name>', 'display name of the peer')
    .requiredOption('--games <ids>', 'games it may submit events for, with commas between', parseNames)
    .option('--email <address>', 'address of its operator; never public')
    .option('--public-key <key>', 'Ed25519 key with which it signs its writes, 32 bytes in base64url', parsePublicKey)
    .addHelpText('after', examples('peers add --name "Arena EU 1" --games chess,go --email ops@example.com'))
    .action(async ({ name, games, email, publicKey, by }: Options) => {
      const contact = email === undefined ? {} : { contact_email: email };
      const key = publicKey === undefined ? {} : { public_key: publicKey };
      const request = { peer_name: name, game_ids: games, ...contact, ...key, ...signature(by) };
      done(show.showAddedPeer(await ask('peers-add', request)));
    });
}

function addPeersRotateKey(peers: Command, { ask, done }: CommandContext): void {
  const overlap = new Option('--overlap <time>', 'how long the old key still works: 30s, 15m, 1h; at most 24h');
  signed(peers.command('rotate-key <id>'))
    .description('give a peer a new API key, shown once')
    .addOption(overlap.argParser(parseOverlap).default(0, 'the old key stops working at once'))
    .addHelpText('after', examples(`peers rotate-key ${exampleId}`, `peers rotate-key ${exampleId} --overlap 1h`))
    .action(async (id: string, options: Signed & { readonly overlap: number }) => {
      const request = { peer_id: id, overlap_ms: options.overlap, ...signature(options.by) };
      done(show.showRotatedKey(await ask('peers-rotate-key', request)));
    });
}

function addPeersSetKey(peers: Command, { ask, done }: CommandContext): void {
  interface Options extends Signed {
    readonly none?: true;
  }
  signed(peers.command('set-key <id> [public-key]'))
    .description('set the Ed25519 public key with which a peer signs its writes, or remove it with --none')
    .option('--none', 'remove the key: the peer no longer signs')
    .addHelpText(
      'after',
      examples(`peers set-key ${exampleId} ${examplePublicKey}`, `peers set-key ${exampleId} --none`),
    )
    .action(async (id: string, text: string | undefined, { none, by }: Options) => {
      if ((text === undefined) === (none === undefined)) {
        throw new OperatorError('wrong_usage', 'give a public key, or --none', 2);
      }
      const key = text === undefined ? null : parsePublicKey(text);
      done(show.showPublicKey(await ask('peers-set-key', { peer_id: id, public_key: key, ...signature(by) })));
    });
}

function addPreTrust(program: Command, { ask, done }: CommandContext): void {
  const pretrust = program
    .command('pretrust')
    .description("manage the group's set of pre-trusted peers, 1 to 3 as a rule")
    .addHelpText('after', examples('pretrust list', `pretrust add ${exampleId} --by alice`));
  pretrust
    .command('list')
    .description('list the pre-trusted peers')
    .addHelpText('after', examples('pretrust list'))
    .action(async () => done(show.showPreTrust(await ask('pretrust-list', {}))));
  for (const change of ['add', 'remove'] as const) {
    signed(pretrust.command(`${change} <id>`))
      .description(
        change === 'add'
          ? 'add a peer to the set: its weight never falls below a minimum'
          : 'remove a peer from the set',
      )
      .addHelpText('after', examples(`pretrust ${change} ${exampleId} --by alice`))
      .action(async (id: string, { by }: Signed) => {
        done(show.showPreTrust(await ask('pretrust-change', { change, peer_id: id, ...signature(by) })));
      });
  }
}

function addErase(program: Command, { ask, done }: CommandContext): void {
  signed(program.command('erase'))
    .argument('[hash]', 'subject hash, 64 hexadecimal characters', parseHash)
    .option('--pending', 'list the players whose erasure waits for the operator')
    .description('erase everything that is stored about a player; also confirms the requests of peers')
    .addHelpText('after', examples('erase --pending', `erase ${'5f'.repeat(32)}`))
    .action(async (hash: string | undefined, { by, pending }: Signed & { readonly pending?: true }) => {
      if ((hash === undefined) === (pending === undefined)) {
        throw new OperatorError('wrong_usage', 'give a subject hash, or --pending', 2);
      }
      if (hash === undefined) done(show.showPendingErasures(await ask('erase-pending', {})));
      else done(show.showErasure(await ask('erase', { subject_hash: hash, ...signature(by) })));
    });
}

function addAudit(program: Command, session: CommandContext): void {
  const { ask, done } = session;
  const audit = program
    .command('audit')
    .description('read and check the audit log')
    .addHelpText('after', examples('audit tail', 'audit verify'));
  audit
    .command('tail')
    .description('show the newest entries, the oldest of them first')
    .option('--count <number>', `how many, 1 to ${limits.pageMax}`, parseCount, 20)
    .addHelpText('after', examples('audit tail', 'audit tail --count 100 --json'))
    .action(async ({ count }: { readonly count: number }) => {
      done(show.showAudit((await ask('audit-tail', { count })).data));
    });
  audit
    .command('verify')
    .description('fetch every entry and recompute the chain of hashes')
    .addHelpText('after', examples('audit verify', 'audit verify --json'))
    .action(async () => done(show.showChain(await verifyChain(auditPages(session)))));
}

function addVerify(program: Command, session: CommandContext): void {
  const { ask, done, dir, verifyFolder } = session;
  const verify = async (progress: Progress): Promise<show.Rendered> => {
    try {
      return show.showVerification(await ask('verify', {}, progress), 'node');
    } catch (error) {
      const isThere = statSync(dir(), { throwIfNoEntry: false })?.isDirectory() === true;
      if (!(error instanceof NoNodeError) || !isThere) throw error;
      const report = await verifyFolder(dir(), 'full', progress);
      // A store without the first record of a node is not reported as intact, since that would hide a wrong folder.
      if (report.ok && report.lastSeq === 0) throw new OperatorError('no_store', `${dir()} holds no store`);
      return show.showVerification(verifyValue(report), 'folder');
    }
  };
  program
    .command('verify')
    .description('check the whole store: log, chain, snapshots, audit; without a node, the folder itself')
    .addHelpText('after', examples('verify', 'verify --data-dir /backup/ptf'))
    .action(async () => done(await showing(session, 'verifying', verify)));
  program
    .command('adopt')
    .description('detach a copied data folder from the node that runs on the original')
    .addHelpText(
      'after',
      `\nA node on the copy is independent: two nodes of one group do not exchange events.\n${examples('adopt --data-dir /data/copy')}`,
    )
    .action(async () => {
      const outcome = await session.adoptFolder(dir());
      const text =
        outcome === 'adopted'
          ? `${dir()} is now a folder of its own; a node can be started on it.`
          : `${dir()} has no running owner; nothing was changed, and a node can be started on it.`;
      done({ value: { outcome }, lines: () => [text] });
    });
}
