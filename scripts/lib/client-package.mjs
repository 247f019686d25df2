/**
 * Makes the folder of the package `peer-trust-client`: the client of this repository for CommonJS and ES modules, its
 * types in one file, and the command `ptf-peer`, without anything of the server.
 *
 * One copy of the client serves both module systems (`index.js` re-exports the CommonJS build), so that an error of one
 * is an instance of the other's class. The command is a program of its own and runs the ES modules as they were built.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { closureOf } from './closure.mjs';
import { root } from './compile.mjs';

const sources = join(root, 'scripts/client-package');
const command = 'bin/ptf-peer.mjs';

/**
 * Writes the package into `folder`, which is emptied first. `dist/` must be fresh. Throws where the compiler or the
 * extractor of types finds a fault.
 */
export async function makeClientPackage(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'ptf-client-package-'));
  try {
    const packages = new Set([...(await writeLibrary(folder, work)), ...writeCommand(folder)]);
    writeTypes(folder, work);
    writeManifest(folder, [...packages].sort());
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  cpSync(join(sources, 'README.md'), join(folder, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
}

/** Copies the files with their folders below `from` to the same places below `to`. */
function copyTree(files, from, to) {
  for (const file of files) {
    const target = join(to, relative(from, file));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(file, target);
  }
}

/** The CommonJS build and the two entries. Returns the packages that it asks for. */
async function writeLibrary(folder, work) {
  const compiled = join(work, 'cjs');
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [compiler, '-p', 'tsconfig.client.json', '--outDir', compiled];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('the client was not compiled: the compiler found the faults above');
  const { files, packages } = closureOf([join(compiled, 'client/entry.js')]);
  copyTree(files, compiled, join(folder, 'cjs'));
  writeFileSync(join(folder, 'cjs/package.json'), '{ "type": "commonjs" }\n');
  const names = Object.keys(await import(pathToFileURL(join(root, 'dist/client/entry.js')).href)).sort();
  writeFileSync(
    join(folder, 'index.js'),
    `// The client for ES modules: the same objects that CommonJS gets.\nimport client from './cjs/client/entry.js';\n\nexport const {\n${names.map((name) => `  ${name},\n`).join('')}} = client;\n`,
  );
  writeFileSync(
    join(folder, 'index.cjs'),
    "// The client for CommonJS.\nmodule.exports = require('./cjs/client/entry.js');\n",
  );
  return packages;
}

/** The command with the modules that it reaches, where this build has it. Returns the packages that it asks for. */
function writeCommand(folder) {
  const program = join(root, command);
  if (!existsSync(program)) return [];
  const entries = [...readFileSync(program, 'utf8').matchAll(/['"]\.\.\/(dist\/[^'"]+)['"]/g)].map(([, path]) => path);
  const { files, packages } = closureOf(entries.map((path) => join(root, path)));
  copyTree([program, ...files], root, folder);
  chmodSync(join(folder, command), 0o755);
  return packages;
}

/** All public types in one file, those of the contract that they name among them. Both module systems share it. */
function writeTypes(folder, work) {
  const entry = join(root, 'dist/client/entry.d.ts');
  const { rootDir, outDir, ...compilerOptions } = JSON.parse(
    readFileSync(join(root, 'tsconfig.json'), 'utf8'),
  ).compilerOptions;
  const target = join(work, 'index.d.ts');
  const faults = [];
  const config = ExtractorConfig.prepare({
    configObjectFullPath: join(root, 'api-extractor.json'),
    packageJsonFullPath: join(root, 'package.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: entry,
      compiler: { overrideTsconfig: { compilerOptions: { ...compilerOptions, noEmit: true }, files: [entry] } },
      apiReport: { enabled: false, reportFileName: 'client.api.md', reportFolder: work, reportTempFolder: work },
      docModel: { enabled: false },
      dtsRollup: { enabled: true, untrimmedFilePath: '', publicTrimmedFilePath: target },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
      messages: {
        extractorMessageReporting: { default: { logLevel: 'error' }, 'ae-forgotten-export': { logLevel: 'none' } },
        tsdocMessageReporting: { default: { logLevel: 'error' } },
      },
    },
  });
  Extractor.invoke(config, {
    localBuild: true,
    messageCallback(message) {
      if (message.category !== 'console' && ['error', 'warning'].includes(message.logLevel)) faults.push(message.text);
      message.handled = true;
    },
  });
  if (faults.length > 0) throw new Error(`the types of the client were not written:\n${faults.join('\n')}`);
  cpSync(target, join(folder, 'index.d.cts'));
  writeFileSync(join(folder, 'index.d.ts'), "export * from './index.cjs';\n");
}

/** The template, with the versions of this repository. */
function writeManifest(folder, packages) {
  const { name, ...template } = JSON.parse(readFileSync(join(sources, 'package.template.json'), 'utf8'));
  const { version, engines, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const versions = packages.map((one) => {
    if (dependencies[one] === undefined) throw new Error(`${one} is no dependency of this repository`);
    return [one, dependencies[one]];
  });
  const bin = existsSync(join(folder, command)) ? { bin: { 'ptf-peer': command } } : {};
  const manifest = { name, version, ...template, engines, ...bin, dependencies: Object.fromEntries(versions) };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}
