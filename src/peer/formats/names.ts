/** The names and values of `names.json`, by which the lists of no known tool are read. */
import { readFileSync } from 'node:fs';

type Texts = 'id' | 'kind' | 'start' | 'end' | 'lifted' | 'plain' | 'stands' | 'standing' | 'ended' | 'yes' | 'no';
type Patterns = 'values' | 'never' | 'whole' | 'dates' | 'remark' | 'telling' | 'passing' | 'others' | 'past';

interface Names extends Readonly<Record<Texts | Patterns, string>> {
  /** Regular expressions of names that may state an end, a length, a removal or a type. */
  readonly dangerous: readonly string[];
  readonly kinds: Readonly<Record<string, string>>;
}

export const names = JSON.parse(readFileSync(new URL('./names.json', import.meta.url), 'utf8')) as Names;

export const words = (text: string | undefined) => text?.split(' ') ?? [];
