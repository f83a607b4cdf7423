import { access } from '../../access.ts';
import { idOrCreation, list, object, text } from '../../arguments.ts';
import { blobExists } from '../../blobs.ts';
import { LOOKED_UP, type LookedUp } from '../../blob/looked-up.ts';
import { BLOB } from '../../capabilities.ts';
import { realId } from '../../created.ts';
import { MethodError } from '../../errors.ts';
import { type BlobRef, blobRef, jmapId } from '../../ids.ts';
import type { Call, Method } from '../../method.ts';
import { tooMany } from '../../standard-get.ts';
import { emailPlaces } from '../../../store/shown-entries.ts';

/** Blob/lookup: what has a blob in it. An upload is in nothing: what is made of it gets blobs of its own. RFC 9404 4.3. */
export const blobLookup: Method = {
  name: 'Blob/lookup',
  capability: BLOB,
  async run(call, args) {
    const read = object({ accountId: access(call), typeNames: list(text), ids: list(idOrCreation) })(args, '');
    const types = LOOKED_UP.filter((type) => read.typeNames.includes(type));
    checkTypes(read.typeNames);
    const ids = [...new Set(read.ids.map((one) => realId(call, one) ?? one))];
    if (ids.length > call.desk.limits.maxObjectsInGet) throw tooMany(call);
    const found: { id: string; matchedIds: Record<string, string[]> }[] = [];
    const notFound: string[] = [];
    for (const id of ids) {
      const ref = blobRef(read.accountId.account, id);
      if (ref === undefined || !(await blobExists(call.desk, read.accountId.account, ref))) notFound.push(id);
      else found.push({ id, matchedIds: await matched(call, read.accountId.account, ref, types) });
    }
    return { accountId: args['accountId'], list: found, notFound };
  },
};

function checkTypes(names: readonly string[]): void {
  const unknown = names.find((name) => !(LOOKED_UP as readonly string[]).includes(name));
  if (unknown === undefined) return;
  throw new MethodError('unknownDataType', `Blobs are not looked up in "${unknown.slice(0, 100)}".`);
}

/** The email that a blob is of, however deep inside. */
function emailOf(ref: BlobRef): number | undefined {
  if (ref.kind === 'inner') return emailOf(ref.of);
  return ref.kind === 'upload' ? undefined : ref.email;
}

async function matched(
  call: Call,
  account: number,
  ref: BlobRef,
  types: readonly LookedUp[],
): Promise<Record<string, string[]>> {
  const email = emailOf(ref);
  const places = email === undefined ? [] : await call.desk.store.read(emailPlaces, { account, email });
  const all: Record<LookedUp, string[]> = {
    Email: places.map(({ email }) => jmapId('email', email)),
    Thread: places.map(({ thread }) => jmapId('thread', thread)),
    Mailbox: places.map(({ mailbox }) => jmapId('mailbox', mailbox)),
  };
  return Object.fromEntries(types.map((type) => [type, [...new Set(all[type])]]));
}
