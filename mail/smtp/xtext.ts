/** xtext of RFC 3461 4: printable ASCII without `+` and `=`; other octets as `+HH` with upper-case digits. */
const XTEXT = /^(?:[\x21-\x2a\x2c-\x3c\x3e-\x7e]|\+[0-9A-F]{2})*$/;

/** Decodes xtext to a string of octets (latin1), or undefined when it is not xtext. */
export function decodeXtext(text: string): string | undefined {
  if (!XTEXT.test(text)) return undefined;
  return text.includes('+')
    ? text.replace(/\+(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;
}

/** Encodes text to xtext; characters outside ASCII are encoded by their UTF-8 octets. */
export function encodeXtext(text: string): string {
  let out = '';
  for (const octet of Buffer.from(text)) {
    const plain = octet > 0x20 && octet < 0x7f && octet !== 0x2b && octet !== 0x3d;
    out += plain ? String.fromCharCode(octet) : `+${octet.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return out;
}
