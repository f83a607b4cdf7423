import { z } from 'zod';
import { generatePassword } from '../../../mail/login/password.ts';
import {
  accountSalt,
  addAppPassword,
  type AppPassword,
  listAppPasswords,
  removeAppPassword,
} from '../../../mail/store/account/credential.ts';
import { PERSON, SEEN_BY_AGENT } from '../../../mail/store/actor.ts';
import { appCredential, READ_ONLY, SCOPES } from '../../accounts/new-credential.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { oneMailbox } from '../affected-mailboxes.ts';
import { agentOf } from '../../core/caller.ts';
import { expiryOf, Id, isoOf, isoOrNull, Line, SECRET_NOTICE, ExpiresAt } from '../../core/schemas.ts';
import { noteShownSecret } from '../../agents/shown-secrets.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { mailboxOf } from '../scope.ts';
import { MailboxArguments } from './shown.ts';

const Shown = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  readOnly: z.boolean(),
  person: z.boolean(),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
});

export const createAppPassword = operation({
  name: 'create_app_password',
  title: 'Create an app password',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  secret: true,
  description:
    'Creates an additional mailbox password for one program and shows it once. Can be limited to imap, smtp or jmap, to reading, and in time; works beside the mailbox password until revoked.',
  hints: {},
  rule: oneMailbox,
  input: z.strictObject({
    ...MailboxArguments,
    name: Line(1, 80).describe('Name of the program'),
    scopes: z.array(z.enum(SCOPES)).min(1).max(3).describe('Default: all').optional(),
    readOnly: z.boolean().default(false).describe('Reading only'),
    person: z.boolean().default(false).describe('Used by a person: no agent policy applies; not for tokens'),
    expiresAt: ExpiresAt,
  }),
  output: z.object({ appPassword: Shown, password: z.string(), secretNotice: z.string() }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailboxId/app-passwords', status: 201 },
  async run(call, { name, readOnly, person, expiresAt, scopes: requested, ...which }) {
    const { id: account } = await mailboxOf(call, which);
    if (person) onlyPeople(call);
    const scopes = SCOPES.filter((one) => requested?.includes(one) ?? !(readOnly && one === 'smtp'));
    if (readOnly && scopes.includes('smtp')) {
      refuse('invalid_arguments', 'A read-only password cannot send: remove smtp from scopes.', {
        issues: [{ path: 'scopes', message: 'smtp is not available with readOnly' }],
      });
    }
    const password = generatePassword();
    await noteShownSecret(call, { kind: 'password', text: password });
    const marks = [
      ...(readOnly ? [READ_ONLY] : []),
      ...(person ? [PERSON] : []),
      ...(call.caller.kind === 'token' ? [SEEN_BY_AGENT] : []),
    ];
    const row = { name, scopes: [...scopes, ...marks], expiresAt: expiryOf(call, expiresAt) };
    const id = await add(call, account, password, row);
    const made = { ...row, id, createdAt: call.clock(), lastUsedAt: null };
    return { appPassword: shown(made), password, secretNotice: SECRET_NOTICE };
  },
});

/** Refuses person: true to tokens: an agent that counts as a person would bypass its policy. */
function onlyPeople({ caller }: Call): void {
  if (caller.kind !== 'token') return;
  refuse('action_not_allowed', 'A token cannot create a password for a person: a person creates it in the portal.', {
    requiredAction: 'person',
    grantedActions: [...caller.actions],
  });
}

async function add(
  call: Call,
  account: number,
  password: string,
  row: { name: string; scopes: string[]; expiresAt: number | null },
): Promise<number> {
  const known = await call.store.read(accountSalt, { account });
  const credential = known && (await appCredential({ password, ...known }, row));
  if (credential === undefined) return notFound('mailbox');
  const input = { account, credential, by: agentOf(call.caller) };
  const done = await call.change(addAppPassword, input, publicId('mailbox', account), {
    name: row.name,
    scopes: row.scopes,
  });
  switch (done.kind) {
    case 'added':
      return done.id;
    case 'missing':
      return notFound('mailbox');
    case 'too-many':
      return refuse('conflict', 'Limit reached: the mailbox has 50 passwords. Revoke one first.', {
        resource: 'app password',
      });
  }
}

export const listAppPasswordsOf = operation({
  name: 'list_app_passwords',
  title: 'List app passwords',
  toolset: 'email',
  reach: 'mailbox',
  action: 'read',
  description: 'Lists the app passwords of a mailbox with scopes and last use, never the passwords. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(MailboxArguments),
  output: z.object({ appPasswords: z.array(Shown) }),
  rest: { method: 'GET', path: '/api/email/mailboxes/:mailboxId/app-passwords' },
  async run(call, which) {
    const { id } = await mailboxOf(call, which);
    return { appPasswords: (await call.store.read(listAppPasswords, { account: id })).map(shown) };
  },
});

export const revokeAppPassword = operation({
  name: 'revoke_app_password',
  title: 'Revoke an app password',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description: 'Revokes an app password of a mailbox; sessions opened with it end at once.',
  hints: { destructive: true, idempotent: true },
  rule: oneMailbox,
  input: z.strictObject({ ...MailboxArguments, appPasswordId: Id('credential') }),
  output: z.object({ appPasswordId: z.string(), revoked: z.literal(true) }),
  rest: { method: 'DELETE', path: '/api/email/mailboxes/:mailboxId/app-passwords/:appPasswordId' },
  async run(call, { appPasswordId, ...which }) {
    const { id: account } = await mailboxOf(call, which);
    const id = rowId('credential', appPasswordId) ?? notFound('app password');
    const done = await call.change(removeAppPassword, { account, id }, publicId('mailbox', account), { appPasswordId });
    if (done.kind === 'missing') return notFound('app password');
    call.revoked(account, [id]);
    return { appPasswordId, revoked: true as const };
  },
});

function shown(row: AppPassword): z.output<typeof Shown> {
  return {
    id: publicId('credential', row.id),
    name: row.name,
    scopes: SCOPES.filter((one) => row.scopes.includes(one)),
    readOnly: row.scopes.includes(READ_ONLY),
    person: row.scopes.includes(PERSON),
    createdAt: isoOf(row.createdAt),
    expiresAt: isoOrNull(row.expiresAt),
    lastUsedAt: isoOrNull(row.lastUsedAt),
  };
}
