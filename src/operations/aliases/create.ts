import { z } from 'zod';
import { type Address, addressKey, parseAddress } from '../../../mail/message/address.ts';
import { addAlias, MAX_ALIASES, type NewAlias } from '../../../mail/store/address/alias.ts';
import { isReservedAddress } from '../../../mail/store/account/account-restoration.ts';
import { publicId } from '../../core/ids.ts';
import { isRoleName } from '../../mailboxes/role-names.ts';
import { agentOf } from '../../core/caller.ts';
import { expiryOf, Id, isoOrNull, Line, DomainName, ExpiresAt } from '../../core/schemas.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { findOwnDomain, type Mailbox } from '../scope.ts';
import { aliasNow, MailboxIds, MaxMessages, namedMailboxes, Note, Shown } from './shown.ts';
import { randomInt } from 'node:crypto';

/** Attempts to generate a free name; the first one mostly succeeds. */
const DRAWS = 5;

export const createAlias = operation({
  name: 'create_alias',
  title: 'Create an alias',
  toolset: 'email',
  core: true,
  reach: 'mailbox',
  action: 'manage',
  description:
    'Creates an address that delivers to one or more mailboxes, e.g. for one sign-up. Without localPart a readable name is generated; "sales-*" matches a prefix, "*" is the catch-all. expiresAt or maxMessages limit it. list_aliases shows how often and by whom it was used.',
  hints: {},
  // One name only adds an address; a pattern captures mail for other names, a role address that of the domain, and the
  // address of a deleted mailbox mail meant for that one.
  rule: async (call, { localPart = '', mailboxIds, ...where }) => {
    const mailboxes = await namedMailboxes(call, mailboxIds);
    const captures =
      localPart.includes('*') || isRoleName(localPart) || (await isReserved(call, localPart, where, mailboxes));
    return captures ? mailboxes.map(({ id }) => id) : undefined;
  },
  input: z.strictObject({
    mailboxIds: MailboxIds.optional(),
    localPart: Line(1, 64).describe('Default: a generated name').optional(),
    domain: DomainName.describe("Default: the mailbox's domain").optional(),
    domainId: Id('domain').optional(),
    expiresAt: ExpiresAt,
    maxMessages: MaxMessages.optional(),
    note: Note.optional(),
  }),
  output: z.object({ alias: Shown }),
  rest: { method: 'POST', path: '/api/email/aliases', status: 201 },
  async run(call, { mailboxIds, localPart, expiresAt, maxMessages, note, ...where }) {
    const mailboxes = await namedMailboxes(call, mailboxIds);
    const domain = await domainFor(call, where, mailboxes);
    withinToken(call, localPart, domain.name, mailboxes);
    const row = {
      tenant: call.tenant,
      domain: domain.id,
      accounts: mailboxes.map((one) => one.id),
      note: note ?? '',
      expiresAt: expiryOf(call, expiresAt),
      most: maxMessages ?? null,
    };
    for (let draws = 1; ; draws++) {
      const address = addressAt(localPart ?? aliasName(), domain.name);
      const id = await add(call, { ...row, key: addressKey(address) }, localPart !== undefined || draws === DRAWS);
      if (id !== undefined) return { alias: await aliasNow(call, id) };
    }
  },
});

async function isReserved(
  call: Call,
  localPart: string,
  where: { domain?: string | undefined; domainId?: string | undefined },
  mailboxes: readonly Mailbox[],
): Promise<boolean> {
  if (localPart === '') return false;
  const { name } = await domainFor(call, { domain: where.domain, domainId: where.domainId }, mailboxes);
  const address = parseAddress(`${localPart}@${name}`);
  return address !== undefined && call.store.read(isReservedAddress, { tenant: call.tenant, key: addressKey(address) });
}

/** Returns the named domain, or the domain of the first mailbox. */
function domainFor(
  call: Call,
  where: { domain?: string | undefined; domainId?: string | undefined },
  [first]: readonly Mailbox[],
) {
  if (where.domain !== undefined || where.domainId !== undefined || first === undefined)
    return findOwnDomain(call, where);
  return findOwnDomain(call, { domain: first.address.slice(first.address.lastIndexOf('@') + 1) });
}

/**
 * Refuses a chosen name to a token that is limited to some mailboxes: the name could be one that others already write
 * to, or postmaster@, which receives proofs of control for the whole domain.
 */
function withinToken(call: Call, localPart: string | undefined, domain: string, mailboxes: readonly Mailbox[]): void {
  const { mailboxes: allowed } = call.caller;
  if (allowed === null) return;
  const own = mailboxes.some(({ address }) => address.endsWith(`@${domain}`));
  if (localPart === undefined && own) return;
  refuse(
    'out_of_scope',
    'This token is limited to some mailboxes: omit localPart and domain to get a generated name at their domain.',
    { allowedMailboxIds: allowed.map((id) => publicId('mailbox', id)) },
  );
}

function addressAt(localPart: string, domain: string): Address {
  const address = parseAddress(`${localPart}@${domain}`);
  const stars = localPart.split('*').length - 1;
  if (address?.domain === domain && !localPart.includes('@') && stars <= 1) return address;
  const why = stars > 1 ? 'it has more than one *' : 'it is not a valid local part';
  return refuse('invalid_arguments', `localPart: ${why}.`, { issues: [{ path: 'localPart', message: why }] });
}

/** Adds the alias and returns its row; undefined if the name is taken and another attempt follows. */
async function add(call: Call, row: NewAlias, last: boolean): Promise<number | undefined> {
  const detail = {
    mailboxIds: row.accounts.map((one) => publicId('mailbox', one)),
    expiresAt: isoOrNull(row.expiresAt),
    maxMessages: row.most,
  };
  const done = await call.change(addAlias, { ...row, by: agentOf(call.caller) }, row.key, detail);
  switch (done.kind) {
    case 'added':
      return done.id;
    case 'taken':
      if (!last) return undefined;
      return refuse('already_exists', `${row.key} is already a mailbox or alias: choose another localPart.`, {
        resource: 'alias',
      });
    case 'no-domain':
      return notFound('domain');
    case 'no-account':
      return notFound('mailbox');
    case 'too-many':
      return refuse('conflict', `Limit reached: this organization has ${MAX_ALIASES} aliases. Remove some first.`, {
        resource: 'alias',
      });
  }
}

const FIRST =
  'amber bold brisk calm clear cold coral crisp dusky early fair fresh gentle gold green happy jolly keen kind light lively lucky mellow mild neat noble olive pale plain proud quick quiet rapid red round royal sandy sharp silent silver smooth snowy soft solid spare stout sunny swift tidy vivid warm wild wise young'.split(
    ' ',
  );
const SECOND =
  'badger beach beaver birch bridge brook canyon cedar cliff cloud crane creek dune eagle falcon fern field finch forest fox garden glade harbor hawk heron hill island lake lark leaf maple marsh meadow moon otter owl panda path pine pond raven reef river robin sparrow spring stone stork summit swan thistle tiger trail valley wave willow wolf wren'.split(
    ' ',
  );
const NUMBERS = 10_000;

/** Generates a local part that is easy to read aloud and hard to guess: one of some 33 million. */
function aliasName(): string {
  const word = (words: readonly string[]): string => words[randomInt(words.length)] ?? '';
  return `${word(FIRST)}-${word(SECOND)}-${String(randomInt(NUMBERS)).padStart(4, '0')}`;
}
