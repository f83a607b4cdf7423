import type { Caller } from '../../operations/caller.ts';
import { operations } from '../../operations/loaded.ts';
import type { World } from '../../operations/world.ts';

const MOST = 100;

/** What an argument of a template or a prompt can be: mailboxes and domains that the caller may see; nothing of others. */
export async function complete(world: World, caller: Caller, name: string, begun: string): Promise<object> {
  const values = await valuesOf(world, caller, name);
  const start = begun.toLowerCase();
  const fitting = values.filter(({ value, also }) => value.startsWith(start) || also.startsWith(start));
  const shown = fitting.slice(0, MOST).map(({ value }) => value);
  return { completion: { values: shown, total: fitting.length, hasMore: fitting.length > MOST } };
}

interface Value {
  value: string;
  /** What it can be begun with as well. */
  also: string;
}

async function valuesOf(world: World, caller: Caller, name: string): Promise<Value[]> {
  switch (name) {
    case 'mailboxId':
      return (await mailboxes(world, caller)).map(({ id, address }) => ({ value: id, also: address }));
    case 'mailbox':
      return (await mailboxes(world, caller)).map(({ id, address }) => ({ value: address, also: id }));
    case 'domain':
      return (await listed(world, caller, 'list_email_domains', 'domains')).map(({ domain, id }) => ({
        value: String(domain),
        also: String(id),
      }));
    default:
      return [];
  }
}

async function mailboxes(world: World, caller: Caller): Promise<{ id: string; address: string }[]> {
  const all = await listed(world, caller, 'list_emails', 'mailboxes');
  return all.map(({ id, address }) => ({ id: String(id), address: String(address) }));
}

/** Pages of a list that are looked through. */
const MOST_PAGES = 20;

/** The items of a list; a caller who may not see it is offered nothing. */
async function listed(world: World, caller: Caller, name: string, key: string): Promise<Record<string, unknown>[]> {
  const { perform, findOperation } = await operations();
  const operation = findOperation(name);
  if (operation === undefined) return [];
  const items: Record<string, unknown>[] = [];
  let cursor: unknown;
  for (let page = 0; page < MOST_PAGES && cursor !== null; page++) {
    const given = { limit: MOST, ...(typeof cursor === 'string' && { cursor }) };
    const outcome = await perform(world, operation, caller, given);
    if (outcome.kind === 'refused') return items;
    items.push(...(outcome.result[key] as Record<string, unknown>[]));
    cursor = outcome.result['nextCursor'] ?? null;
  }
  return items;
}
