/**
 * The files that compiled entries reach by relative imports, and the packages that these files ask for. Reads what the
 * compiler wrote, so types are already gone.
 */
import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';

const builtin = new Set(builtinModules);
const comments = /\/\*[\s\S]*?\*\/|^\s*\/\/[^\n]*$/gm;
/** `import … from 'x'`, `export … from 'x'`, `import 'x'`, `import('x')` and `require('x')`. */
const imported = /(?:\bfrom\s*|\bimport\s*|\bimport\s*\(\s*|\brequire\s*\(\s*)(['"])((?:\.{1,2}\/|[@\w])[^'"\n]*)\1/g;
/** Entries of threads and processes, and data: `new URL('./x.js', import.meta.url)`. */
const located = /\bnew URL\(\s*(['"])(\.{1,2}\/[^'"\n]*\.js(?:on)?)\1/g;

function specifiersIn(text) {
  const code = text.replace(comments, '');
  return [imported, located].flatMap((form) => Array.from(code.matchAll(form), ([, , name]) => name));
}

/** @returns the package of `@scope/name/path` or `name/path`. */
function packageOf(name) {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

/**
 * @param entries absolute paths of JavaScript files.
 * @param missingAllowed whether an import of a file that is not there, as in a text that looks like one, is left out.
 * @returns the absolute paths of all files reached, the entries among them, and the names of packages asked for.
 */
export function closureOf(entries, { missingAllowed = false } = {}) {
  const files = new Set();
  const packages = new Set();
  const waiting = [...entries];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const name of specifiersIn(readFileSync(file, 'utf8'))) {
      if (name.startsWith('.')) {
        const target = join(dirname(file), name);
        if (!existsSync(target) && missingAllowed) continue;
        if (!existsSync(target)) throw new Error(`${file} asks for ${name}, which is not there`);
        waiting.push(target);
      } else if (!name.startsWith('node:') && !builtin.has(name)) packages.add(packageOf(name));
    }
  }
  return { files: [...files].sort(), packages: [...packages].sort() };
}
