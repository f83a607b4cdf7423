import { type Outgoing, send } from '../../mail/delivery/submit.ts';
import { command } from '../../mail/store/engine/types.ts';

/**
 * Keeps which tools there are. `change` is what the caller found different from `before`, which it read; owners of
 * organizations with agents are to be told of it. `again`: somebody else wrote meanwhile.
 */
export const noteCatalogue = command(
  'note-catalogue',
  async (
    tx,
    input: { before: string | null; tools: string; change: string | null },
    stamp,
  ): Promise<{ kind: 'noted' | 'again' }> => {
    const there = await tx.get<{ tools: string }>('SELECT tools FROM catalogue WHERE id = 1');
    if ((there?.tools ?? null) !== input.before) return { kind: 'again' };
    await tx.run(
      `INSERT INTO catalogue (id, tools, changed_at) VALUES (1, ?1, ?2)
       ON CONFLICT (id) DO UPDATE SET tools = ?1, changed_at = ?2`,
      input.tools,
      stamp.now,
    );
    if (input.change === null) return { kind: 'noted' };
    await tx.run(
      `INSERT INTO catalogue_news (organization_id, change) SELECT id, ?1 FROM organization o
       WHERE o.claimed_at IS NOT NULL AND o.frozen_at IS NULL
         AND EXISTS (SELECT 1 FROM token t WHERE t.organization_id = o.id AND t.revoked_at IS NULL
           AND (t.expires_at IS NULL OR t.expires_at > ?2))
       ON CONFLICT (organization_id) DO UPDATE SET change = ?1`,
      input.change,
      stamp.now,
    );
    return { kind: 'noted' };
  },
);

/** Sends the letters about a change of the tools, once. */
export const tellCatalogue = command(
  'tell-catalogue',
  async (
    tx,
    { organization, change, letters }: { organization: number; change: string; letters: readonly Outgoing[] },
    stamp,
  ): Promise<{ told: boolean }> => {
    const { changes } = await tx.run(
      'DELETE FROM catalogue_news WHERE organization_id = ? AND change = ?',
      organization,
      change,
    );
    if (changes === 0) return { told: false };
    for (const letter of letters) await send(tx, letter, stamp);
    return { told: true };
  },
);

/** Sends the letters with the newest hash of an audit log, once a row. */
export const tellAuditHead = command(
  'tell-audit-head',
  async (
    tx,
    { organization, audit, letters }: { organization: number; audit: number; letters: readonly Outgoing[] },
    stamp,
  ): Promise<{ told: boolean }> => {
    const { changes } = await tx.run(
      `INSERT INTO audit_told (organization_id, audit_id, told_at) VALUES (?1, ?2, ?3)
       ON CONFLICT (organization_id) DO UPDATE SET audit_id = ?2, told_at = ?3 WHERE audit_id < ?2`,
      organization,
      audit,
      stamp.now,
    );
    if (changes === 0) return { told: false };
    for (const letter of letters) await send(tx, letter, stamp);
    return { told: true };
  },
);
