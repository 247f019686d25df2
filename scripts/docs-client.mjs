/**
 * `npm run docs:client`: makes `docs/client` of the docstrings of the two packages that game servers import. Every public symbol must be
 * documented, and every type that one shows must be public. With `--to FOLDER` it writes there; it reads what `npm run build` made.
 */
import './lib/require-node.mjs';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { root } from './lib/compile.mjs';

const entries = { client: 'dist/client/entry.d.ts', testing: 'dist/testing.d.ts' };

/** Types that are documented elsewhere: those of the contract by the OpenAPI document, those of the client by its own pages. */
const elsewhere = {
  client: ['ErrorBody', 'EventBody', 'RegisteredPeerBody', 'RegistrationBody', 'TrustScoreBody'],
  testing: ['TrustClient', 'TrustClientOptions'],
};

const { values } = parseArgs({ options: { to: { type: 'string', default: 'docs/client' } } });
const target = resolve(root, values.to);
const models = mkdtempSync(join(tmpdir(), 'ptf-docs-'));
try {
  const faults = Object.entries(entries).flatMap(([name, entry]) => extract(name, entry));
  if (faults.length > 0) {
    console.error(faults.join('\n'));
    process.exitCode = 1;
  } else {
    write();
  }
} finally {
  rmSync(models, { recursive: true, force: true });
}

/** Leaves the model of one package in `models`; gives what is wrong with its docstrings. */
function extract(name, entry) {
  const faults = [];
  const config = ExtractorConfig.prepare({
    configObjectFullPath: join(root, 'api-extractor.json'),
    packageJsonFullPath: join(root, 'package.json'),
    // The name under which a game server imports it is a path, which a package's name cannot be.
    packageJson: { ...JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')), name },
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: join(root, entry),
      compiler: { overrideTsconfig: tsconfig(entry) },
      // Made only because undocumented members are looked for while it is written.
      apiReport: { enabled: true, reportFileName: `${name}.api.md`, reportFolder: models, reportTempFolder: models },
      docModel: { enabled: true, apiJsonFilePath: join(models, `${name}.api.json`), projectFolderUrl: '' },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
      messages: {
        extractorMessageReporting: {
          default: { logLevel: 'error' },
          'ae-undocumented': { logLevel: 'error' },
        },
        tsdocMessageReporting: { default: { logLevel: 'error' } },
      },
    },
  });
  Extractor.invoke(config, {
    localBuild: true,
    messageCallback(message) {
      const isElsewhere = elsewhere[name].some((symbol) => message.text.startsWith(`The symbol "${symbol}" `));
      const isKnown = message.messageId === 'ae-forgotten-export' && isElsewhere;
      if (!isKnown && message.category !== 'console' && ['error', 'warning'].includes(message.logLevel)) {
        const place = message.sourceFilePath ? `${message.sourceFilePath}:${message.sourceFileLine}: ` : '';
        faults.push(`${place}${message.messageId}: ${message.text}`);
      }
      message.handled = true;
    },
  });
  return faults;
}

/** The extractor brings a compiler of its own, which reads the declarations that ours wrote. */
function tsconfig(entry) {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  const { rootDir, outDir, ...options } = compilerOptions;
  return { compilerOptions: { ...options, noEmit: true }, files: [join(root, entry)] };
}

function write() {
  const documenter = join(root, 'node_modules', '@microsoft', 'api-documenter', 'bin', 'api-documenter');
  rmSync(target, { recursive: true, force: true });
  const run = spawnSync(process.execPath, [documenter, 'markdown', '-i', models, '-o', target], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`the documenter failed:\n${run.stdout}${run.stderr}`);
  for (const name of readdirSync(target)) {
    const path = join(target, name);
    writeFileSync(path, `${readFileSync(path, 'utf8').trimEnd()}\n`);
  }
  console.error(`wrote ${readdirSync(target).length} pages to ${values.to}`);
}
