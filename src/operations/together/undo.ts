import { z } from 'zod';
import { jmapId } from '../../../mail/jmap/ids.ts';
import { undoAliases } from '../../../mail/store/alias-undo.ts';
import { undoSenderRules } from '../../../mail/store/sender-rule.ts';
import { accountsChangedBy, undoAgentChanges } from '../../../mail/store/undo-commands.ts';
import { callerPolicy } from '../../agents/caller-policy.ts';
import { publicId, rowId } from '../../ids.ts';
import { undoForwarders } from '../../sending/forwarder-commands.ts';
import { undoTemplates } from '../../sending/template-undo-commands.ts';
import { undoWebhooks } from '../../sending/webhook-undo-commands.ts';
import { listTokens, type TokenRow } from '../../tokens/commands.ts';
import { everyMailbox } from '../about.ts';
import type { Caller } from '../caller.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, isoOf, nextCursor } from '../schemas.ts';
import { allowedAccounts } from '../scope.ts';
import { undoAccess } from './undo-access.ts';

/** Commits of one call; each looks at a slice of messages. */
const MOST_SLICES = 8;

const Kept = z.object({ messageId: z.string(), mailboxId: z.string(), why: z.string() });

export const undoChanges = operation({
  name: 'undo_changes',
  title: 'Undo what a token did',
  toolset: 'org',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Undoes what one token (default: this one) did since a time, 30 days at most: moves, flags, labels, deleted mail, rules, forwards, webhooks, aliases, templates; tokens, API keys and app passwords that it made end. What others changed since stays; kept says why.',
  hints: { destructive: true, idempotent: true },
  input: z.strictObject({
    tokenId: Id('token').optional(),
    passwordId: z
      .string()
      .regex(/^(pwd|mbx)_[1-9]\d{0,14}$/, 'is pwd_1 of an app password, or mbx_1 for that of a mailbox')
      .optional(),
    since: z.iso.datetime({ offset: true }),
    cursor: z
      .string()
      .regex(/^[1-9]\d{0,9}\.\d{1,16}$/, 'is not one that this tool gave')
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
    const mail = await undoMail(call, about, placeOf(cursor));
    if (cursor !== undefined) return { ...mail, ...NO_RULES, accessEnded: 0 };
    const waits = await rulesWait(call);
    const ending = { alsoKeys: !waits, detail: detailOf(about) };
    const accessEnded = await undoAccess(call, { ...about, tenant: call.tenant }, ending);
    const rules = !waits && isUnlimited(call.caller) ? await undoRules(call, about) : NO_RULES;
    return { ...mail, ...rules, accessEnded };
  },
});

/** Of whatever mailbox of the organization it is: it may be gone by now. */
function passwordOf({ caller }: Call, passwordId: string): string {
  if (isOwner(caller)) return passwordId;
  return refuse('out_of_scope', 'What was done with a password is for an owner or admin to undo.');
}

/** A token undoes its own and what tokens did that it made; an owner, an admin or the operator that of any. */
async function tokenOf(call: Call, tokenId: string | undefined): Promise<TokenRow> {
  const { caller, tenant } = call;
  const own = caller.token;
  const id = tokenId === undefined ? own?.id : rowId('token', tokenId);
  if (tokenId === undefined && own === undefined) {
    refuse('invalid_arguments', 'tokenId: say whose changes are to be undone; list_agent_tokens has the tokens.', {
      issues: [{ path: 'tokenId', message: 'missing' }],
    });
  }
  const found = (await call.store.read(listTokens, { organization: tenant })).find((one) => one.id === id);
  if (found === undefined) return notFound('token');
  if (found.id === own?.id || found.createdBy === caller.actor || isOwner(caller)) return found;
  const message = 'A token undoes its own changes and those of tokens that it made; others are for an owner or admin.';
  return refuse('out_of_scope', message);
}

function isOwner({ kind, user, token }: Caller): boolean {
  if (kind === 'user') return user?.role === 'owner' || user?.role === 'admin';
  return kind === 'operator' || token?.owner === true;
}

/** Rules are about more than the mailboxes of a limited token. */
function isUnlimited({ project, service, mailboxes }: Caller): boolean {
  return project === null && service === null && mailboxes === null;
}

/** Those of one whose rules wait for a person are a person's to undo, its keys and passwords too. */
async function rulesWait(call: Call): Promise<boolean> {
  return (await callerPolicy(call, await everyMailbox(call))).policy.rulesWait;
}

interface About {
  who: string;
  /** ms UTC. */
  since: number;
}

/** Where the page before ended. */
interface Place {
  account: number;
  email: number;
}

function placeOf(cursor: string | undefined): Place {
  const [account = 0, email = 0] = cursor?.split('.').map(Number) ?? [];
  return { account, email };
}

interface UndoneMail {
  undone: number;
  kept: z.output<typeof Kept>[];
  nextCursor: string | null;
}

async function undoMail(call: Call, about: About, from: Place): Promise<UndoneMail> {
  const allowed = await allowedAccounts(call);
  const changed = await call.store.read(accountsChangedBy, { tenant: call.tenant, ...about });
  const all: UndoneMail = { undone: 0, kept: [], nextCursor: null };
  let slices = MOST_SLICES;
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

/** Answers behind which message the next slice begins; null: that was all of this mailbox. */
async function undoSlice(
  call: Call,
  input: About & { account: number; after: number },
  all: UndoneMail,
): Promise<number | null> {
  const mailboxId = publicId('mailbox', input.account);
  const { undone, kept, next } = await call.change(undoAgentChanges, input, mailboxId, detailOf(input));
  all.undone += undone;
  all.kept.push(...kept.map(({ email, why }) => ({ messageId: jmapId('email', email), mailboxId, why })));
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
