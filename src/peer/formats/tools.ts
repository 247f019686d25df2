/** The known tools of `tools.json`, the strictest first. `like` takes over a row; a `table` is CSV, SQL or JSON. */
import { readFileSync } from 'node:fs';
import type { Description, Shape } from './description.js';
import { words } from './names.js';

type Row = Omit<Description, 'shape' | 'recognise' | 'columns' | 'needs' | 'known'> & {
  readonly shape: Shape | 'table';
  readonly recognise: Omit<Description['recognise'], 'cells' | 'without'> & { cells?: string; without?: string };
} & { readonly [Words in 'like' | 'note' | 'columns' | 'needs' | 'known']?: string };

const rows = JSON.parse(readFileSync(new URL('./tools.json', import.meta.url), 'utf8')) as Row[];

function described(row: Row): Description[] {
  const original = rows.find(({ name }) => name === row.like);
  const { like: _, note: __, shape, recognise, columns, needs, known, ...rest } = { ...original, ...row };
  const { cells, without, ...marks } = recognise;
  const description = {
    ...rest,
    ...(columns && { columns: words(columns) }),
    needs: Object.keys(rest.type?.kinds ?? { '': 'ban' }).length > 0 ? words(needs) : [],
    known: words(known),
    recognise: { ...marks, cells: words(cells), without: words(without) },
  };
  if (shape !== 'table') return [{ ...description, shape }];
  return (['csv', 'sql', 'json'] as const).map((form) => ({
    ...description,
    ...(form !== 'csv' && { name: `${rest.name}-${form}`, sameAs: rest.name }),
    ...(form === 'json' && { path: '' }),
    shape: form,
    recognise: { ...description.recognise, why: `the columns ${cells ?? ''}` },
  }));
}

export const tools: readonly Description[] = rows.flatMap(described);
