import { setImmediate as turn } from 'node:timers/promises';
import { readAccess } from '../../access.ts';
import { idOrCreation, list, nullable, object, text } from '../../arguments.ts';
import { openShown } from '../../blobs.ts';
import { MAIL } from '../../capabilities.ts';
import { realId } from '../../created.ts';
import { readContent } from '../../email/content.ts';
import { parsedSource } from '../../email/parsed-source.ts';
import { ReadBudget } from '../../email/read-budget.ts';
import {
  checkProperties,
  DEFAULT_CONTENT,
  METADATA,
  readWanted,
  type Wanted,
  WANTED_ARGUMENTS,
} from '../../email/wanted.ts';
import { blobRef } from '../../ids.ts';
import type { Call, Method } from '../../method.ts';
import { pick, tooMany } from '../../standard-get.ts';

/** Octets of all blobs that one call parses, and of what is then read of them. */
const MOST_PARSED = 64 * 1024 * 1024;

const NO_METADATA = Object.fromEntries(METADATA.map((name) => [name, null]));

/** Email/parse. RFC 8621 4.9. */
export const emailParse: Method = {
  name: 'Email/parse',
  capability: MAIL,
  async run(call, args) {
    const shape = { accountId: text, blobIds: list(idOrCreation), properties: nullable(list(text)) };
    const asked = object({ ...shape, ...WANTED_ARGUMENTS })(args, '');
    const { account } = readAccess(call, asked.accountId);
    const properties = new Set(asked.properties ?? DEFAULT_CONTENT);
    checkProperties(properties);
    const wanted = readWanted([...properties], asked);
    const blobIds = [...new Set(asked.blobIds.map((one) => realId(call, one) ?? one))];
    if (blobIds.length > call.desk.limits.maxObjectsInGet) throw tooMany(call);
    const budget = new ReadBudget(MOST_PARSED);
    const parsed = new Map<string, Record<string, unknown>>();
    const failed: Record<'notParsable' | 'notFound', string[]> = { notParsable: [], notFound: [] };
    for (const id of blobIds) {
      const found = await parse(call, account, id, wanted, budget);
      if (typeof found === 'string') failed[found].push(id);
      else parsed.set(id, found);
      await turn();
    }
    return {
      accountId: asked.accountId,
      parsed: parsed.size === 0 ? null : Object.fromEntries(parsed),
      notParsable: orNull(failed.notParsable),
      notFound: orNull(failed.notFound),
    };
  },
};

async function parse(
  call: Call,
  account: number,
  id: string,
  wanted: Wanted,
  budget: ReadBudget,
): Promise<Record<string, unknown> | 'notParsable' | 'notFound'> {
  const ref = blobRef(account, id);
  const blob = ref && (await openShown(call, account, ref, budget));
  if (ref === undefined || blob === undefined) return 'notFound';
  const source = await parsedSource(call, account, ref, blob, budget);
  if (source === undefined) return 'notParsable';
  const known = { ...NO_METADATA, blobId: id, size: blob.size };
  return { ...pick(known, new Set(wanted.properties)), ...(await readContent(source, wanted, budget)) };
}

const orNull = (ids: string[]): string[] | null => (ids.length === 0 ? null : ids);
