import { describe, expect, test } from 'vitest';
import { bodyLists, bodyTree, flatParts } from '../../../../mail/jmap/email/body-part.ts';
import { readContent } from '../../../../mail/jmap/email/message-content.ts';
import type { MessageSource } from '../../../../mail/jmap/email/message-source.ts';
import { ReadBudget } from '../../../../mail/jmap/email/header-values.ts';
import { type EmailSelection, readEmailSelection } from '../../../../mail/jmap/email/email-selection.ts';
import { indexMessage } from '../../../../mail/message/indexer.ts';
import { BOMBS, corpus } from '../../../support/corpus.ts';
import { getOne, storeTestMessage } from '../../../support/jmap-message.ts';
import { createJmapFixture } from '../../../support/jmap-fixture.ts';

/** Properties that need no reading of the message, each with the header property that has the same value. */
const TWICE = {
  messageId: 'header:Message-ID:asMessageIds',
  inReplyTo: 'header:In-Reply-To:asMessageIds',
  from: 'header:From:asAddresses',
  to: 'header:To:asAddresses',
  cc: 'header:Cc:asAddresses',
  bcc: 'header:Bcc:asAddresses',
  subject: 'header:Subject:asText',
  sentAt: 'header:Date:asDate',
} as const;

const CONTENT = [
  ...Object.entries(TWICE).flat(),
  ...'references sender replyTo headers hasAttachment preview bodyStructure bodyValues textBody htmlBody'.split(' '),
  ...'attachments header:Subject:asText:all header:X-Anything:asAddresses header:Received:all'.split(' '),
];

const BODY_PROPERTIES = ['partId', 'type', 'size', 'name', 'charset', 'headers', 'header:Content-Type'];

const WANTED: EmailSelection = readEmailSelection(CONTENT, {
  bodyProperties: BODY_PROPERTIES,
  fetchTextBodyValues: false,
  fetchHTMLBodyValues: false,
  fetchAllBodyValues: true,
  maxBodyValueBytes: 0,
});

function inMemory(bytes: Buffer): MessageSource {
  return {
    ...indexMessage(bytes),
    trace: '',
    read: (start, length) => Promise.resolve(bytes.subarray(start, start + length)),
    partBlobId: (path) => path,
  };
}

/** Checks the rules that hold for every message. */
async function check(bytes: Buffer, why: string): Promise<void> {
  const source = inMemory(bytes);
  const found = await readContent(source, WANTED, new ReadBudget());
  for (const property of CONTENT) expect(found, `${why}: ${property}`).toHaveProperty([property]);
  // A lone surrogate is written as an escape.
  expect(JSON.stringify(found), why).not.toMatch(/\\ud[89a-f]/i);
  const tree = bodyTree(source);
  const leaves = flatParts(tree).filter(({ subParts }) => subParts === null);
  const listed = Object.values(bodyLists(tree)).flat();
  expect(new Set(listed.map(({ part }) => part.path)), why).toEqual(new Set(leaves.map(({ part }) => part.path)));
  const texts = leaves.filter(({ part }) => part.type === 'text').map(({ part }) => part.path);
  expect(Object.keys(found['bodyValues'] as object).sort(), why).toEqual(texts.sort());
}

/** Changes octets, or takes a piece away, or puts one in a second time. */
function mutated(bytes: Buffer, next: () => number): Buffer {
  const at = Math.floor(next() * bytes.length);
  const end = at + Math.floor(next() * 60);
  switch (Math.floor(next() * 4)) {
    case 0:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
    case 1:
      return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]);
    case 2:
      return bytes.subarray(0, at);
    default: {
      const changed = Buffer.from(bytes);
      for (let i = 0; i < 4; i++) changed[Math.floor(next() * bytes.length)] = Math.floor(next() * 256);
      return changed;
    }
  }
}

describe('messages of every kind', () => {
  test('each is read, and its flat bodies have every leaf', async () => {
    for (const { name, bytes } of corpus()) await check(bytes, name);
    for (const { name, make } of BOMBS) await check(make(), name);
  });

  test('spoiled ones too', async () => {
    let seed = 11;
    const next = (): number => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
    for (const { name, bytes } of corpus()) {
      for (let round = 0; round < 6; round++) await check(mutated(bytes, next), `${name}, round ${round}, ${seed}`);
    }
  });

  test('what was written down of a header is what the header says', async () => {
    for (const { name, bytes } of corpus()) {
      const source = inMemory(bytes);
      if (indexMessage(bytes).flattened) continue;
      const found = await readContent(source, WANTED, new ReadBudget());
      const fields = (found['headers'] as { name: string }[]).map((field) => field.name.toLowerCase());
      for (const [property, header] of Object.entries(TWICE)) {
        const field = header.split(':')[1]?.toLowerCase();
        if (fields.filter((one) => one === field).length > 1) continue;
        // ENVELOPE has one word for a list that is empty and one that is missing.
        expect(found[property] ?? [], `${name}: ${property}`).toEqual(found[header] ?? []);
      }
    }
  });

  test('through the store as well', async () => {
    await using world = await createJmapFixture();
    for (const { name, bytes } of corpus().filter((_sample, i) => i % 5 === 0)) {
      const id = await storeTestMessage(world, bytes);
      const args = { properties: CONTENT, bodyProperties: BODY_PROPERTIES, fetchAllBodyValues: true };
      const content = await readContent(inMemory(bytes), WANTED, new ReadBudget());
      expect(await getOne(world, id, args), name).toEqual({
        id,
        ...Object.fromEntries(CONTENT.map((property) => [property, content[property]])),
      });
    }
  });
});
