import { setImmediate as turn } from 'node:timers/promises';
import { access } from '../../access.ts';
import { idOrCreation, list, nullable, object, text, unsigned, wrong } from '../../arguments.ts';
import { isBlobProperty, shownBlob } from '../../blob/shown-blob.ts';
import { openShown } from '../../blobs.ts';
import { BLOB } from '../../capabilities.ts';
import { realId } from '../../created.ts';
import { MOST_READ, ReadBudget } from '../../email/read-budget.ts';
import { blobRef } from '../../ids.ts';
import type { Method } from '../../method.ts';
import { tooMany } from '../../standard-get.ts';

/** Octets that one call may read for digests and sizes alone: one of the largest uploads with one digest fits. */
const MOST_HASHED = 64 * 1024 * 1024;

/** Blob/get: data, digests and sizes of blobs. It has no state, as no blob changes. RFC 9404 4.2. */
export const blobGet: Method = {
  name: 'Blob/get',
  capability: BLOB,
  async run(call, args) {
    const read = object({
      accountId: access(call),
      ids: list(idOrCreation),
      properties: nullable(list(text)),
      offset: nullable(unsigned),
      length: nullable(unsigned),
    })(args, '');
    const { account } = read.accountId;
    const unknown = read.properties?.find((name) => !isBlobProperty(name));
    if (unknown !== undefined) throw wrong('properties', `must not have "${unknown.slice(0, 100)}"`);
    const properties = new Set(read.properties ?? ['data', 'size']);
    const ids = [...new Set(read.ids.map((one) => realId(call, one) ?? one))];
    if (ids.length > call.desk.limits.maxObjectsInGet) throw tooMany(call);
    const wantsData = [...properties].some((name) => name.startsWith('data'));
    const budget = new ReadBudget(wantsData ? MOST_READ : MOST_HASHED);
    const range = { offset: read.offset ?? 0, length: read.length };
    const found: Record<string, unknown>[] = [];
    const notFound: string[] = [];
    for (const id of ids) {
      const ref = blobRef(account, id);
      const blob = ref && (await openShown(call, account, ref, budget));
      if (blob === undefined) notFound.push(id);
      else found.push(await shownBlob(id, blob, properties, range, budget));
      await turn();
    }
    return { accountId: args['accountId'], list: found, notFound };
  },
};
