import type { UploadWords } from './upload-words.ts';

const HEAD_OCTETS = 4_096;
/** As the server recognizes files of mail (mail/transfer/file-source.ts). */
const FIELDS = /^(?:Return-Path|Received|Delivered-To|From|Date|Message-ID|Subject|To|MIME-Version):/im;

/** Why a file cannot be imported, and what to do; undefined: it looks like mail. Spares people an upload in vain. */
export async function mailFileProblem(file: File, words: UploadWords): Promise<string | undefined> {
  if (file.size === 0) return words.empty(file.name);
  const octets = await headOf(file);
  if (octets === undefined) return words.unreadable(file.name);
  if (octets[0] === 0x1f && octets[1] === 0x8b) return words.compressed(file.name);
  const head = new TextDecoder('latin1').decode(octets);
  const isZip = /^PK(?:\x03\x04|\x05\x06)/.test(head);
  if (isZip || /^\s*From /.test(head) || FIELDS.test(head.split(/\r?\n\r?\n/, 1)[0] ?? '')) return undefined;
  return words.noMail(file.name);
}

async function headOf(file: File): Promise<Uint8Array | undefined> {
  const octets = await file
    .slice(0, HEAD_OCTETS)
    .arrayBuffer()
    .catch(() => undefined);
  return octets && new Uint8Array(octets);
}
