import type { Caller } from '../../core/caller.ts';
import { operations } from '../../operations/lazy-catalogue.ts';
import type { AppContext } from '../../core/app-context.ts';

const MAX_VALUES = 100;

/** Completes arguments of templates and prompts: mailboxes and domains that are visible to the caller. */
export async function complete(context: AppContext, caller: Caller, name: string, begun: string): Promise<object> {
  const values = await valuesOf(context, caller, name);
  const start = begun.toLowerCase();
  const fitting = values.filter(({ value, also }) => value.startsWith(start) || also.startsWith(start));
  const shown = fitting.slice(0, MAX_VALUES).map(({ value }) => value);
  return { completion: { values: shown, total: fitting.length, hasMore: fitting.length > MAX_VALUES } };
}

interface Value {
  value: string;
  /** Alternative text that matches the prefix. */
  also: string;
}

async function valuesOf(context: AppContext, caller: Caller, name: string): Promise<Value[]> {
  switch (name) {
    case 'mailboxId':
      return (await mailboxes(context, caller)).map(({ id, address }) => ({ value: id, also: address }));
    case 'mailbox':
      return (await mailboxes(context, caller)).map(({ id, address }) => ({ value: address, also: id }));
    case 'domain':
      return (await listed(context, caller, 'list_email_domains', 'domains')).map(({ domain, id }) => ({
        value: String(domain),
        also: String(id),
      }));
    default:
      return [];
  }
}

async function mailboxes(context: AppContext, caller: Caller): Promise<{ id: string; address: string }[]> {
  const all = await listed(context, caller, 'list_emails', 'mailboxes');
  return all.map(({ id, address }) => ({ id: String(id), address: String(address) }));
}

/** Pages of a list that are read. */
const MAX_PAGES = 20;

/** All items of a list operation; empty if the caller may not call it. */
async function listed(
  context: AppContext,
  caller: Caller,
  name: string,
  key: string,
): Promise<Record<string, unknown>[]> {
  const { perform, findOperation } = await operations();
  const operation = findOperation(name);
  if (operation === undefined) return [];
  const items: Record<string, unknown>[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES && cursor !== null; page++) {
    const given = { limit: MAX_VALUES, ...(typeof cursor === 'string' && { cursor }) };
    const outcome = await perform(context, operation, caller, given);
    if (outcome.kind === 'refused') return items;
    items.push(...(outcome.result[key] as Record<string, unknown>[]));
    cursor = outcome.result['nextCursor'] ?? null;
  }
  return items;
}
