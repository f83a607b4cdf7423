import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { perform } from '../../../src/operations/perform.ts';
import type { Operation } from '../../../src/core/operation.ts';
import { EVERYTHING, references, sampleOf } from '../../support/operation-samples.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
beforeAll(async () => {
  tenants = await twoTenants();
});
afterAll(() => tenants[Symbol.asyncDispose]());

/** Destructive operations come last, each before those that delete a resource on which its own depends. */
const LAST = ['remove_email_forwarder', 'undo_changes', 'detach_email_from_service', 'delete_service', 'delete_email'];
const rank = (one: Operation): number => LAST.indexOf(one.name) + (one.hints.destructive ? 1 : 0);

/** Operations that a good call does not end with success here. */
const REFUSED: Readonly<Record<string, string>> = {
  apply_managed_dns: 'conflict',
  // Its messages are shown to everybody.
  request_release: 'conflict',
  // For people.
  release_message: 'action_not_allowed',
  share_folder: 'action_not_allowed',
  list_folder_shares: 'action_not_allowed',
  // For people who own the organization: tokens are not owners.
  resume_sender: 'action_not_allowed',
  set_sign_in_policy: 'action_not_allowed',
  ...Object.fromEntries(EVERYTHING.filter((one) => one.operatorOnly === true).map((one) => [one.name, 'out_of_scope'])),
};

/** Without these, a matrix that finds everything refused would find it for another reason. */
describe('whoever may, can', () => {
  const named = references().filter(({ operation }) => operation.action !== 'anonymous');

  test.each(EVERYTHING.toSorted((x, y) => rank(x) - rank(y)))('$name', async (operation) => {
    const { a, world } = tenants;
    const own = operation.name === 'remove_email_domain' ? { ...a.side, domainId: await empty() } : a.main;
    // The other names for the same things first: the sample itself may end them.
    for (const { field, value, args } of named.filter((one) => one.operation === operation)) {
      // Holding what is held already finds nothing that waits.
      const once = operation.hints.destructive || operation.name.endsWith('_queue_item');
      if (once || !operation.hints.idempotent) continue;
      const said = await perform(world, operation, a.caller, args(own, value(own)));
      expect(said.kind === 'done' ? 'done' : said.refusal.error, field).toBe(REFUSED[operation.name] ?? 'done');
    }
    const said = await perform(world, operation, a.caller, sampleOf(operation, own));
    expect(said.kind === 'done' ? 'done' : said.refusal).toEqual(
      operation.name in REFUSED ? expect.objectContaining({ error: REFUSED[operation.name] }) : 'done',
    );
  });
});

async function empty(): Promise<string> {
  const { domain } = await tenants.do('add_email_domain', { domain: 'empty.test' });
  return (domain as { id: string }).id;
}
