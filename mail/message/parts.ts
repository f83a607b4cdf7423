/**
 * One part of a message as it is stored: enough to answer BODY[...], BINARY[...] and a JMAP body structure from byte
 * ranges alone. Offsets count from the first octet of the indexed message.
 */
export interface Part {
  /**
   * Section path of RFC 3501 6.4.5. A root that is no multipart is '1', one that is is ''; in a message attached at
   * '2' the same are '2.1' and '2.'.
   */
  path: string;
  /** Lower case. A multipart without parts and what could not be opened are leaves and typed as such. */
  type: string;
  subtype: string;
  /** As declared, lower case; '' when not. */
  charset: string;
  /** Content-Transfer-Encoding in lower case, '7bit' when missing. */
  encoding: string;
  headerOffset: number;
  /** Where the header with its empty line ends. */
  bodyOffset: number;
  bodyLength: number;
  /** Octets of the body without its transfer encoding. */
  decodedLength: number;
  /** Line feeds in the body. */
  lines: number;
  /** 'attachment', 'inline', another word in lower case, or ''. */
  disposition: string;
  /** Decoded, '' when missing; with whatever path characters the sender put in. */
  filename: string;
  /** Content-ID without angle brackets. */
  contentId: string;
}

type Row = [string, string, string, string, string, number, number, number, number, string, string, string, number?];

/**
 * The JSON that is stored: one array a part in pre-order, columns in the order of {@link Part}, but for the decoded
 * length: it came last, and is left out where it is the length of the body.
 */
export function packParts(parts: readonly Part[]): string {
  return JSON.stringify(parts.map(toRow));
}

function toRow(part: Part): Row {
  return [
    part.path,
    part.type,
    part.subtype,
    part.charset,
    part.encoding,
    part.headerOffset,
    part.bodyOffset,
    part.bodyLength,
    part.lines,
    part.disposition,
    part.filename,
    part.contentId,
    ...(part.decodedLength === part.bodyLength ? ([] as const) : ([part.decodedLength] as const)),
  ];
}

/** Whether the whole message is of this type, without reading all of its parts. */
export function isWholly(json: string, type: string, subtype: string): boolean {
  return json.startsWith(`${JSON.stringify([['', type, subtype]]).slice(0, -2)},`);
}

/** Reads what {@link packParts} wrote. */
export function unpackParts(json: string): Part[] {
  return (JSON.parse(json) as Row[]).map((row) => {
    const [path, type, subtype, charset, encoding, headerOffset, bodyOffset, bodyLength, lines, disposition, ...rest] =
      row;
    const [filename, contentId, decodedLength] = rest;
    return {
      path,
      type,
      subtype,
      charset,
      encoding,
      headerOffset,
      bodyOffset,
      bodyLength,
      decodedLength: decodedLength ?? uncounted(encoding, bodyLength, lines),
      lines,
      disposition,
      filename,
      contentId,
    };
  });
}

/** Rows of before lengths were counted: exact without an encoding, else within two octets of well-formed base64. */
function uncounted(encoding: string, bodyLength: number, lines: number): number {
  return encoding === 'base64' ? Math.max(0, Math.floor(((bodyLength - 2 * lines) * 3) / 4)) : bodyLength;
}
