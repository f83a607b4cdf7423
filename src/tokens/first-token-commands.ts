import { OPERATOR } from '../../mail/store/account/account.ts';
import { command } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import { insertToken, revokeTokens } from './commands.ts';

const NAME = 'First token';

/** Creates the operator organization's token at the first start in local mode, with its audit row. */
export const addFirstToken = command(
  'add-first-token',
  async (tx, input: { hash: Uint8Array; shown: string; actions: readonly string[] }, stamp): Promise<number> => {
    const unshown = await tx.all<{ id: number }>(
      `SELECT id FROM token WHERE organization_id = ? AND name = ? AND created_by = 'bootstrap' AND revoked_at IS NULL`,
      OPERATOR,
      NAME,
    );
    for (const { id } of unshown) await revokeTokens(tx, id, stamp);
    const limits = { project: null, service: null, mailboxes: null, expiresAt: null };
    const row = { ...input, ...limits, organization: OPERATOR, name: NAME, owner: false };
    const id = await insertToken(tx, { ...row, createdBy: 'bootstrap' }, stamp);
    const who = { actor: 'mailstead', actorName: '', way: 'box', ip: '' } as const;
    const detail = { prefix: input.shown };
    const entry = { organization: OPERATOR, ...who, operation: 'first_start', target: row.name, detail };
    await appendAudit(tx, entry, 'done', stamp);
    return id;
  },
);
