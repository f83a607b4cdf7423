/** A header field as it stands in a header block that was read as latin1: one character is one octet. */
export interface Field {
  /** Lower case, without the blanks that RFC 5322 4.5 allows before the colon. '' for a line that is no field. */
  name: string;
  /** All after the colon, folds included, without the last line end. */
  value: string;
  /** Where the field begins, and where the next one does. */
  start: number;
  end: number;
}

/** Reads a header block up to its empty line or its end. Lines that are no field come out with an empty name. */
export function readFields(header: string, max = Infinity): Field[] {
  const fields: Field[] = [];
  let colon = -1;
  for (let start = 0; start < header.length && fields.length < max && !isLineEnd(header, start);) {
    const end = fieldEnd(header, start);
    // Looked for once: a header of lines that are no fields would be read to its end for each of them.
    if (colon < start) colon = colonFrom(header, start);
    const name = colon >= end ? '' : fieldName(header.slice(start, colon));
    const value = name === '' ? '' : header.slice(colon + 1, valueEnd(header, end));
    fields.push({ name, value, start, end });
    start = end;
  }
  return fields;
}

/** The next colon, or a place behind the end. */
function colonFrom(header: string, start: number): number {
  const at = header.indexOf(':', start);
  return at < 0 ? Infinity : at;
}

function isLineEnd(text: string, at: number): boolean {
  const char = text.charCodeAt(at);
  return char === 10 || (char === 13 && text.charCodeAt(at + 1) === 10);
}

function fieldEnd(header: string, start: number): number {
  let end = start;
  do {
    const newline = header.indexOf('\n', end);
    if (newline < 0) return header.length;
    end = newline + 1;
  } while (isBlank(header.charCodeAt(end)));
  return end;
}

function valueEnd(header: string, end: number): number {
  if (header.charCodeAt(end - 1) !== 10) return end;
  return header.charCodeAt(end - 2) === 13 ? end - 2 : end - 1;
}

function fieldName(text: string): string {
  let end = text.length;
  while (end > 0 && isBlank(text.charCodeAt(end - 1))) end--;
  // An mbox line, "From joe Sat Nov 21 10:00", has a colon too but no name before it.
  for (let i = 0; i < end; i++) {
    const char = text.charCodeAt(i);
    if (char <= 32 || char === 127) return '';
  }
  return text.slice(0, end).toLowerCase();
}

function isBlank(char: number): boolean {
  return char === 32 || char === 9;
}

/** A value on one line: line ends before folding blanks go, blanks around it too. RFC 5322 2.2.3. */
export function unfold(value: string): string {
  return value.includes('\n') ? value.replace(/\r?\n/g, '').trim() : value.trim();
}

/** The first field of that lower-case name: where a field that may stand once stands twice, the first counts everywhere. */
export function firstField(fields: readonly Field[], name: string): string | undefined {
  for (const field of fields) if (field.name === name) return field.value;
  return undefined;
}

/**
 * What FETCH HEADER.FIELDS and HEADER.FIELDS.NOT answer: the fields named, as they stand and in their order, and an
 * empty line. Names are compared without case. RFC 3501 6.4.5.
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
  // A header that ends without a line end would run into the empty line.
  if (last !== undefined && last.at(-1) !== 10) chosen.push(CRLF);
  return Buffer.concat([...chosen, CRLF]);
}

const CRLF = Buffer.from('\r\n');
