import { z } from 'zod';
import { networkPattern } from '../../../mail/policy/network-pattern.ts';
import { namePattern } from '../../../mail/policy/sender-rules.ts';
import {
  addSenderRule,
  MAX_SENDER_RULES,
  removeSenderRule,
  senderRule,
  senderRulesOf,
  type StoredSenderRule,
} from '../../../mail/store/filter/sender-rule.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { everyMailbox } from '../affected-mailboxes.ts';
import { agentOf } from '../../core/caller.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOf, Line, nextCursor, Page, pageOf } from '../../core/schemas.ts';
import { allowedAccounts, mailboxOf, outOfScope } from '../scope.ts';

const Direction = z.enum(['in', 'out']);
const Kind = z.enum(['allow', 'block']);

const Shown = z.object({
  id: z.string(),
  direction: Direction,
  kind: Kind,
  pattern: z.string(),
  mailboxId: z.string().nullable(),
  note: z.string().nullable(),
  createdAt: z.string(),
});

export const addSenderRuleOf = operation({
  name: 'add_sender_rule',
  title: 'Allow or block a sender',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Allows or blocks senders (direction in) or blocks recipients (out), for one mailbox or the whole organization. An allowed name counts only when DMARC proves it. Adding the same pattern again changes its kind.',
  hints: { idempotent: true },
  input: z.strictObject({
    direction: Direction.default('in').describe('in: senders; out: recipients'),
    kind: Kind.describe('Allow or block'),
    pattern: Line(1, 320).describe('Address, domain, *.domain, or for in a network'),
    mailboxId: Id('mailbox', 'Default: whole organization').optional(),
    note: Line(1, 200).describe('For people').optional(),
  }),
  output: z.object({ rule: Shown }),
  rest: { method: 'POST', path: '/api/email/sender-rules', status: 201 },
  rule: async (call, { mailboxId }) => {
    const account = await scopeOf(call, mailboxId);
    return account === null ? everyMailbox(call) : [account];
  },
  async run(call, { direction, kind, pattern: text, mailboxId, note }) {
    if (direction === 'out' && kind === 'allow') {
      refuse('invalid_arguments', 'Outgoing mail is allowed unless blocked: use kind block.', {
        issues: [{ path: 'kind', message: 'must be block with direction out' }],
      });
    }
    const account = await scopeOf(call, mailboxId);
    const pattern = patternOf(text, direction);
    const by = agentOf(call.caller);
    const row = { tenant: call.tenant, account, outward: direction === 'out', kind, pattern, note: note ?? '', by };
    const target = account === null ? publicId('organization', call.tenant) : publicId('mailbox', account);
    const done = await call.change(addSenderRule, row, target, { direction, kind, pattern });
    switch (done.kind) {
      case 'added':
        return { rule: shown(await ruleOf(call, publicId('senderRule', done.id))) };
      case 'no-account':
        return notFound('mailbox');
      case 'too-many':
        return refuse(
          'conflict',
          `Limit reached: this organization has ${MAX_SENDER_RULES} rules. Remove some first.`,
          {
            resource: 'sender rule',
          },
        );
    }
  },
});

/** Null: the whole organization; limited tokens cannot change its rules. */
async function scopeOf(call: Call, mailboxId: string | undefined): Promise<number | null> {
  const limited = call.caller.project !== null || call.caller.mailboxes !== null;
  if (mailboxId === undefined && !limited) return null;
  return (await mailboxOf(call, { mailboxId })).id;
}

function patternOf(text: string, direction: 'in' | 'out'): string {
  const at = text.lastIndexOf('@');
  // A local part may contain a * but nobody's does: such a rule would match nobody.
  if (text.slice(0, Math.max(0, at)).includes('*')) {
    const why = `pattern must not have a * before the @: use ${text.slice(at + 1)} for all addresses of that domain.`;
    refuse('invalid_arguments', why, { issues: [{ path: 'pattern', message: 'has a * before the @' }] });
  }
  const pattern = namePattern(text) ?? (direction === 'in' ? networkPattern(text) : undefined);
  if (pattern !== undefined) return pattern;
  const forms = 'an address (ann@shop.example), a domain (shop.example), all domains under one (*.shop.example)';
  const network = direction === 'in' ? ' or a network (192.0.2.0/24, 2001:db8::/32)' : '';
  return refuse('invalid_arguments', `pattern must be ${forms}${network}.`, {
    issues: [{ path: 'pattern', message: 'is not an address, domain, *.domain or network' }],
  });
}

export const listSenderRules = operation({
  name: 'list_sender_rules',
  title: 'List sender rules',
  toolset: 'email',
  reach: 'mailbox',
  action: 'read',
  description:
    'Lists allow and block rules of mailboxes and of the whole organization (mailboxId null); the latter apply to every mailbox and are hidden from limited tokens. Precedence: most specific pattern, then mailbox before organization, then block before allow. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    mailboxId: Id('mailbox').optional(),
    direction: Direction.describe('Only these').optional(),
    ...Page,
  }),
  output: z.object({ rules: z.array(Shown), nextCursor }),
  rest: { method: 'GET', path: '/api/email/sender-rules' },
  async run(call, { mailboxId, direction, ...page }) {
    const allowed = await allowedAccounts(call);
    const accounts = mailboxId === undefined ? allowed : [(await mailboxOf(call, { mailboxId })).id];
    const rows = await call.store.read(senderRulesOf, {
      tenant: call.tenant,
      accounts,
      shared: allowed === null,
      outward: direction === undefined ? null : direction === 'out',
      after: Number(page.cursor ?? 0) || 0,
      limit: page.limit + 1,
    });
    const { rows: shownRows, nextCursor: next } = pageOf(rows, page);
    return { rules: shownRows.map(shown), nextCursor: next };
  },
});

export const removeSenderRuleOf = operation({
  name: 'remove_sender_rule',
  title: 'Remove a sender rule',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description: 'Removes a rule: blocked senders may write again, allowed ones are filtered normally.',
  hints: { destructive: true, idempotent: true },
  input: z.strictObject({ ruleId: Id('senderRule') }),
  output: z.object({ removed: z.literal(true) }),
  rest: { method: 'DELETE', path: '/api/email/sender-rules/:ruleId' },
  rule: async (call, { ruleId }) => {
    const { kind, account } = await ruleOf(call, ruleId);
    if (kind === 'allow') return undefined;
    return account === null ? everyMailbox(call) : [account];
  },
  async run(call, { ruleId }) {
    const { id, kind, pattern } = await ruleOf(call, ruleId);
    const done = await call.change(removeSenderRule, { id, tenant: call.tenant, by: agentOf(call.caller) }, ruleId, {
      kind,
      pattern,
    });
    if (done.kind === 'missing') return notFound('sender rule');
    return { removed: true as const };
  },
});

/** Finds a rule; limited tokens may only change rules of their mailboxes. */
async function ruleOf(call: Call, ruleId: string): Promise<StoredSenderRule> {
  const id = rowId('senderRule', ruleId) ?? 0;
  const found = await call.store.read(senderRule, { tenant: call.tenant, id });
  if (found === undefined) return notFound('sender rule');
  const allowed = await allowedAccounts(call);
  if (allowed !== null && (found.account === null || !allowed.includes(found.account))) outOfScope(call.caller);
  return found;
}

function shown(row: StoredSenderRule): z.output<typeof Shown> {
  return {
    id: publicId('senderRule', row.id),
    direction: row.outward ? 'out' : 'in',
    kind: row.kind,
    pattern: row.pattern,
    mailboxId: row.account === null ? null : publicId('mailbox', row.account),
    note: row.note === '' ? null : row.note,
    createdAt: isoOf(row.createdAt),
  };
}
