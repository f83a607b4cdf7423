const HEAD_OCTETS = 4_096;
/** As the server recognizes files of mail (mail/transfer/file-source.ts). */
const FIELDS = /^(?:Return-Path|Received|Delivered-To|From|Date|Message-ID|Subject|To|MIME-Version):/im;

/** Why a file cannot be imported, and what to do; undefined: it looks like mail. Spares people an upload in vain. */
export async function mailFileProblem(file: File): Promise<string | undefined> {
  if (file.size === 0) return `${file.name} is empty. Choose another file.`;
  const octets = await headOf(file);
  if (octets === undefined) return `${file.name} cannot be read. It may have been moved: choose it again.`;
  if (octets[0] === 0x1f && octets[1] === 0x8b)
    return `${file.name} is compressed with gzip. Unpack it, then choose the result.`;
  const head = new TextDecoder('latin1').decode(octets);
  const isZip = /^PK(?:\x03\x04|\x05\x06)/.test(head);
  if (isZip || /^\s*From /.test(head) || FIELDS.test(head.split(/\r?\n\r?\n/, 1)[0] ?? '')) return undefined;
  return `${file.name} is not a file of mail. Choose an mbox or EML file, or a zip file of such files.`;
}

async function headOf(file: File): Promise<Uint8Array | undefined> {
  const octets = await file
    .slice(0, HEAD_OCTETS)
    .arrayBuffer()
    .catch(() => undefined);
  return octets && new Uint8Array(octets);
}
