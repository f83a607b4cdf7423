const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes base64 by RFC 4648 4, or answers undefined: no white space, full padding, nothing behind it. */
export function decodeBase64(text: string): Buffer | undefined {
  return text.length % 4 === 0 && BASE64.test(text) ? Buffer.from(text, 'base64') : undefined;
}
