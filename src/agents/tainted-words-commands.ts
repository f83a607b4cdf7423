import { clearContent, markContent, type TaintedContentName } from '../../mail/agents/taint/content.ts';
import { command, lookup } from '../../mail/store/engine/types.ts';

const nameOf = (tenant: number, kind: string): TaintedContentName => `words/${tenant}/${kind}`;

/** Tests if a tainted token stored words of some of the kinds, or of all. Asked twice by calls of agents. */
export const hasTaintedWords = lookup(
  'has-tainted-words',
  async (rx, { tenant, kinds, all = false }: { tenant: number; kinds: readonly string[]; all?: boolean }) => {
    const found = await rx.all(
      "SELECT 1 AS yes FROM json_each(?, '$') k CROSS JOIN tainted_content c ON c.content = k.value",
      JSON.stringify(kinds.map((kind) => nameOf(tenant, kind))),
    );
    return all ? found.length === kinds.length : found.length > 0;
  },
);

export const markWords = command(
  'mark-words',
  async (tx, { tenant, kinds }: { tenant: number; kinds: readonly string[] }, { now }): Promise<void> => {
    for (const kind of kinds) await markContent(tx, tenant, nameOf(tenant, kind), now);
  },
);

/** Clears the marks of an organization: a person has undone what a token did, and seen the rest. */
export const clearWords = command(
  'clear-words',
  async (tx, { tenant, kinds }: { tenant: number; kinds: readonly string[] }): Promise<void> => {
    await clearContent(
      tx,
      kinds.map((kind) => nameOf(tenant, kind)),
    );
  },
);
