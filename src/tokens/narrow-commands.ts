import type { NarrowLimits } from '../../mail/delivery/agent/types.ts';
import { attachPolicy } from '../../mail/store/agent-policy.ts';
import { command } from '../../mail/store/engine/types.ts';
import { publicId } from '../ids.ts';
import { insertToken, type NewToken } from './commands.ts';

/** That hold, narrowed from one token in one step or several. */
export const MOST_NARROW = 100;
/** What the sends of a token are counted by that is narrowed from `parent`. */
export function lifeOf(parent: number, nonce: string): string {
  return `${parent}/${nonce}`;
}

/** They are listed for so long after their end. */
const KEEP_MS = 30 * 24 * 3600_000;
/** Rows of one slice. */
const SLICE = 100;

/** Makes a token that is narrowed from another one, which must hold in the same commit. */
export const addNarrowToken = command(
  'add-narrow-token',
  async (
    tx,
    token: NewToken & Required<Pick<NewToken, 'narrow'>>,
    stamp,
  ): Promise<{ kind: 'added'; id: number } | { kind: 'too-many' | 'ended' }> => {
    const { parent, limits } = token.narrow;
    const holds = await tx.get(
      `SELECT 1 AS holds FROM token WHERE id = ? AND organization_id = ? AND revoked_at IS NULL
         AND (expires_at IS NULL OR expires_at > ?)`,
      parent,
      token.organization,
      stamp.now,
    );
    if (holds === undefined) return { kind: 'ended' };
    const row = await tx.get<{ n: number }>(
      `SELECT count(*) AS n FROM token WHERE parent_id IS NOT NULL AND organization_id = ? AND revoked_at IS NULL
         AND expires_at > ? AND json_extract(narrow, '$.from[#-1]') = ?`,
      token.organization,
      stamp.now,
      limits.from.at(-1) ?? '',
    );
    if ((row?.n ?? 0) >= MOST_NARROW) return { kind: 'too-many' };
    return { kind: 'added', id: await insertToken(tx, token, stamp) };
  },
);

/** Forgets a slice of narrowed tokens whose end is long ago, with what they sent. */
export const forgetNarrowTokens = command(
  'forget-narrow-tokens',
  async (tx, _: undefined, { now }): Promise<boolean> => {
    const gone = await tx.all<{ id: number; parent: number; narrow: string }>(
      `DELETE FROM token WHERE id IN (SELECT id FROM token WHERE parent_id IS NOT NULL
         AND min(ifnull(revoked_at, expires_at), ifnull(expires_at, revoked_at)) < ? LIMIT ?)
       RETURNING id, parent_id AS parent, narrow`,
      now - KEEP_MS,
      SLICE,
    );
    for (const { id, parent, narrow } of gone) {
      await attachPolicy(tx, { credential: publicId('token', id) }, null);
      const { sends } = JSON.parse(narrow) as NarrowLimits;
      // The others are of tokens that it is from, which may still hold.
      const own = sends.find(({ of }) => of.startsWith(lifeOf(parent, '')));
      if (own !== undefined) await tx.run('DELETE FROM narrow_use WHERE subject = ?', own.of);
    }
    return gone.length === SLICE;
  },
);
