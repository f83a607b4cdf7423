import { yieldToEventLoop } from '../../limits/event-loop.ts';
import { emailMailboxes } from '../../store/message/visible-entries.ts';
import { access, resolveCreationId } from '../core/access.ts';
import { idOrCreation, list, object, text } from '../core/arguments.ts';
import { BLOB } from '../core/capabilities.ts';
import { MethodError } from '../core/errors.ts';
import { type BlobRef, blobRef, jmapId } from '../core/ids.ts';
import type { JmapMethod, MethodCall } from '../core/method.ts';
import { ReadBudget } from '../email/header-values.ts';
import { tooManyObjects } from '../standard/standard-get.ts';
import { blobExists, emailOf } from './blobs.ts';

/** Types supported by Blob/lookup. RFC 9404 3. */
export const LOOKUP_TYPES = ['Email', 'Thread', 'Mailbox'] as const;

/** Octets that one call reads to find parts of attached messages: each is found by reading the message around it whole. */
const MAX_READ_BYTES = 64 * 1024 * 1024;

type LookupType = (typeof LOOKUP_TYPES)[number];

/** Blob/lookup: objects that reference a blob. Uploads are never referenced: emails get their own blobs. RFC 9404 4.3. */
export const blobLookup: JmapMethod = {
  name: 'Blob/lookup',
  capability: BLOB,
  async run(call, args) {
    const read = object({ accountId: access(call), typeNames: list(text), ids: list(idOrCreation) })(args, '');
    const types = LOOKUP_TYPES.filter((type) => read.typeNames.includes(type));
    checkTypes(read.typeNames);
    const ids = [...new Set(read.ids.map((one) => resolveCreationId(call, one) ?? one))];
    if (ids.length > call.context.limits.maxObjectsInGet) throw tooManyObjects(call);
    const found: { id: string; matchedIds: Record<string, string[]> }[] = [];
    const notFound: string[] = [];
    const budget = new ReadBudget(MAX_READ_BYTES);
    for (const id of ids) {
      const ref = blobRef(read.accountId.account, id);
      if (ref === undefined || !(await blobExists(call.context, read.accountId.account, ref, budget)))
        notFound.push(id);
      else found.push({ id, matchedIds: await matched(call, read.accountId.account, ref, types) });
      await yieldToEventLoop(read.accountId.account);
    }
    return { accountId: args['accountId'], list: found, notFound };
  },
};

function checkTypes(names: readonly string[]): void {
  const unknown = names.find((name) => !(LOOKUP_TYPES as readonly string[]).includes(name));
  if (unknown === undefined) return;
  throw new MethodError('unknownDataType', `Unsupported type "${unknown.slice(0, 100)}" for Blob/lookup.`);
}

async function matched(
  call: MethodCall,
  account: number,
  ref: BlobRef,
  types: readonly LookupType[],
): Promise<Record<string, string[]>> {
  const email = emailOf(ref);
  const entries = email === undefined ? [] : await call.context.store.read(emailMailboxes, { account, email });
  const all: Record<LookupType, string[]> = {
    Email: entries.map(({ email }) => jmapId('email', email)),
    Thread: entries.map(({ thread }) => jmapId('thread', thread)),
    Mailbox: entries.map(({ mailbox }) => jmapId('mailbox', mailbox)),
  };
  return Object.fromEntries(types.map((type) => [type, [...new Set(all[type])]]));
}
