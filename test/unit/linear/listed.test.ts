import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PARSERS } from '../../support/parsers.ts';

/** Functions that write, query or count, and functions that a listed parser calls. */
const OTHERS = {
  message: [
    'addressKey DecodedLength EncodedLinkReader isPreviewed mayHoldNotice MessageIndexer PartTree TextCapture base64Lines composeDeliveryReport composeTextMessage',
    'composeMdn mailerDaemon encodeText encodeWords field firstField formatAddress',
    'formatBodyStructure formatDate formatMailbox formatNamed formatParameter formatPhrase formatTypeName hasAttachment',
    'hashId headerSize isKnownCharset isOpenMessage isSevenBit isWholly messageHeader needsUtf8 nstring oneLine packParts',
    'readableText readReplyTo partBytes partTable partText plainTextHeader recipientField reportAddress section sortKey composeSuccessReport summarize tagMac',
    'withoutHighlights unpackParts requireIndex withoutDetail lookupKeys decodeQuotedPrintable',
  ],
  smtp: ['BdatReader DotStuffer encodeXtext fault formatReply isFault reply'],
  'imap/wire': [
    'ImapSyntaxError InputBuffer continuation fetchFlags flagList flagSet internalDate isMessageLiteral lowerBound mailbox',
    'nstring pick resolveSeqs resolveUids seqIndexes statusLine string uidIndexes uidSet untagged',
  ],
} as const;

const listed = new Set(PARSERS.map(({ name }) => name.split(' ')[0]));

async function exported(folder: string): Promise<string[]> {
  const at = join(import.meta.dirname, '../../../mail', folder);
  const files = readdirSync(at).filter((name) => name.endsWith('.ts'));
  const modules = await Promise.all(files.map((name) => import(join(at, name)) as Promise<Record<string, unknown>>));
  return modules.flatMap((module) => Object.keys(module).filter((name) => typeof module[name] === 'function'));
}

test.each(Object.entries(OTHERS))(
  'every function of mail/%s is a parser in the table, or known to be none',
  async (folder, lists) => {
    const others = lists.flatMap((list) => list.split(' '));
    const all = await exported(folder);
    expect(all.filter((name) => !listed.has(name) && !others.includes(name))).toEqual([]);
    expect(others.filter((name) => !all.includes(name) || listed.has(name))).toEqual([]);
  },
);

test('no parser is listed twice', () => {
  expect(new Set(PARSERS.map(({ name }) => name)).size).toBe(PARSERS.length);
});
