import { decodeCharset, decodeTransfer } from '../../mail/message/decode.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { unpackParts } from '../../mail/message/parts.ts';

/** Texts and files of a mail as its recipient has them. */
export interface ReceivedContent {
  text: string;
  files: Buffer[];
}

/** Decodes a mail as it came over SMTP, with its dots doubled and the last line. */
export function contentOf(raw: Buffer): ReceivedContent {
  const octets = Buffer.from(
    raw
      .toString('latin1')
      .replace(/^\.\r\n$(?![^])/m, '')
      .replace(/^\.\./gm, '.'),
    'latin1',
  );
  const content: ReceivedContent = { text: '', files: [] };
  for (const { type, subtype, filename, charset, encoding, bodyOffset, bodyLength } of unpackParts(
    indexMessage(octets).parts,
  )) {
    if (type === 'multipart') continue;
    const data = decodeTransfer(octets.subarray(bodyOffset, bodyOffset + bodyLength), encoding);
    if (filename !== '') content.files.push(data);
    else if (subtype === 'plain') content.text += decodeCharset(data, charset);
  }
  return content;
}
