import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Login } from '../../mail/login/types.ts';
import { isHumanLogin } from '../agents/thread-queries.ts';
import type { Decider } from '../approvals/decision.ts';
import type { AppContext } from '../core/app-context.ts';
import type { Caller } from '../core/caller.ts';
import { publicId } from '../core/ids.ts';
import { authenticateJmap } from '../jmap/authenticate.ts';
import { userCaller } from '../people/caller.ts';
import { visitorOf } from '../portal/page-exchange.ts';
import { isFresh } from '../portal/reauthentication.ts';

/** A person with a session of web mail. */
export interface MailReader {
  readonly account: number;
  readonly readOnly: boolean;
  /** Their name for decisions, and for the audit log. */
  readonly decider: Decider;
  /** May approve and reject mail of agents. */
  readonly mayDecide: boolean;
  /** The member of the organization, if they opened web mail from the portal. */
  readonly caller: Caller | undefined;
  /** False: the sign-in to the portal is too old to approve without the password. */
  readonly fresh: boolean;
}

export type MailReading = { kind: 'reader'; reader: MailReader } | { kind: 'agent' } | { kind: 'out' };

type TenantLogin = Login & { tenant: number };

/** Finds the reader of a request with the cookie of web mail. Passwords that agents use are no reader's. */
export async function findMailReader(context: AppContext, request: FastifyRequest): Promise<MailReading> {
  const found = await authenticateJmap(context, request);
  if (found.kind === 'refused' || found.login === undefined) return { kind: 'out' };
  const { login, session } = found;
  const { tenant } = login;
  if (tenant === undefined) return { kind: 'out' };
  if ((await session.isAgent?.()) === true) return { kind: 'agent' };
  const find = login.credential === 0 ? memberOf : ownerOf;
  const reader = await find(context, request, { ...login, tenant });
  return reader === undefined ? { kind: 'out' } : { kind: 'reader', reader };
}

/** Somebody with a password of the mailbox, who decides as with a mail program. */
async function ownerOf({ store }: AppContext, { ip }: FastifyRequest, login: TenantLogin): Promise<MailReader> {
  const { account, credential, tenant, address, readOnly = false } = login;
  const actorName = `${address.local}@${address.domain}`;
  const decider = { tenant, accounts: [account], credential, actor: publicId('mailbox', account), actorName, ip };
  const mayDecide = !readOnly && (await store.read(isHumanLogin, { account, credential }));
  return { account, readOnly, decider, mayDecide, caller: undefined, fresh: true };
}

/** A person who opened web mail from the portal, who decides as there. */
async function memberOf(
  context: AppContext,
  request: FastifyRequest,
  { account, tenant }: TenantLogin,
): Promise<MailReader | undefined> {
  const visitor = await visitorOf({ context, request });
  const membership = visitor?.memberships.find((one) => one.organization === tenant && !one.frozen);
  if (visitor === undefined || membership === undefined) return undefined;
  const caller = await userCaller(context, visitor.person, membership, request.ip);
  const { actor, actorName, ip, mailboxes: accounts } = caller;
  const mayDecide = accounts === null || accounts.includes(account);
  const decider = { tenant, accounts, actor, actorName, ip };
  return { account, readOnly: false, decider, mayDecide, caller, fresh: isFresh({ context }, visitor) };
}

export const SESSION_ENDED = 'Your session has ended. Sign in again.';
const PASSWORD_OF_AGENTS =
  'Agents may use this password, so it decides nothing. Open web mail from the portal, or use an app password that is marked as yours.';

/** The reader of a request; undefined if there is none, or for `changes` none that may change anything: the refusal is sent. */
export async function personOf(
  context: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
  changes = false,
): Promise<MailReader | undefined> {
  const found = await findMailReader(context, request);
  if (found.kind === 'out') sendReaderProblem(reply, 401, SESSION_ENDED);
  else if (found.kind === 'agent') sendReaderProblem(reply, 403, PASSWORD_OF_AGENTS, 'agent-password');
  else if (changes && found.reader.readOnly) sendReaderProblem(reply, 403, 'This password may only read.', 'read-only');
  else return found.reader;
  return undefined;
}

/** Sends JSON that no cache keeps. */
export const sendJson = (reply: FastifyReply, body: object): FastifyReply =>
  reply.header('cache-control', 'no-store').send(body);

/** Refusal of a request of web mail's program, as {@link sendReaderProblem} takes it. */
export type ReaderRefusal = readonly [status: number, detail: string, code?: string];

/** Refuses a request of web mail's program with a sentence for the reader, and a code that names it in any language. */
export function sendReaderProblem(reply: FastifyReply, status: number, detail: string, code?: string): FastifyReply {
  return sendJson(reply.code(status), { detail, ...(code !== undefined && { code }) });
}
