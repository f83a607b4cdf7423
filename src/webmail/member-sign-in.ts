import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppContext } from '../core/app-context.ts';
import { publicId, rowId } from '../core/ids.ts';
import { ownMailboxes } from '../webmail-sessions/access-queries.ts';
import { openMemberMail } from '../webmail-sessions/member-commands.ts';
import { isFormToken, newSecret } from '../people/secrets.ts';
import { Fields } from '../portal/form-fields.ts';
import { isSecure } from '../portal/session-cookie.ts';
import { type Visitor, visitorOf } from '../portal/page-exchange.ts';
import { redirectTo, sessionOf, setMailCookie, shownAgent } from './sign-in.ts';

/** `POST /mail/open`: opens a mailbox of the person who is signed in to the portal, without its password. */
export async function openFromPortal(
  context: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const visitor = isSecure(request) ? await visitorOf({ context, request }) : undefined;
  if (visitor === undefined) return redirectTo(reply, '/login?next=/account');
  const fields = new Fields(request.body);
  const account = rowId('mailbox', fields.text('mailbox'));
  if (account === undefined || !isFormToken(fields.text('form'), visitor.secret)) return redirectTo(reply, '/account');
  const secret = await openMailbox(context, request, visitor, account);
  if (secret === undefined) return redirectTo(reply, '/account?done=mailbox');
  setMailCookie(request, reply, secret);
  return redirectTo(reply, '/mail');
}

/** Starts the session; undefined if the mailbox is not theirs. */
async function openMailbox(
  { store }: AppContext,
  request: FastifyRequest,
  { person, session }: Visitor,
  account: number,
): Promise<string | undefined> {
  const mailboxes = await store.read(ownMailboxes, { user: person.id });
  const own = mailboxes.find((one) => one.account === account);
  if (own === undefined) return undefined;
  const { secret, hash } = newSecret();
  const who = { actor: publicId('user', person.id), actorName: person.email, way: 'portal' as const, ip: request.ip };
  const target = publicId('mailbox', account);
  const entry = { organization: own.tenant, ...who, operation: 'open_web_mail', target, detail: {} };
  const browser = { ip: request.ip, agent: shownAgent(request), before: sessionOf(request) ?? null };
  const done = await store.write(openMemberMail, { account, hash, ...browser, session: session.id, entry });
  return done.kind === 'opened' ? secret : undefined;
}
