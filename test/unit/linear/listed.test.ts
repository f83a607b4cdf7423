import { expect, test } from 'vitest';
import { COSTS } from '../../support/costs/index.ts';
import { textFunctions } from '../../support/costs/text-functions.ts';

/** Functions that take a text of ours, count or write, or that only a listed function calls. */
const OTHERS: Readonly<Record<string, string>> = {
  'mail/message': `formatTypeName encodeText oneLine formatField decodeBase64 decodeQuotedPrintable isKnownCharset isPlaceholderCharset isSevenBit
    mailerDaemon withoutHighlights summarize hashId plainTextHeader isWholly unpackParts partText partBytes tagMac imapNstring`,
  'mail/smtp': 'fault',
  'mail/auth': `sealArc isChainStatus resultsText readDkimKey signatureFailure signHeaders signData fold checkSignature
    possibleSigner evaluateSignature verifySignature trustedSealer vouchingSealer findPublishedPolicy prefetchAlignment
    reverseNames iprevOf`,
  'mail/dns': 'findPublicResolver lookUpDs',
  'mail/imap/search': 'searchSelected threadSelected watched bytesOf',
  'mail/policy/style': 'declare',
  'mail/policy/words': 'wordHash countWord',
  'mail/agents/secrets': 'printableIn secretsInWords',
  'mail/agents/secrets/files': 'isDeflated',
  'mail/transfer': 'openRandom maildirInfo withLfEnds checkDiskSpace createDraft removeDraft finishDraft',
  'mail/transfer/imap': 'proveFolder omittedFolders',
  'mail/imap/wire': 'nstring statusLine untagged isMessageLiteral',
};

test.each(Object.entries(OTHERS))(
  'every function of %s that takes a text has a row, or is known to need none',
  (at, list) => {
    const listed = new Set(COSTS.filter((row) => row.at === at).map(({ name }) => name));
    const others = list.split(/\s+/);
    const all = textFunctions(at);
    expect(all.filter((name) => !listed.has(name) && !others.includes(name))).toEqual([]);
    expect(others.filter((name) => !all.includes(name) || listed.has(name))).toEqual([]);
  },
);
