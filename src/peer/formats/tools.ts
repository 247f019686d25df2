/**
 * The descriptions of the tools that are known, from `tools.json`: one row for each, in the order of recognition, the
 * strictest first. A row has the form of `Description`, with words instead of lists of names; `like` takes over what
 * another row says, and the shape `table` stands for a table of a database in each of its forms.
 */
import { readFileSync } from 'node:fs';
import type { Description, Shape } from './description.js';

interface Row extends Omit<Description, 'shape' | 'recognise' | 'columns' | 'needs' | 'known'> {
  readonly like?: string;
  readonly note?: string;
  readonly shape: Shape | 'table';
  readonly columns?: string;
  readonly needs?: string;
  readonly known?: string;
  readonly recognise: Omit<Description['recognise'], 'cells' | 'without'> & {
    readonly cells?: string;
    readonly without?: string;
  };
}

const rows = JSON.parse(readFileSync(new URL('./tools.json', import.meta.url), 'utf8')) as Row[];

const words = (text: string | undefined) => text?.split(' ') ?? [];

function described(row: Row): Description[] {
  const original = rows.find(({ name }) => name === row.like);
  const { like: _, note: __, shape, recognise, columns, needs, known, ...rest } = { ...original, ...row };
  const { cells, without, ...marks } = recognise;
  const description = {
    ...rest,
    ...(columns === undefined ? {} : { columns: words(columns) }),
    needs: Object.keys(rest.type?.kinds ?? { '': 'ban' }).length > 0 ? words(needs) : [],
    known: words(known),
    recognise: { ...marks, cells: words(cells), without: words(without) },
  };
  if (shape !== 'table') return [{ ...description, shape }];
  return (['csv', 'sql', 'json'] as const).map((form) => ({
    ...description,
    ...(form === 'csv' ? {} : { name: `${rest.name}-${form}`, sameAs: rest.name }),
    ...(form === 'json' ? { path: '' } : {}),
    shape: form,
    recognise: { ...description.recognise, why: `the columns ${cells ?? ''}` },
  }));
}

export const tools: readonly Description[] = rows.flatMap(described);
