const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes strict base64 (RFC 4648 4): no white space, full padding. Undefined when malformed. */
export function decodeStrictBase64(text: string): Buffer | undefined {
  return text.length % 4 === 0 && BASE64.test(text) ? Buffer.from(text, 'base64') : undefined;
}
