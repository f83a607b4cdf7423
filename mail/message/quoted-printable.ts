/** Encodes text with CRLF line ends as quoted-printable, lines of at most 76 characters. RFC 2045 6.7. */
export function encodeQuotedPrintable(bytes: Uint8Array): string {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').split('\r\n');
  return lines.map(encodeLine).join('\r\n');
}

function encodeLine(line: string): string {
  let out = '';
  let column = 0;
  for (let i = 0; i < line.length; i++) {
    const last = i === line.length - 1;
    const unit = encodeOctet(line.charCodeAt(i), last);
    // One column is kept for the "=" of a soft line end.
    if (column + unit.length > (last ? 76 : 75)) {
      out += '=\r\n';
      column = 0;
    }
    // RFC 4155 readers and old relays change lines that begin with "From " or a dot.
    const risky = column === 0 && (unit === '.' || unit === 'F');
    out += risky ? hexOctet(line.charCodeAt(i)) : unit;
    column += risky ? 3 : unit.length;
  }
  return out;
}

function encodeOctet(octet: number, last: boolean): string {
  const blank = octet === 32 || octet === 9;
  const plain = blank ? !last : octet > 32 && octet < 127 && octet !== 61;
  return plain ? String.fromCharCode(octet) : hexOctet(octet);
}

function hexOctet(octet: number): string {
  return `=${octet.toString(16).toUpperCase().padStart(2, '0')}`;
}
