import { setImmediate as turn } from 'node:timers/promises';
import { rowId } from '../../src/core/ids.ts';
import type { Caller } from '../../src/core/caller.ts';
import type { TestContext } from './world.ts';
import type { CallerWait } from '../../src/waiting/caller-wait.ts';
import { deliverMail } from './deliver-mail.ts';
import { type Tenants, twoTenants } from './tenants.ts';

/** The mailbox that a test waits for, in a world with others. */
export interface Awaited extends AsyncDisposable {
  tenants: Tenants;
  account: number;
  mailbox: string;
  address: string;
  /** Delivers a message to it. */
  comes(text: string, more?: Partial<Parameters<typeof deliverMail>[1]>): Promise<void>;
}

export async function awaitedMailbox(): Promise<Awaited> {
  const tenants = await twoTenants();
  const { mailboxId: mailbox, address } = tenants.a.main;
  const account = rowId('mailbox', mailbox) ?? 0;
  return {
    tenants,
    account,
    mailbox,
    address,
    comes: (text, more = {}) => deliverMail(tenants.world.store, { account, to: address, ...more }, text),
    [Symbol.asyncDispose]: () => tenants[Symbol.asyncDispose](),
  };
}

/** Resolves when so many wait. */
export async function waiting({ waits }: TestContext, count: number): Promise<void> {
  while (waits.size !== count) await turn();
}

/** Waits that one credential may have. */
const OF_ONE = 100;
let credential = 900_000;

/** Takes so many places for an organization, under credentials that nobody else uses; throws where there is none. */
export async function takePositions({ waits }: TestContext, caller: Caller, count: number): Promise<CallerWait[]> {
  const queried = { account: undefined, seconds: 300, audience: undefined };
  const all: CallerWait[] = [];
  while (all.length < count) {
    if (all.length % OF_ONE === 0) credential++;
    const wait = await waits.begin({ ...queried, caller: { ...caller, actor: `tok_${credential}` } });
    if (wait === undefined) throw new Error(`no place after ${all.length}`);
    all.push(wait);
  }
  return all;
}
