import {
  clearContent,
  isContentTainted,
  markContent,
  type TaintedContentName,
} from '../../mail/agents/taint/content.ts';
import { command, query } from '../../mail/store/engine/types.ts';

const nameOf = (tenant: number, kind: string): TaintedContentName => `words/${tenant}/${kind}`;

/** Tests if a tainted token stored words of some of the kinds, or of all. */
export const hasTaintedWords = query(
  'has-tainted-words',
  async (rx, { tenant, kinds, all = false }: { tenant: number; kinds: readonly string[]; all?: boolean }) => {
    const found = await Promise.all(kinds.map((kind) => isContentTainted(rx, nameOf(tenant, kind))));
    return all ? found.every(Boolean) : found.some(Boolean);
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
