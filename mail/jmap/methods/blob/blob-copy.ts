import { access } from '../../access.ts';
import { idOrCreation, list, object } from '../../arguments.ts';
import { keepOctets, type MadeBlob } from '../../blob/keep-octets.ts';
import { openShown } from '../../blobs.ts';
import { CORE } from '../../capabilities.ts';
import { realId } from '../../created.ts';
import { ReadBudget } from '../../email/read-budget.ts';
import type { SetError } from '../../errors.ts';
import { fromAccess } from '../../from-access.ts';
import { blobRef } from '../../ids.ts';
import type { Call, Method } from '../../method.ts';
import { refusable } from '../../set-refusal.ts';
import { checkCount, type Outcome, refused } from '../../standard-set.ts';

/** Octets of encoded parts that one call may read only to know how long they are. */
const MOST_OPENED = 64 * 1024 * 1024;

/** Blob/copy: each blob alone, as far as the other account has room. RFC 8620 6.3. */
export const blobCopy: Method = {
  name: 'Blob/copy',
  capability: CORE,
  async run(call, args) {
    const { fromAccountId, accountId, blobIds } = object({
      fromAccountId: fromAccess(call),
      accountId: access(call, 'write'),
      blobIds: list(idOrCreation),
    })(args, '');
    checkCount(call, blobIds.length);
    const copied = new Map<string, string>();
    const notCopied = new Map<string, SetError>();
    const budget = new ReadBudget(MOST_OPENED);
    const where = { from: fromAccountId.account, to: accountId.account, budget };
    for (const id of new Set(blobIds)) {
      const outcome = await refusable(call.desk.log, () => copy(call, where, id));
      if (outcome.kind === 'done') copied.set(id, outcome.value.id);
      else notCopied.set(id, outcome.error);
    }
    return {
      fromAccountId: args['fromAccountId'],
      accountId: args['accountId'],
      copied: copied.size === 0 ? null : Object.fromEntries(copied),
      notCopied: notCopied.size === 0 ? null : Object.fromEntries(notCopied),
    };
  },
};

async function copy(
  call: Call,
  { from, to, budget }: { from: number; to: number; budget: ReadBudget },
  given: string,
): Promise<Outcome<MadeBlob>> {
  const id = realId(call, given);
  const ref = id === undefined ? undefined : blobRef(from, id);
  const blob = ref && (await openShown(call, from, ref, budget));
  if (blob === undefined) return refused('notFound', `There is no blob ${given} in the account that is copied from.`);
  const { size, type } = blob;
  return keepOctets(call.desk, { account: to, type }, { size, stream: () => blob.stream(0, size) });
}
