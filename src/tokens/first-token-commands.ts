import { OPERATOR } from '../../mail/store/account.ts';
import { command } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import { insertToken } from './commands.ts';

/** Local mode's first start: a token of the operator's organization, with its row in the audit log. */
export const addFirstToken = command(
  'add-first-token',
  async (tx, input: { hash: Uint8Array; shown: string; actions: readonly string[] }, stamp): Promise<number> => {
    const limits = { project: null, service: null, mailboxes: null, expiresAt: null };
    const row = { ...input, ...limits, organization: OPERATOR, name: 'First token', owner: false };
    const id = await insertToken(tx, { ...row, createdBy: 'bootstrap' }, stamp);
    const who = { actor: 'mailstead', actorName: '', way: 'box', ip: '' } as const;
    const detail = { prefix: input.shown };
    const entry = { organization: OPERATOR, ...who, operation: 'first_start', target: row.name, detail };
    await appendAudit(tx, entry, 'done', stamp);
    return id;
  },
);
