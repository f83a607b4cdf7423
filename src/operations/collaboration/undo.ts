import { clearWords } from '../../agents/tainted-words-commands.ts';
import { z } from 'zod';
import { undoAliases } from '../../../mail/agents/undo/alias-undo.ts';
import { undoSenderRules, undoAppPasswords } from '../../../mail/agents/undo/rule-undo.ts';
import { accountsChangedBy, undoAgentChanges } from '../../../mail/agents/undo/email-undo.ts';
import { ALL_WORDS } from '../../agents/tainted-words.ts';
import { callerPolicy } from '../../agents/caller-policy.ts';
import { publicMessageId } from '../../core/message-ids.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { undoForwarders } from '../../sending/forwarder-commands.ts';
import { undoTemplates } from '../../sending/template-commands.ts';
import { undoWebhooks } from '../../webhooks/webhook-commands.ts';
import { listTokens } from '../../tokens/commands.ts';
import { everyMailbox } from '../affected-mailboxes.ts';
import type { Caller, TokenRow } from '../../core/caller.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOf, nextCursor, Time, CURSOR } from '../../core/schemas.ts';
import { allowedAccounts } from '../scope.ts';
import type { RuleUndoRequest } from '../../../mail/agents/undo/rule-changes.ts';
import { undoApiKeys } from '../../sending/key-commands.ts';
import { undoTokens } from '../../tokens/undo-commands.ts';

/** Maximum commits per call; each processes a slice of messages. */
const MAX_SLICES = 8;

const Kept = z.object({ messageId: z.string(), mailboxId: z.string(), why: z.string() });

export const undoChanges = operation({
  name: 'undo_changes',
  title: 'Undo the changes of a token',
  toolset: 'org',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Undoes the changes of one token since a time (30 days at most): moves, flags, labels, deleted mail, rules, forwards, webhooks, aliases, templates; revokes tokens, API keys and app passwords that it created. Later changes by others stay; kept says why.',
  hints: { destructive: true, idempotent: true },
  input: z.strictObject({
    tokenId: Id('token', 'Default: this token').optional(),
    passwordId: z
      .string()
      .regex(/^(pwd|mbx)_[1-9]\d{0,14}$/, 'must be pwd_1 (app password) or mbx_1 (password of the mailbox)')
      .describe('Instead: app password or mailbox')
      .optional(),
    since: Time('Start'),
    cursor: z
      .string()
      .regex(/^[1-9]\d{0,9}\.\d{1,16}$/, 'must be the nextCursor of undo_changes')
      .describe(CURSOR)
      .optional(),
  }),
  output: z.object({
    undone: z.number(),
    rulesUndone: z.number(),
    rulesKept: z.number(),
    accessEnded: z.number(),
    kept: z.array(Kept),
    nextCursor,
  }),
  rest: { method: 'POST', path: '/api/undo' },
  async run(call, { tokenId, passwordId, since, cursor }) {
    const who =
      passwordId === undefined ? publicId('token', (await tokenOf(call, tokenId)).id) : passwordOf(call, passwordId);
    const about = { who, since: Date.parse(since) };
    const mail = await undoMail(call, about, parseCursor(cursor));
    if (cursor !== undefined) return { ...mail, ...NO_RULES, accessEnded: 0 };
    if (call.caller.kind !== 'token') await call.store.write(clearWords, { tenant: call.tenant, kinds: ALL_WORDS });
    const waits = await rulesWait(call);
    const ending = { alsoKeys: !waits, detail: detailOf(about) };
    const accessEnded = await undoAccess(call, { ...about, tenant: call.tenant }, ending);
    const rules = !waits && isUnlimited(call.caller) ? await undoRules(call, about) : NO_RULES;
    return { ...mail, ...rules, accessEnded };
  },
});

/** Returns the password's id unchecked: its mailbox may be deleted by now. */
function passwordOf({ caller }: Call, passwordId: string): string {
  if (isOwner(caller)) return passwordId;
  return refuse('out_of_scope', 'Only an owner or admin can undo the changes of a password.');
}

/**
 * Finds the token. A token may undo its own changes and those of tokens that it created; an owner, admin or the
 * operator those of any token.
 */
async function tokenOf(call: Call, tokenId: string | undefined): Promise<TokenRow> {
  const { caller, tenant } = call;
  const own = caller.token;
  const id = tokenId === undefined ? own?.id : rowId('token', tokenId);
  if (tokenId === undefined && own === undefined) {
    refuse(
      'invalid_arguments',
      'tokenId is missing: name the token whose changes are to be undone (list_agent_tokens).',
      {
        issues: [{ path: 'tokenId', message: 'missing' }],
      },
    );
  }
  const found = (await call.store.read(listTokens, { organization: tenant })).find((one) => one.id === id);
  if (found === undefined) return notFound('token');
  if (found.id === own?.id || found.createdBy === caller.actor || isOwner(caller)) return found;
  const message =
    'A token can only undo its own changes and those of tokens that it created; ask an owner or admin for others.';
  return refuse('out_of_scope', message);
}

function isOwner({ kind, user, token }: Caller): boolean {
  if (kind === 'user') return user?.role === 'owner' || user?.role === 'admin';
  return kind === 'operator' || token?.owner === true;
}

/** True if the token may undo rules, which affect more than the mailboxes of a limited token. */
function isUnlimited({ project, service, mailboxes }: Caller): boolean {
  return project === null && service === null && mailboxes === null;
}

/** True if rule changes of the caller need approval: then only a person undoes its rules, keys and passwords. */
async function rulesWait(call: Call): Promise<boolean> {
  return (await callerPolicy(call, await everyMailbox(call))).policy.rulesWait;
}

interface About {
  who: string;
  /** Milliseconds UTC. */
  since: number;
}

/** Position after the previous page. */
interface UndoPosition {
  account: number;
  email: number;
}

function parseCursor(cursor: string | undefined): UndoPosition {
  const [account = 0, email = 0] = cursor?.split('.').map(Number) ?? [];
  return { account, email };
}

interface UndoneMail {
  undone: number;
  kept: z.output<typeof Kept>[];
  nextCursor: string | null;
}

async function undoMail(call: Call, about: About, from: UndoPosition): Promise<UndoneMail> {
  const allowed = await allowedAccounts(call);
  const changed = await call.store.read(accountsChangedBy, { tenant: call.tenant, ...about });
  const all: UndoneMail = { undone: 0, kept: [], nextCursor: null };
  let slices = MAX_SLICES;
  for (const account of changed) {
    if (account < from.account || allowed?.includes(account) === false) continue;
    let after: number | null = account === from.account ? from.email : 0;
    while (after !== null) {
      if (slices-- === 0) return { ...all, nextCursor: `${account}.${after}` };
      after = await undoSlice(call, { ...about, account, after }, all);
    }
  }
  return all;
}

/** Returns the message after which the next slice begins; null: the mailbox is finished. */
async function undoSlice(
  call: Call,
  input: About & { account: number; after: number },
  all: UndoneMail,
): Promise<number | null> {
  const mailboxId = publicId('mailbox', input.account);
  const { undone, kept, next } = await call.change(undoAgentChanges, input, mailboxId, detailOf(input));
  all.undone += undone;
  all.kept.push(...kept.map(({ email, why }) => ({ messageId: publicMessageId(email), mailboxId, why })));
  return next;
}

function detailOf({ who, since }: About): { token: string; since: string } {
  return { token: who, since: isoOf(since) };
}

const NO_RULES = { rulesUndone: 0, rulesKept: 0 };

async function undoRules(call: Call, about: About): Promise<typeof NO_RULES> {
  const input = { ...about, tenant: call.tenant };
  const target = publicId('organization', call.tenant);
  const senders = await call.change(undoSenderRules, input, target, { ...detailOf(about), rules: 'senders' });
  const forwards = await call.change(undoForwarders, input, target, { ...detailOf(about), rules: 'forwards' });
  const webhooks = await call.change(undoWebhooks, input, target, { ...detailOf(about), rules: 'webhooks' });
  const aliases = await call.change(undoAliases, input, target, { ...detailOf(about), rules: 'aliases' });
  const templates = await call.change(undoTemplates, input, target, { ...detailOf(about), rules: 'templates' });
  const all = [senders, forwards, webhooks, aliases, templates];
  return {
    rulesUndone: all.reduce((sum, { undone }) => sum + undone, 0),
    rulesKept: all.reduce((sum, { kept }) => sum + kept, 0),
  };
}

type Detail = Readonly<Record<string, string>>;

/**
 * Revokes the access that a token granted: tokens that it created, and with `alsoKeys` the email API keys and app
 * passwords that it or they created. Returns how many were active.
 */
async function undoAccess(
  call: Call,
  about: RuleUndoRequest,
  { alsoKeys, detail }: { alsoKeys: boolean; detail: Detail },
): Promise<number> {
  const target = publicId('organization', call.tenant);
  // Tokens first, so that none of them creates anything meanwhile.
  const { ended, makers } = await call.change(undoTokens, about, target, { ...detail, access: 'tokens' });
  let revoked = ended;
  for (const who of alsoKeys ? makers : []) {
    revoked += await undoKeys(call, { ...about, who }, detail);
    revoked += await undoPasswords(call, { ...about, who }, detail);
  }
  return revoked;
}

async function undoKeys(call: Call, about: RuleUndoRequest, detail: Detail): Promise<number> {
  const target = publicId('organization', call.tenant);
  let all = 0;
  for (let more = true; more;) {
    const done = await call.change(undoApiKeys, about, target, { ...detail, access: 'keys', madeBy: about.who });
    all += done.revoked;
    more = done.more;
  }
  return all;
}

/** Revokes app passwords; their sessions end at once. */
async function undoPasswords(call: Call, about: RuleUndoRequest, detail: Detail): Promise<number> {
  const target = publicId('organization', call.tenant);
  let all = 0;
  for (let more = true; more;) {
    const done = await call.change(undoAppPasswords, about, target, {
      ...detail,
      access: 'passwords',
      madeBy: about.who,
    });
    for (const { account, id } of done.revoked) call.revoked(account, [id]);
    all += done.revoked.length;
    more = done.more;
  }
  return all;
}
