import { setImmediate as turn } from 'node:timers/promises';
import { allEmailIds, type EmailRow, emailRows } from '../../../store/email-rows.ts';
import { MAIL } from '../../capabilities.ts';
import { readContent } from '../../email/content.ts';
import { addFurther, furtherOf } from '../../email/further-property.ts';
import { metadata } from '../../email/metadata.ts';
import { ReadBudget, tooMuch } from '../../email/read-budget.ts';
import { storedSource } from '../../email/stored-source.ts';
import {
  DEFAULT_CONTENT,
  isEmailProperty,
  METADATA,
  needsOf,
  readWanted,
  WANTED_ARGUMENTS,
} from '../../email/wanted.ts';
import { jmapRow } from '../../ids.ts';
import type { Call, Method } from '../../method.ts';
import { answerGet, type Get, readGet, tooMany } from '../../standard-get.ts';
import { formatState } from '../../state.ts';
import { asksPerson } from '../../veil.ts';

/** Email/get. RFC 8621 4.2. */
export const emailGet: Method = {
  name: 'Email/get',
  capability: MAIL,
  async run(call, args) {
    const further = furtherOf(call);
    const known = (property: string): boolean =>
      further.some(({ name }) => name === property) || isEmailProperty(property);
    const get = readGet(call, args, known, WANTED_ARGUMENTS);
    const properties = get.properties ?? new Set([...METADATA, ...DEFAULT_CONTENT]);
    const wanted = readWanted([...properties], get);
    const needs = needsOf(wanted);
    const { account } = get.access;
    const ids = await askedRows(call, get);
    const found = await call.desk.store.read(emailRows, { account, ids, ...needs });
    if (found === undefined) throw tooMuch();
    if (showsText(wanted.properties)) await call.session.shown?.(account, rowIds(found.rows));
    const { text, html, all } = wanted.values;
    if (text || html || all) await call.session.opened?.(account, rowIds(found.rows), 'text');
    const isPerson = found.rows.every(({ veiledFrom }) => veiledFrom === null) || (await asksPerson(call, account));
    const budget = new ReadBudget();
    const list: (Record<string, unknown> & { id: string })[] = [];
    for (const row of found.rows) {
      const content = await readContent(storedSource(call.desk, row, isPerson), wanted, budget);
      list.push({ ...metadata(row, found.slots, properties), ...content });
      // Decoding is work on the thread that everybody shares.
      if (needs.header || needs.structure) await turn();
    }
    await addFurther(call, account, rowIds(found.rows), list, asked(further, properties));
    return answerGet(get, formatState(found.state), list);
  },
};

/** What this box says of a message itself; anything else is a stranger's text, or a part of it. */
const OWN_WORDS = new Set([
  'id',
  'blobId',
  'threadId',
  'mailboxIds',
  'keywords',
  'size',
  'receivedAt',
  'hasAttachment',
]);

function showsText(properties: Iterable<string>): boolean {
  return [...properties].some((property) => !OWN_WORDS.has(property));
}

async function askedRows(call: Call, { access, ids }: Get): Promise<number[]> {
  if (ids !== null) return ids.flatMap((id) => jmapRow('email', access.account, id) ?? []);
  const most = call.desk.limits.maxObjectsInGet;
  const all = await call.desk.store.read(allEmailIds, { account: access.account, most });
  if (all === undefined) throw tooMany(call);
  return all;
}

const rowIds = (rows: readonly EmailRow[]): number[] => rows.map(({ id }) => id);

function asked<T extends { name: string }>(further: readonly T[], properties: ReadonlySet<string>): T[] {
  return further.filter(({ name }) => properties.has(name));
}
