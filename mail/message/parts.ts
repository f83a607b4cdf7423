/**
 * One stored part of a message: enough for BODY[...], BINARY[...] and the JMAP body structure from byte ranges alone.
 * Offsets count from the first octet of the indexed message.
 */
export interface Part {
  /**
   * Section path of RFC 3501 6.4.5. A leaf root is '1', a multipart root ''; in a message attached at '2' they are '2.1'
   * and '2.'.
   */
  path: string;
  /** Lower case. A multipart without parts, or one that could not be parsed, is typed as a leaf. */
  type: string;
  subtype: string;
  /** As declared, lower case; '' if missing. */
  charset: string;
  /** Content-Transfer-Encoding in lower case, '7bit' when missing. */
  encoding: string;
  headerOffset: number;
  /** Offset after the header and its empty line. */
  bodyOffset: number;
  bodyLength: number;
  /** Octets of the body without its transfer encoding. */
  decodedLength: number;
  /** `decodedLength` was not counted when the message was indexed: it may differ by two octets. */
  isEstimated?: true;
  /** Line feeds in the body. */
  lines: number;
  /** 'attachment', 'inline', another word in lower case, or ''. */
  disposition: string;
  /** Decoded, '' if missing; may contain path characters. */
  filename: string;
  /** Content-ID without angle brackets. */
  contentId: string;
}

type Row = [string, string, string, string, string, number, number, number, number, string, string, string, number?];

/**
 * Serializes to the stored JSON: one array a part in pre-order, columns in the order of {@link Part}; decodedLength comes
 * last and is omitted if it equals bodyLength.
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

/** Checks the type of the root part without parsing the whole table. */
export function isWholly(json: string, type: string, subtype: string): boolean {
  return json.startsWith(`${JSON.stringify([['', type, subtype]]).slice(0, -2)},`);
}

/** Parses the output of {@link packParts}. */
export function unpackParts(json: string): Part[] {
  return (JSON.parse(json) as Row[]).map(toPart);
}

function toPart(row: Row): Part {
  const [encoding, bodyLength, lines, counted] = [row[4], row[7], row[8], row[12]];
  const part: Part = {
    path: row[0],
    type: row[1],
    subtype: row[2],
    charset: row[3],
    encoding,
    headerOffset: row[5],
    bodyOffset: row[6],
    bodyLength,
    decodedLength: counted ?? (encoding === 'base64' ? uncounted(bodyLength, lines) : bodyLength),
    lines,
    disposition: row[9],
    filename: row[10],
    contentId: row[11],
  };
  if (counted === undefined && encoding === 'base64') part.isEstimated = true;
  return part;
}

/** Decoded length of base64 in old rows without one: within two octets if well-formed. */
function uncounted(bodyLength: number, lines: number): number {
  return Math.max(0, Math.floor(((bodyLength - 2 * lines) * 3) / 4));
}
