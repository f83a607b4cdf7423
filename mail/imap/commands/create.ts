import { no, ok } from '../answer.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import type { MailboxRole } from '../needs.ts';
import { roleOf } from '../special-use.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';

/** RFC 9051 6.3.4, and the role of RFC 6154 5.2: `CREATE Gone (USE (\Trash))`. */
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
    if (role === 'no') return no('USEATTR', 'That use is unknown or taken, or there is more than one');
    const created = await session.store.create(name, role);
    switch (created.kind) {
      case 'created':
        return ok('Created');
      case 'exists':
        return no('ALREADYEXISTS', 'There is a mailbox of that name');
      case 'too-many':
        return no('LIMIT', 'There are too many mailboxes, or too many levels');
    }
  },
};

/** One role a mailbox, one mailbox a role. */
async function roleFor(
  store: { mailboxes(): Promise<{ role: MailboxRole | null }[]> },
  uses: readonly string[],
): Promise<MailboxRole | undefined | 'no'> {
  const [first] = uses;
  if (first === undefined) return undefined;
  const role = roleOf(first);
  if (role === undefined || uses.length > 1) return 'no';
  return (await store.mailboxes()).some((mailbox) => mailbox.role === role) ? 'no' : role;
}
