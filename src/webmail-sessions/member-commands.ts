import { command } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import type { AuditEntry } from '../core/audit-row.ts';
import { insertMailSession, type NewMailSession } from './commands.ts';
import { mayOpenMailbox } from './access-queries.ts';

/** Opens web mail for a person who is signed in to the portal. */
export const openMemberMail = command(
  'open-member-mail',
  async (
    tx,
    input: Omit<NewMailSession, 'credential'> & { session: number; entry: AuditEntry },
    stamp,
  ): Promise<{ kind: 'opened' | 'refused' }> => {
    const { session, entry, ...opened } = input;
    if (!(await mayOpenMailbox(tx, { session, account: opened.account }, stamp.now))) return { kind: 'refused' };
    await insertMailSession(tx, { ...opened, credential: 0 }, session, stamp);
    await appendAudit(tx, entry, 'opened', stamp);
    return { kind: 'opened' };
  },
);
