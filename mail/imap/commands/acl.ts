import { GRANTABLE_RIGHTS } from '../../store/mailbox/acl.ts';
import { no, ok } from '../tagged-response.ts';
import type { TaggedResponse } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import type { ImapMailboxInfo, MailboxAcl } from '../imap-store.ts';
import { allRights, OWNER_RIGHTS, parseRights, shownRights } from '../rights.ts';
import type { Session } from '../session.ts';
import { mailbox as mailboxName, string } from '../wire/encoder.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';

interface AclChange {
  name: string;
  identifier: string;
  how: 'set' | 'add' | 'remove';
  rights: string;
}

/** SETACL. RFC 4314 3.1. */
export const setAcl: ImapCommand<AclChange> = {
  name: 'SETACL',
  changes: true,
  states: LOGGED_IN,
  capabilities: ['ACL', 'RIGHTS=kxten'],

  parse(d) {
    const name = d.sp().mailbox();
    const identifier = d.sp().astring();
    const text = d.sp().astring();
    const sign = text.charAt(0);
    const how = sign === '+' ? 'add' : sign === '-' ? 'remove' : 'set';
    const rights = parseRights(how === 'set' ? text : text.slice(1));
    if (rights === undefined) throw new ImapSyntaxError('Unknown right');
    return { name, identifier, how, rights };
  },

  run: (session, change) => changeAcl(session, change, 'Rights changed'),
};

/** DELETEACL. RFC 4314 3.2. */
export const deleteAcl: ImapCommand<AclChange> = {
  name: 'DELETEACL',
  changes: true,
  states: LOGGED_IN,
  parse: (d) => ({ name: d.sp().mailbox(), identifier: d.sp().astring(), how: 'set', rights: '' }),
  run: (session, change) => changeAcl(session, change, 'Rights removed'),
};

async function changeAcl(session: Session, change: AclChange, done: string): Promise<TaggedResponse> {
  const found = await administered(session, change.name);
  if ('kind' in found) return found;
  const own = session.login?.address;
  if (own !== undefined && change.identifier.toLowerCase() === `${own.local}@${own.domain}`.toLowerCase())
    return no('CANNOT', 'The rights of the owner cannot be changed');
  const extra = Array.from(change.rights)
    .filter((letter) => !GRANTABLE_RIGHTS.includes(letter))
    .join('');
  if (extra !== '' && change.how !== 'remove')
    return no('CANNOT', `These rights stay with the owner: ${extra}. Others can have: ${GRANTABLE_RIGHTS}`);
  const { kind } = await found.acl.set(found.mailbox.id, change.identifier, change.how, change.rights);
  switch (kind) {
    case 'set': {
      const { identifier, how, rights } = change;
      session.context.log.info(
        { account: session.login?.account, mailbox: found.mailbox.id, identifier, how, rights },
        'mailbox rights changed',
      );
      return ok(done);
    }
    case 'unknown-address':
      return no('CANNOT', 'No such address in this organization: name a person by the address of the mailbox');
    case 'missing':
      return no('NONEXISTENT', 'No such mailbox');
    case 'too-many':
      return no('LIMIT', 'Too many shares of this mailbox or with this person: remove some first');
    case 'not-allowed':
      return no('NOPERM', 'Only a person shares mail: use a password that no agent knows');
  }
}

/** A mailbox of the own account: its owner alone administers the rights on it. */
async function administered(
  session: Session,
  name: string,
): Promise<{ mailbox: ImapMailboxInfo; acl: MailboxAcl } | TaggedResponse> {
  const { acl } = session.store;
  const mailbox = await session.store.mailbox(name);
  if (mailbox === undefined || acl === undefined) return no('NONEXISTENT', 'No such mailbox');
  return mailbox.rights === undefined
    ? { mailbox, acl }
    : no('NOPERM', 'Only the owner of a mailbox sees and sets rights');
}

/** GETACL. RFC 4314 3.3. */
export const getAcl: ImapCommand<string> = {
  name: 'GETACL',
  states: LOGGED_IN,
  parse: (d) => d.sp().mailbox(),

  async run(session, name) {
    const found = await administered(session, name);
    if ('kind' in found) return found;
    const { local, domain } = session.login?.address ?? { local: '', domain: '' };
    const granted = (await found.acl.list(found.mailbox.id)) ?? [];
    const all = [{ address: `${local}@${domain}`, rights: OWNER_RIGHTS }, ...granted];
    const pairs = all.map(({ address, rights }) => ` ${string(address)} ${shownRights(rights)}`);
    session.write(`* ACL ${mailboxName(found.mailbox.name, session.utf8)}${pairs.join('')}\r\n`);
    return ok('Rights listed');
  },
};

/** LISTRIGHTS. RFC 4314 3.4: each right can be granted alone. */
export const listRights: ImapCommand<{ name: string; identifier: string }> = {
  name: 'LISTRIGHTS',
  states: LOGGED_IN,
  parse: (d) => ({ name: d.sp().mailbox(), identifier: d.sp().astring() }),

  async run(session, { name, identifier }) {
    const found = await administered(session, name);
    if ('kind' in found) return found;
    const each = Array.from(GRANTABLE_RIGHTS).join(' ');
    session.write(`* LISTRIGHTS ${mailboxName(found.mailbox.name, session.utf8)} ${string(identifier)} "" ${each}\r\n`);
    return ok('Rights listed');
  },
};

/** MYRIGHTS. RFC 4314 3.5. */
export const myRights: ImapCommand<string> = {
  name: 'MYRIGHTS',
  states: LOGGED_IN,
  parse: (d) => d.sp().mailbox(),

  async run(session, name) {
    const mailbox = await session.store.mailbox(name);
    if (mailbox === undefined) return no('NONEXISTENT', 'No such mailbox');
    session.write(myRightsResponse(mailbox, session.utf8));
    return ok('Rights listed');
  },
};

/** `* MYRIGHTS INBOX lrs` and CRLF. */
export function myRightsResponse(of: ImapMailboxInfo, utf8: boolean): string {
  return `* MYRIGHTS ${mailboxName(of.name, utf8)} ${allRights(of)}\r\n`;
}
