/** A header field of a block that was read as latin1: one character is one octet. */
export interface Field {
  /** Lower case, without blanks before the colon (RFC 5322 4.5). '' for a malformed line. */
  name: string;
  /** Value after the colon, with folds, without the last line end. */
  value: string;
  /** Offsets of this field and of the next one. */
  start: number;
  end: number;
}

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const COLON = 58;
const DEL = 127;

/** Parses a header block up to its empty line or its end. Malformed lines have an empty name. */
export function readFields(header: string, max = Infinity): Field[] {
  const fields: Field[] = [];
  for (let start = 0; start < header.length && fields.length < max;) {
    if (header[start] === '\n' || header.startsWith('\r\n', start)) break;
    const end = fieldEnd(header, start);
    const name = nameEnd(header, start, end);
    const colon = name === start ? -1 : colonAfter(header, name);
    if (colon < 0) fields.push({ name: '', value: '', start, end });
    else {
      const value = header.slice(colon + 1, valueEnd(header, end));
      fields.push({ name: header.slice(start, name).toLowerCase(), value, start, end });
    }
    start = end;
  }
  return fields;
}

/** Returns the offset after the name of a field: RFC 5322 3.6.8, and octets over 127. */
function nameEnd(header: string, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    const octet = header.charCodeAt(at);
    if (octet <= SPACE || octet === COLON || octet === DEL) return at;
  }
  return end;
}

/**
 * Returns the offset of the colon after a name and blanks, else -1. Anything else forbids "From joe Sat Nov 21 10:00", a
 * line of mbox.
 */
function colonAfter(header: string, name: number): number {
  let at = name;
  while (header.charCodeAt(at) === SPACE || header.charCodeAt(at) === TAB) at++;
  return header.charCodeAt(at) === COLON ? at : -1;
}

/** Returns the offset before the line end of a field. */
function valueEnd(header: string, end: number): number {
  if (header.charCodeAt(end - 1) !== LF) return end;
  return header.charCodeAt(end - 2) === CR ? end - 2 : end - 1;
}

/** Returns the offset after a field and the lines that continue it. */
function fieldEnd(header: string, start: number): number {
  for (let end = start; ;) {
    end = header.indexOf('\n', end) + 1;
    if (end === 0) return header.length;
    if (header[end] !== ' ' && header[end] !== '\t') return end;
  }
}

/** Unfolds and trims a value. RFC 5322 2.2.3. */
export function unfold(value: string): string {
  return value.includes('\n') ? value.replace(/\r?\n/g, '').trim() : value.trim();
}

/** Returns the first field of a lower-case name; repeated fields are ignored everywhere. */
export function firstField(fields: readonly Field[], name: string): string | undefined {
  for (const field of fields) if (field.name === name) return field.value;
  return undefined;
}

/**
 * Selects the fields for FETCH HEADER.FIELDS and HEADER.FIELDS.NOT, unchanged and in order, plus an empty line. Names are
 * case-insensitive. RFC 3501 6.4.5.
 */
export function selectHeaderFields(header: Uint8Array, names: readonly string[], not = false): Buffer {
  const bytes = Buffer.from(header.buffer, header.byteOffset, header.byteLength);
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  const chosen: Uint8Array[] = [];
  for (const { name, start, end } of readFields(bytes.toString('latin1'))) {
    const listed = name !== '' && wanted.has(name);
    if (listed !== not) chosen.push(bytes.subarray(start, end));
  }
  const last = chosen.at(-1);
  // A header without a final line end would merge with the empty line.
  if (last !== undefined && last.at(-1) !== 10) chosen.push(CRLF);
  return Buffer.concat([...chosen, CRLF]);
}

const CRLF = Buffer.from('\r\n');
