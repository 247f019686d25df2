/** The sources that peers may pass on. Each counts as one witness, whichever peer carries it. */
import { granted } from '../errors.js';
import type { OriginView } from '../group/api.js';
import { originName } from '../validation/identifiers.js';
import { shape } from '../validation/schema.js';
import { by, isoTime, mapped, operation, typed } from './operation.js';
import { columns, printable } from './text-table.js';

const changeTexts = {
  add: 'declare an origin: from now on peers may send events that name it',
  remove: 'accept no further events of an origin; stored ones stay as they are',
};

export const originOperations = {
  'origins-list': operation({
    request: shape({}),
    dashboard: true,
    answer: (_, { group }) => granted({ data: group.origins().map(originValue) }),
    ptf: {
      group: 'origins',
      command: 'list',
      text: 'list all origins, including removed ones, the oldest first',
      examples: ['origins list', 'origins list --json'],
      show({ data }, width) {
        if (data.length === 0) return ['no origin is declared'];
        return columns(width, ['name', 'status'], data, [
          ['name', ({ name }) => name],
          ['status', ({ status }) => status],
          ['weight', ({ weight }) => weight.toFixed(3)],
          ['carriers', ({ carriers }) => carriers.length],
          ['declared', (origin) => origin.declared_at],
        ]);
      },
    },
  }),

  'origins-change': operation({
    request: shape({ change: { enum: ['add', 'remove'] }, name: originName, by }, ['by']),
    dashboard: true,
    answer: async ({ change, name }, { group, by: actor }) =>
      mapped(await group.changeOrigin(change, name, actor), originValue),
    ptf: (['add', 'remove'] as const).map((change) => ({
      group: 'origins' as const,
      command: change,
      text: changeTexts[change],
      given: { change: { fixed: change }, name: typed('<name>') },
      examples: [`origins ${change} public-ban-list --by alice`],
      show: originLines,
    })),
  }),
};

function originValue({ name, declaredAt, isDeclared, carriers, weight, tau, a, b }: OriginView) {
  const status: 'declared' | 'removed' = isDeclared ? 'declared' : 'removed';
  return { name, status, declared_at: isoTime(declaredAt), carriers, weight, tau, a, b };
}

function originLines({ name, status }: ReturnType<typeof originValue>): string[] {
  return [printable(`${name}  ${status}`)];
}
