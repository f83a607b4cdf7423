/** A media type as it may stand in a header; undefined: none. Never sniffed. */
export function mediaType(text: string): string | undefined {
  return /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(?:[\t ]*;[\t\x20-\x7e]{0,200})?$/.test(text) ? text : undefined;
}
