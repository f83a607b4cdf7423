import { no, ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import type { ImapMailboxRole } from '../imap-store.ts';
import { jmapId } from '../../store/object-id.ts';
import { roleOf } from '../special-use.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';

/** CREATE, with the special use of RFC 6154: `CREATE Bin (USE (\Trash))`. RFC 9051 6.3.4. */
export const create: ImapCommand<{ name: string; uses: readonly string[] }> = {
  name: 'CREATE',
  changes: true,
  states: LOGGED_IN,
  capabilities: ['CREATE-SPECIAL-USE'],

  parse(d) {
    const name = d.sp().mailbox();
    if (d.trailing()) return { name, uses: [] };
    d.sp();
    const uses = d.list((each) => {
      each.expect('USE').sp();
      return each.list((use) => use.flag());
    });
    if (uses.length !== 1) throw new ImapSyntaxError('Expected (USE (...))');
    return { name, uses: uses.flat() };
  },

  async run(session, { name, uses }) {
    const role = await roleFor(session.store, uses);
    if (role === 'no') return no('USEATTR', 'Special use is unknown, already assigned, or given twice');
    const created = await session.store.create(name, role);
    switch (created.kind) {
      case 'created':
        session.notifications?.addOwn({ kind: 'created', name });
        // RFC 8474 4.1.
        return ok(`MAILBOXID (${jmapId('mailbox', created.id)})`, 'Created');
      case 'exists':
        return no('ALREADYEXISTS', 'Mailbox already exists');
      case 'forbidden':
        return no('NOPERM', created.why);
      case 'too-many':
        return no('LIMIT', 'Too many mailboxes or levels');
    }
  },
};

/** The requested role. A mailbox has at most one role, and a role one mailbox. */
async function roleFor(
  store: { mailboxes(): Promise<{ role: ImapMailboxRole | null }[]> },
  uses: readonly string[],
): Promise<ImapMailboxRole | undefined | 'no'> {
  const [first] = uses;
  if (first === undefined) return undefined;
  const role = roleOf(first);
  if (role === undefined || uses.length > 1) return 'no';
  return (await store.mailboxes()).some((mailbox) => mailbox.role === role) ? 'no' : role;
}
