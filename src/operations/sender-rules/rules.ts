import { z } from 'zod';
import { networkPattern } from '../../../mail/policy/network-pattern.ts';
import { namePattern } from '../../../mail/policy/sender-rules.ts';
import {
  addSenderRule,
  MOST_SENDER_RULES,
  removeSenderRule,
  senderRule,
  senderRulesOf,
  type StoredSenderRule,
} from '../../../mail/store/sender-rule.ts';
import { publicId, rowId } from '../../ids.ts';
import { everyMailbox } from '../about.ts';
import { agentOf } from '../caller.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, isoOf, Line, nextCursor, Page, pageOf } from '../schemas.ts';
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
    'Allows or blocks senders (direction in), or blocks recipients (out), for one mailbox, or without mailboxId for the whole organization. pattern: address, domain, *.domain, or for in a network. An allowed name counts only when DMARC proves it. The same pattern again changes its kind.',
  hints: { idempotent: true },
  input: z.strictObject({
    direction: Direction.default('in'),
    kind: Kind,
    pattern: Line(1, 320),
    mailboxId: Id('mailbox').optional(),
    note: Line(1, 200).optional(),
  }),
  output: z.object({ rule: Shown }),
  rest: { method: 'POST', path: '/api/email/sender-rules', status: 201 },
  rule: async (call, { kind, mailboxId }) => {
    if (kind === 'block') return undefined;
    const account = await scopeOf(call, mailboxId);
    return account === null ? everyMailbox(call) : [account];
  },
  async run(call, { direction, kind, pattern: text, mailboxId, note }) {
    if (direction === 'out' && kind === 'allow') {
      refuse('invalid_arguments', 'Mail that leaves goes to everybody who is not blocked: add rules of kind block.', {
        issues: [{ path: 'kind', message: 'must be block where direction is out' }],
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
        return refuse('conflict', `This organization has ${MOST_SENDER_RULES} rules, as many as it may: remove some.`, {
          resource: 'sender rule',
        });
    }
  },
});

/** Null: the whole organization, which a limited token has no say in. */
async function scopeOf(call: Call, mailboxId: string | undefined): Promise<number | null> {
  const limited = call.caller.project !== null || call.caller.mailboxes !== null;
  if (mailboxId === undefined && !limited) return null;
  return (await mailboxOf(call, { mailboxId })).id;
}

function patternOf(text: string, direction: 'in' | 'out'): string {
  const at = text.lastIndexOf('@');
  // A local part may have one, and nobody's has: such a rule would be about no one.
  if (text.slice(0, Math.max(0, at)).includes('*')) {
    const why = `pattern cannot have a * before the @: ${text.slice(at + 1)} is about all addresses of that domain.`;
    refuse('invalid_arguments', why, { issues: [{ path: 'pattern', message: 'has a * before the @' }] });
  }
  const pattern = namePattern(text) ?? (direction === 'in' ? networkPattern(text) : undefined);
  if (pattern !== undefined) return pattern;
  const forms = 'an address (ann@shop.example), a domain (shop.example), all domains under one (*.shop.example)';
  const network = direction === 'in' ? ' or a network (192.0.2.0/24, 2001:db8::/32)' : '';
  return refuse('invalid_arguments', `pattern must be ${forms}${network}.`, {
    issues: [{ path: 'pattern', message: 'is no address, domain, *.domain or network' }],
  });
}

export const listSenderRules = operation({
  name: 'list_sender_rules',
  title: 'List sender rules',
  toolset: 'email',
  reach: 'mailbox',
  action: 'read',
  description:
    'Lists who is allowed or blocked: rules of mailboxes, and those of the whole organization (mailboxId null), which hold for each of them and are not shown to limited tokens. The most exact rule decides, then the mailbox before the organization, then block before allow. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ mailboxId: Id('mailbox').optional(), direction: Direction.optional(), ...Page }),
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
  description: 'Removes a rule: who was blocked by it may write again, who was allowed is judged like everybody.',
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

/** The rule that is meant; limited tokens have a say in those of their mailboxes only. */
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
