import type { NarrowLimits } from '../../mail/agents/gate/types.ts';
import { attachPolicy } from '../../mail/agents/policy/policies.ts';
import { command } from '../../mail/store/engine/types.ts';
import { publicId } from '../core/ids.ts';
import { insertToken, type NewToken } from './commands.ts';

/** Maximum valid tokens narrowed from one token, directly or indirectly. */
export const MAX_NARROW_TOKENS = 100;
/** Counter key for the sends of a token narrowed from `parent`. */
export function narrowSubject(parent: number, nonce: string): string {
  return `${parent}/${nonce}`;
}

/** Time that ended tokens stay listed. */
const RETENTION_MS = 30 * 24 * 3600_000;
/** Rows of one slice. */
const SLICE = 100;

/** Creates a token narrowed from another one, which must be valid in the same commit. */
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
    if ((row?.n ?? 0) >= MAX_NARROW_TOKENS) return { kind: 'too-many' };
    return { kind: 'added', id: await insertToken(tx, token, stamp) };
  },
);

/** Deletes a slice of narrowed tokens that ended before the retention time, with their counters. */
export const purgeNarrowTokens = command('purge-narrow-tokens', async (tx, _: undefined, { now }): Promise<boolean> => {
  const gone = await tx.all<{ id: number; parent: number; narrow: string }>(
    `DELETE FROM token WHERE id IN (SELECT id FROM token WHERE parent_id IS NOT NULL
         AND min(ifnull(revoked_at, expires_at), ifnull(expires_at, revoked_at)) < ? LIMIT ?)
       RETURNING id, parent_id AS parent, narrow`,
    now - RETENTION_MS,
    SLICE,
  );
  for (const { id, parent, narrow } of gone) {
    await attachPolicy(tx, { credential: publicId('token', id) }, null);
    const { sends } = JSON.parse(narrow) as NarrowLimits;
    // Other counters belong to its parents, which may still be valid.
    const own = sends.find(({ of }) => of.startsWith(narrowSubject(parent, '')));
    if (own !== undefined) await tx.run('DELETE FROM narrow_token_use WHERE subject = ?', own.of);
  }
  return gone.length === SLICE;
});
