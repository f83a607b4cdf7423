import { publicId, rowId } from '../core/ids.ts';
import { ownMailboxes } from '../webmail-sessions/access-queries.ts';
import { mailSessionHash } from '../webmail-sessions/cookie.ts';
import { endMemberMail } from '../webmail-sessions/end-member-mail.ts';
import { endOwnMailSessions } from '../webmail-sessions/own-session-commands.ts';
import { endSessions } from '../people/session-commands.ts';
import type { Fields } from './form-fields.ts';
import type { PageExchange, Visitor } from './page-exchange.ts';
import { runOperation, visitOf } from './visit.ts';

/** Ends what a form of the list of devices names. Returns the key of the notice; undefined: another form. */
export async function endDevices(
  exchange: PageExchange,
  visitor: Visitor,
  fields: Fields,
): Promise<'ended' | 'others' | 'revoked' | 'kept' | undefined> {
  const user = visitor.person.id;
  const { store } = exchange.context;
  switch (fields.text('do')) {
    case 'end': {
      const id = rowId('session', fields.text('session'));
      if (id !== undefined) await store.write(endSessions, { user, id });
      await endMemberMail(exchange.context, user);
      return 'ended';
    }
    case 'end-mail':
      await endMail(exchange, { user, id: Number(/^[1-9]\d{0,14}$/.exec(fields.text('session'))?.[0] ?? 0) });
      return 'ended';
    case 'others': {
      const { headers, protocol } = exchange.request;
      await store.write(endSessions, { user, keep: visitor.session.id });
      await endMail(exchange, { user, keep: mailSessionHash(headers.cookie, protocol === 'https') ?? null });
      await endMemberMail(exchange.context, user);
      return 'others';
    }
    case 'revoke':
      return (await revokePassword(exchange, visitor, fields)) ? 'revoked' : 'kept';
    default:
      return undefined;
  }
}

/** Ends sessions of web mail, and closes their connections. */
async function endMail(
  { context: { store, revoked } }: PageExchange,
  which: { user: number } & ({ id: number } | { keep: Uint8Array | null }),
): Promise<void> {
  const { ended } = await store.write(endOwnMailSessions, which);
  for (const { account, credential } of ended) revoked(account, [credential]);
}

/** Revokes an app password of a mailbox of the person, as far as their role allows it. */
async function revokePassword(exchange: PageExchange, visitor: Visitor, fields: Fields): Promise<boolean> {
  const account = rowId('mailbox', fields.text('mailbox'));
  const mailboxes = await exchange.context.store.read(ownMailboxes, { user: visitor.person.id });
  const own = mailboxes.find((one) => one.account === account);
  const visit = own && (await visitOf(exchange, visitor, publicId('organization', own.tenant)));
  if (visit === undefined) return false;
  const input = { mailboxId: fields.text('mailbox'), appPasswordId: fields.text('password') };
  return (await runOperation(visit, 'revoke_app_password', input)).kind === 'done';
}
