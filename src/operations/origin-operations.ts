/** The sources that peers may pass on. Each counts as one witness, whichever peer carries it. */
import { granted } from '../errors.js';
import type { OriginView } from '../group/api.js';
import { originName } from '../validation/identifiers.js';
import { shape } from '../validation/schema.js';
import { by, isoTime, mapped, operation, typed } from './operation.js';
import { printable, table } from './text-table.js';

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
        const heads = ['name', 'status', 'weight', 'carriers', 'declared'];
        const rows = data.map((origin) => [
          origin.name,
          origin.status,
          origin.weight.toFixed(3),
          origin.carriers.length,
          origin.declared_at,
        ]);
        return table(rows, width, heads, ['name', 'status']);
      },
    },
  }),

  'origins-change': operation({
    request: shape({ change: { enum: ['add', 'remove'] }, name: originName, by }, ['by']),
    dashboard: true,
    answer: async ({ change, name }, { group, by: actor }) =>
      mapped(await group.changeOrigin(change, name, actor), originValue),
    ptf: [
      {
        group: 'origins',
        command: 'add',
        text: 'declare an origin: from now on peers may send events that name it',
        given: { change: { fixed: 'add' }, name: typed('<name>') },
        examples: ['origins add public-ban-list --by alice'],
        show: (origin) => [originLine(origin)],
      },
      {
        group: 'origins',
        command: 'remove',
        text: 'accept no further events of an origin; stored ones stay as they are',
        given: { change: { fixed: 'remove' }, name: typed('<name>') },
        examples: ['origins remove public-ban-list --by alice'],
        show: (origin) => [originLine(origin)],
      },
    ],
  }),
};

function originValue({ name, declaredAt, isDeclared, carriers, weight, tau, a, b }: OriginView) {
  const status: 'declared' | 'removed' = isDeclared ? 'declared' : 'removed';
  return { name, status, declared_at: isoTime(declaredAt), carriers, weight, tau, a, b };
}

function originLine({ name, status }: ReturnType<typeof originValue>): string {
  return printable(`${name}  ${status}`);
}
