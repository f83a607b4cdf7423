const [TAB, LF, CR, BLANK, DOT, EQUALS, LETTER_F] = [9, 10, 13, 32, 46, 61, 70];
const HEX = Buffer.from('0123456789ABCDEF');

/** Octets that are written as they are, unless they end a line. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, octet) =>
  Number(octet === TAB || (octet >= BLANK && octet < 127 && octet !== EQUALS)),
);

/** Encodes text with CRLF line ends as quoted-printable, lines of at most 76 characters. RFC 2045 6.7. */
export function encodeQuotedPrintable(bytes: Uint8Array): string {
  const out = Buffer.allocUnsafe(3 * bytes.length + 3 * Math.ceil(bytes.length / 24));
  let [size, column] = [0, 0];
  for (let i = 0; i < bytes.length; i++) {
    const octet = bytes[i] ?? 0;
    if (octet === CR && bytes[i + 1] === LF) {
      [out[size++], out[size++], column] = [CR, LF, 0];
      i++;
      continue;
    }
    const isLast = i + 1 === bytes.length || (bytes[i + 1] === CR && bytes[i + 2] === LF);
    const isPlain = IS_PLAIN[octet] === 1 && !(isLast && (octet === BLANK || octet === TAB));
    // Reserves one column for the "=" of a soft line break.
    if (column + (isPlain ? 1 : 3) > (isLast ? 76 : 75)) {
      [out[size++], out[size++], out[size++], column] = [EQUALS, CR, LF, 0];
    }
    // mbox readers (RFC 4155) and old relays alter lines that begin with "From " or a dot.
    const isRisky = column === 0 && (octet === DOT || octet === LETTER_F);
    const from = size;
    if (isPlain && !isRisky) out[size++] = octet;
    else [out[size++], out[size++], out[size++]] = [EQUALS, HEX[octet >> 4] ?? 0, HEX[octet & 15] ?? 0];
    column += size - from;
  }
  return out.toString('latin1', 0, size);
}
